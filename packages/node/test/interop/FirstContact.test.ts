/**
 * Gateways, bridges and servers of other authors, reached by a client with default options: directly, and through our proxy.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Connector from "@effect-mcp/core/Connector"
import * as Remote from "@effect-mcp/core/Remote"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Client as OfficialClient } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { McpServer as OfficialServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { Chunk, Effect, Schedule, type Scope, Stream } from "effect"
import express from "express"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { createRequire } from "node:module"
import { connect, createServer } from "node:net"
import { dirname, join } from "node:path"
import { bundled, node } from "../Fixture.js"
import { listening } from "../HttpFixture.js"
import { suite, throughProxy } from "./Ways.js"

const require = createRequire(import.meta.url)

const folder = {
  supergateway: dirname(require.resolve("supergateway/package.json")),
  remote: dirname(require.resolve("mcp-remote/package.json")),
  proxy: dirname(require.resolve("mcp-proxy/package.json")),
  playwright: dirname(require.resolve("@playwright/mcp/package.json"))
}

const memory = require.resolve("@modelcontextprotocol/server-memory/dist/index.js")
const everything = require.resolve("@modelcontextprotocol/server-everything/dist/index.js")
const filesystem = require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js")

const freePort = Effect.async<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** Runs a program that listens, until the scope closes; waits until its output matches. */
const listens = (args: ReadonlyArray<string>, ready: RegExp): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.async<ReturnType<typeof spawn>>((resume) => {
      const child = spawn(node, args, { stdio: ["ignore", "pipe", "pipe"] })
      let output = ""
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text
          if (ready.test(output)) resume(Effect.succeed(child))
        })
      }
      child.once("exit", (code) => resume(Effect.dieMessage(`exited with code ${code}: ${output}`)))
    }),
    (child) => Effect.sync(() => child.kill())
  ))

/** Waits until a port of this machine accepts connections: mcp-proxy says that it starts before it listens. */
const accepts = (port: number): Effect.Effect<void> =>
  Effect.retry(
    Effect.async<void, Error>((resume) => {
      const socket = connect(port, "127.0.0.1")
      socket.once("error", (error) => resume(Effect.fail(error)))
      socket.once("connect", () => {
        socket.destroy()
        resume(Effect.void)
      })
    }),
    Schedule.spaced("20 millis")
  ).pipe(Effect.orDie)

const launching = (...args: ReadonlyArray<string>) =>
  StdioClient.connector({ command: node, args, stderr: "ignore", closeTimeouts: { grace: "10 seconds" } })

const http = <R>(connector: Connector.Connector<R>) =>
  Effect.map(HttpClient.HttpClient, (client) =>
    Connector.make(
      connector.name,
      Effect.provideService(connector.connect, HttpClient.HttpClient, client) as Connector.Connector["connect"],
      { origin: connector.origin }
    ))

const remote = (url: string) => Effect.provide(http(Remote.connector(url)), FetchHttpClient.layer)

/** The URL of a gateway to a server on a pipe. */
const gateway = (flags: ReadonlyArray<string>, path: string, server = memory) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const program = join(folder.supergateway, "dist/index.js")
    yield* listens([program, "--stdio", `${node} ${server}`, "--port", String(port), ...flags], /Listening on port/)
    return `http://127.0.0.1:${port}${path}`
  })

/** The URL of mcp-proxy in front of a server on a pipe. */
const mcpProxy = (server: string) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const program = join(folder.proxy, "dist/bin/mcp-proxy.mjs")
    yield* listens([program, "--port", String(port), node, server], /starting server/i)
    yield* accepts(port)
    return `http://127.0.0.1:${port}/mcp`
  })

/** The official server on Express, which answers what belongs to no session with an error of its own when it does not look for it. */
const onExpress = (checksSession: boolean) =>
  Effect.gen(function*() {
    const app = express()
    const transports = new Map<string, StreamableHTTPServerTransport>()
    app.use(express.json())
    app.all("/mcp", (request, response, next) => {
      const id = request.headers["mcp-session-id"]
      const open = typeof id === "string" ? transports.get(id) : undefined
      if (open !== undefined) return void open.handleRequest(request, response, request.body).catch(next)
      if (request.body?.method !== "initialize") {
        if (checksSession) return void response.status(400).json({ error: "No valid session ID provided" })
        return void transports.get(String(id))!.handleRequest(request, response, request.body).catch(next)
      }
      const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void transports.set(id, transport)
      })
      const server = new OfficialServer({ name: "express", version: "1" })
      server.registerTool("greet", {}, () => ({ content: [{ type: "text", text: "hello" }] }))
      server.connect(transport as never).then(() => transport.handleRequest(request, response, request.body)).catch(
        next
      )
    })
    // Without this, the stack of the error would be in the output of the tests.
    app.use(((_error, _request, response, _next) => void response.status(500).end()) as express.ErrorRequestHandler)
    const { origin } = yield* listening(app)
    return yield* remote(`${origin}/mcp`)
  })

const peers: Readonly<Record<string, Effect.Effect<Connector.Connector, unknown, Scope.Scope>>> = {
  "the memory server": Effect.sync(() => launching(memory)),
  "the everything server": Effect.sync(() => launching(everything)),
  "the filesystem server": Effect.sync(() => launching(filesystem, dirname(memory))),
  "Playwright": Effect.sync(() => launching(join(folder.playwright, "cli.js"), "--headless")),
  "supergateway over HTTP": Effect.flatMap(gateway(["--outputTransport", "streamableHttp"], "/mcp"), remote),
  "supergateway over HTTP with sessions": Effect.flatMap(
    gateway(["--outputTransport", "streamableHttp", "--stateful"], "/mcp"),
    remote
  ),
  "supergateway over HTTP+SSE": Effect.flatMap(gateway([], "/sse"), remote),
  "supergateway on a pipe, before HTTP": Effect.map(
    gateway(["--outputTransport", "streamableHttp"], "/mcp"),
    (url) => launching(join(folder.supergateway, "dist/index.js"), "--streamableHttp", url)
  ),
  "supergateway on a pipe, before HTTP with sessions": Effect.map(
    gateway(["--outputTransport", "streamableHttp", "--stateful"], "/mcp"),
    (url) => launching(join(folder.supergateway, "dist/index.js"), "--streamableHttp", url)
  ),
  "mcp-remote": Effect.map(
    gateway(["--outputTransport", "streamableHttp"], "/mcp"),
    (url) => launching(join(folder.remote, "dist/proxy.js"), url)
  ),
  "mcp-proxy": Effect.flatMap(mcpProxy(memory), remote),
  "the official server on Express": onExpress(true),
  "the official server on Express, which does not look for the session": onExpress(false)
}

/** A server of ours behind bridges of other authors. */
const bridges: Readonly<Record<string, (server: string) => Effect.Effect<string, never, Scope.Scope>>> = {
  "supergateway over HTTP": (server) => gateway(["--outputTransport", "streamableHttp"], "/mcp", server),
  "supergateway over HTTP with sessions": (server) =>
    gateway(["--outputTransport", "streamableHttp", "--stateful"], "/mcp", server),
  "supergateway over HTTP+SSE": (server) => gateway([], "/sse", server),
  "mcp-proxy": mcpProxy
}

/** What our server answers. */
const echoes = (client: ClientSessionService) =>
  Effect.gen(function*() {
    const { content } = yield* client.callTool("echo", { text: "hello", times: 2 })
    assert.deepStrictEqual(content, [{ type: "text", text: "hello hello" }])
  })

suite("A client with default options", ({ to }) => {
  for (const [name, reach] of Object.entries(peers)) {
    it.scopedLive(`connects to ${name}, and lists its tools`, () =>
      Effect.gen(function*() {
        const client = yield* Client.make(yield* to(yield* reach, name))
        const tools = yield* Stream.runCollect(client.tools)
        assert.isAbove(Chunk.size(tools), 0)
      }), 120_000)
  }

  for (const [name, bridge] of Object.entries(bridges)) {
    it.scopedLive(`calls a tool of a server of ours behind ${name}`, () =>
      Effect.gen(function*() {
        const connector = yield* remote(yield* bridge(yield* bundled("toolServer.ts")))
        yield* echoes(yield* Client.make(yield* to(connector, name)))
      }), 120_000)
  }
})

describe("A server of ours behind supergateway over HTTP+SSE, which keeps the server running", () => {
  it.scopedLive("serves its clients one after the other, each with a session of its own", () =>
    Effect.gen(function*() {
      const url = yield* gateway([], "/sse", yield* bundled("toolServer.ts"))
      for (const version of ["2024-11-05", "2025-11-25"] as const) {
        yield* Effect.scoped(Effect.gen(function*() {
          const client = yield* Client.make(yield* remote(url), { versions: [version] })
          assert.strictEqual(client.version, version)
          yield* echoes(client)
        }))
        const official = new OfficialClient({ name: "official", version: "1" })
        yield* Effect.promise(() => official.connect(new SSEClientTransport(new URL(url)) as never))
        const { content } = yield* Effect.promise(() =>
          official.callTool({ name: "echo", arguments: { text: "hello", times: 2 } })
        )
        assert.deepStrictEqual(content, [{ type: "text", text: "hello hello" }])
        yield* Effect.promise(() => official.close())
      }
    }), 120_000)
})

describe("A client with default options, through a proxy of both eras", () => {
  for (const name of ["the memory server", "supergateway over HTTP with sessions"]) {
    it.scopedLive(`speaks 2026-07-28, and lists the tools of ${name}`, () =>
      Effect.gen(function*() {
        const client = yield* Client.make(yield* throughProxy(yield* peers[name]!, name))
        assert.strictEqual(client.version, "2026-07-28")
        assert.isAbove(Chunk.size(yield* Stream.runCollect(client.tools)), 0)
        const { content } = yield* client.callTool("read_graph")
        assert.lengthOf(content, 1)
      }), 120_000)
  }
})

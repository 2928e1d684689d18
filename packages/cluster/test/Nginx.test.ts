/**
 * The configuration of nginx that the documentation has, run by nginx: which node gets a request. The nodes are stand-ins, but for the last
 * tests, in which our server and our client talk through it.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Deferred, Effect, Layer, Logger, LogLevel, Redacted, Schema } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:http"
import * as Place from "../src/processes/Place.js"
import * as Nginx from "./Nginx.js"

/** How a stand-in answers a request whose body it has read. */
type Answer = (response: ServerResponse, request: IncomingMessage) => void

interface Node {
  readonly port: number
  /** How many requests it has got. */
  requests: number
  answer: Answer
  /** Ends it: nothing listens at its port. */
  readonly end: Effect.Effect<void>
}

interface Request extends RequestInit {
  readonly query?: string
}

const ok: Answer = (response) => void response.end("ok")

const standIn = Effect.gen(function*() {
  const port = yield* Place.freePort
  const server = createServer((request, response) => {
    node.requests++
    request.resume().on("end", () => node.answer(response, request))
  })
  const end = Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () => end
  )
  const node: Node = { port, requests: 0, answer: ok, end }
  return node
})

/** Three stand-ins behind nginx. `took` gives how many of so many requests each of them has got, and the statuses. */
const behind = (affinity: boolean) =>
  Effect.gen(function*() {
    const nodes = yield* Effect.all([standIn, standIn, standIn])
    const nginx = yield* Nginx.start(nodes.map(({ port }) => port), { affinity })
    const send = ({ query = "", ...options }: Request) =>
      Effect.promise(() => fetch(`${nginx.url}/mcp${query}`, { method: "POST", body: "{}", ...options }))
    const took = (count: number, request: Request = {}, concurrency = 1) =>
      Effect.gen(function*() {
        const before = nodes.map(({ requests }) => requests)
        const statuses = new Set<number>()
        const one = Effect.flatMap(send(request), (response) => {
          statuses.add(response.status)
          return Effect.promise(() => response.text())
        })
        yield* Effect.replicateEffect(one, count, { concurrency })
        return { by: nodes.map(({ requests }, n) => requests - before[n]!), statuses: [...statuses] }
      })
    const [a, b, c] = nodes
    return { a, b, c, nginx, send, took }
  })

describe("nginx without affinity", () => {
  it.scopedLive("sends requests to the nodes in turn, with the host that the client has named", () =>
    Effect.gen(function*() {
      const { a, nginx, took } = yield* behind(false)
      const hosts = new Set<string | undefined>()
      a.answer = (response, { headers: { host } }) => {
        hosts.add(host)
        response.end("ok")
      }
      assert.deepStrictEqual(yield* took(6), { by: [2, 2, 2], statuses: [200] })
      assert.deepStrictEqual([...hosts], [nginx.url.replace("http://", "")])
    }))

  it.scopedLive("sends what a node has refused with 503 to another one, and gives a refusal of all nodes to the client", () =>
    Effect.gen(function*() {
      const { a, b, c, took } = yield* behind(false)
      const refuse: Answer = (response) => void response.writeHead(503).end()
      a.answer = refuse
      const { by, statuses } = yield* took(60, {}, 20)
      assert.deepStrictEqual(statuses, [200])
      assert.strictEqual(by[1]! + by[2]!, 60)
      b.answer = c.answer = refuse
      assert.deepStrictEqual((yield* took(1)).statuses, [503])
    }))

  it.scopedLive("sends a request to another node when one cannot be reached", () =>
    Effect.gen(function*() {
      const { a, took } = yield* behind(false)
      yield* a.end
      const { by, statuses } = yield* took(6)
      assert.deepStrictEqual(statuses, [200])
      assert.strictEqual(by[1]! + by[2]!, 6)
    }))

  it.scopedLive("sends no POST again that a node has got, and which has ended without an answer", () =>
    Effect.gen(function*() {
      const { a, b, c, took } = yield* behind(false)
      a.answer = b.answer = c.answer = (response) => void response.socket?.destroy()
      const { by, statuses } = yield* took(1)
      assert.deepStrictEqual(statuses, [502])
      assert.strictEqual(by[0]! + by[1]! + by[2]!, 1)
    }))

  it.scopedLive("sends nothing to a node that is left out, until it is used again", () =>
    Effect.gen(function*() {
      const { nginx, took } = yield* behind(false)
      for (const [at, node] of (["a", "b", "c"] as const).entries()) {
        yield* nginx.leaveOut(node)
        assert.strictEqual((yield* took(6)).by[at], 0)
        yield* nginx.use(node)
        assert.strictEqual((yield* took(6)).by[at], 2)
      }
    }))

  it.scopedLive("passes an event on when the node sends it, not when the response ends", () =>
    Effect.gen(function*() {
      const { a, b, c, send } = yield* behind(false)
      const read = yield* Deferred.make<void>()
      a.answer = b.answer = c.answer = (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n")
        Effect.runFork(Effect.andThen(Deferred.await(read), Effect.sync(() => response.end())))
      }
      const { body } = yield* send({})
      const reader = body!.getReader()
      const { value } = yield* Effect.promise(() => reader.read())
      assert.strictEqual(new TextDecoder().decode(value), "data: 1\n\n")
      yield* Deferred.succeed(read, undefined)
      assert.isTrue((yield* Effect.promise(() => reader.read())).done)
    }))

  it.scopedLive("takes a body as long as a server takes by default", () =>
    Effect.gen(function*() {
      const { took } = yield* behind(false)
      assert.deepStrictEqual((yield* took(1, { body: "x".repeat(4 * 1024 * 1024) })).statuses, [200])
    }))
})

describe("nginx with affinity", () => {
  const ofSession = (id: string) => ({ headers: { "mcp-session-id": id } })

  it.scopedLive("sends the requests of a session to the node that its id names, of HTTP+SSE as well", () =>
    Effect.gen(function*() {
      const { took } = yield* behind(true)
      for (const [at, node] of ["a", "b", "c"].entries()) {
        const only = [0, 1, 2].map((n) => n === at ? 4 : 0)
        assert.deepStrictEqual((yield* took(4, ofSession(`${node}-1`))).by, only)
        assert.deepStrictEqual((yield* took(4, { query: `?sessionId=${node}-1` })).by, only)
      }
      assert.deepStrictEqual((yield* took(6)).by, [2, 2, 2])
    }))

  it.scopedLive("sends them to the others while the node cannot be reached, is left out, or refuses with 503", () =>
    Effect.gen(function*() {
      const { a, b, nginx, took } = yield* behind(true)
      b.answer = (response) => void response.writeHead(503).end()
      assert.deepStrictEqual((yield* took(4, ofSession("b-1"))).statuses, [200])
      yield* nginx.leaveOut("b")
      assert.deepStrictEqual((yield* took(4, ofSession("b-1"))).by[1], 0)
      yield* nginx.use("b")
      b.answer = ok
      yield* a.end
      const { by, statuses } = yield* took(4, ofSession("a-1"))
      assert.deepStrictEqual(statuses, [200])
      assert.strictEqual(by[1]! + by[2]!, 4)
    }))

  /** Of three that share a secret only: the session of a client is known to one of them. */
  const Confirm = Tool.make("confirm", { success: Schema.Struct({ sure: Schema.Boolean }) })
  const Server = McpServer.layer(
    { name: "node", version: "1.0.0" },
    McpServer.tool(Confirm, () =>
      Effect.gen(function*() {
        const { progress } = yield* RequestContext
        const { ask } = yield* ServerSession
        yield* progress(1)
        return yield* Effect.orDie(ask({ sure: Ask.confirm("Sure?") }))
      })),
    { stateSecrets: [Redacted.make(new Uint8Array(32))] }
  )

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.scopedLive(`lets a client of ${version} call, read progress and answer a question of the handler`, () =>
      Effect.gen(function*() {
        const ports = yield* Effect.all([Place.freePort, Place.freePort, Place.freePort])
        for (const [at, port] of ports.entries()) {
          yield* Layer.build(
            HttpServer.layer({ port, legacy: { sessionIdPrefix: `${"abc"[at]}-` } }).pipe(
              Layer.provide(Server),
              Layer.provide(Logger.minimumLogLevel(LogLevel.Warning))
            )
          )
        }
        const { url } = yield* Nginx.start(ports, { affinity: true })
        const client = yield* Client.make(Remote.connector(`${url}/mcp`), {
          versions: [version],
          features: ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))
        })
        for (let n = 1; n <= 6; n++) {
          let seen = 0
          const { structuredContent } = yield* client.callTool("confirm", {}, {
            onProgress: () => Effect.sync(() => seen++)
          })
          assert.deepStrictEqual(structuredContent, { sure: true })
          assert.isAtLeast(seen, 1)
        }
      }).pipe(Effect.provide(NodeHttpClient.layerUndici)))
  }
})

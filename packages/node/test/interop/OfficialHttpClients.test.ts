import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Registry from "@effect-mcp/core/Registry"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Deferred, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { act, info, until } from "../HttpFixture.js"
import { tcpProxy } from "../TcpProxy.js"
import { clients, type Official } from "./OfficialClients.js"

type Transport = "http" | "sse"

/** A server with tools that a test controls. */
const serve = (versions?: McpServer.Options["versions"]) =>
  Effect.gen(function*() {
    const steering = {
      registry: undefined as Registry.RegistryService | undefined,
      stopped: 0,
      gate: Deferred.unsafeMake<void>(yield* Effect.fiberId)
    }
    const progress = (step: number) =>
      Effect.flatMap(RequestContext.RequestContext, (context) => context.progress(step, { total: 3 }))
    const features = Layer.mergeAll(
      McpServer.tool(
        Tool.make("greet", { parameters: { name: Schema.String } }),
        ({ name }) => Effect.succeed(`Hello, ${name}!`)
      ),
      act(
        Effect.suspend(() => Effect.zipRight(progress(1), Deferred.await(steering.gate))).pipe(
          Effect.onInterrupt(() => Effect.sync(() => steering.stopped++))
        ),
        "wait"
      ),
      act(
        Effect.flatMap(
          RequestContext.RequestContext,
          (context) => Effect.zipRight(context.closeStream, Deferred.await(steering.gate))
        ),
        "poll"
      ),
      Layer.effectDiscard(Effect.map(Registry.Registry, (registry) => {
        steering.registry = registry
      }))
    )
    const scope = yield* Effect.scope
    const context = yield* Layer.buildWithScope(
      HttpServer.layer({ port: 0, legacy: { ssePath: "/sse", retry: "10 millis" } }).pipe(
        Layer.provide(EventStore.layerMemory),
        Layer.provide(McpServer.layer(info, features, { versions }))
      ),
      scope
    )
    const server = yield* Effect.provide(HttpServer.HttpServer, context)
    return { steering, server, url: server.url, sse: server.url.replace("/mcp", "/sse") }
  })

/** A server of both eras. */
const served = serve()

/** A server with sessions and streams that can be resumed, which a client that speaks 2026-07-28 would not use. */
const servedLegacy = serve(Version.legacy)

const one = (tool: string) => act(Effect.void, tool)

const { auto, legacy } = clients

for (const [name, connectTo] of Object.entries({ ...legacy, ...auto })) {
  const connect = (url: string, transport: Transport) => connectTo({ url, transport })
  const names = ({ list }: Official) => Effect.map(list, (tools) => tools.map(({ name }) => name as string))
  describe(`A server of Effect MCP over HTTP and ${name}`, () => {
    for (const kind of ["http", "sse"] as const) {
      const over = kind === "http" ? "over Streamable HTTP" : "over HTTP+SSE"

      it.scopedLive(`list and call tools, ${over}`, () =>
        Effect.gen(function*() {
          const server = yield* served
          const client = yield* connect(kind === "http" ? server.url : server.sse, kind)
          assert.deepStrictEqual(yield* names(client), ["greet", "poll", "wait"])
          const { content } = yield* client.call("greet", { name: "you" })
          assert.deepStrictEqual(content, [{ type: "text", text: "Hello, you!" }])
          const texts = yield* Effect.forEach(["a", "b", "c", "d"], (name) => client.call("greet", { name }), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(
            texts.map(({ content }) => content[0].text).join(" "),
            "Hello, a! Hello, b! Hello, c! Hello, d!"
          )
        }))

      it.scopedLive(`send progress, ${over}`, () =>
        Effect.gen(function*() {
          const server = yield* served
          const client = yield* connect(kind === "http" ? server.url : server.sse, kind)
          const seen: Array<any> = []
          const calling = yield* Effect.fork(client.call("wait", {}, { onprogress: (progress) => seen.push(progress) }))
          yield* until(() => seen.length === 1)
          yield* Deferred.succeed(server.steering.gate, undefined)
          yield* Fiber.join(calling)
          assert.deepStrictEqual(seen, [{ progress: 1, total: 3 }])
        }))

      it.scopedLive(`cancel, ${over}`, () =>
        Effect.gen(function*() {
          const server = yield* served
          const client = yield* connect(kind === "http" ? server.url : server.sse, kind)
          const abort = new AbortController()
          let began = false
          const calling = yield* Effect.fork(Effect.exit(
            client.call("wait", {}, { signal: abort.signal, onprogress: () => began = true })
          ))
          yield* until(() => began)
          abort.abort()
          assert.isTrue(Exit.isFailure(yield* Fiber.join(calling)))
          yield* until(() => server.steering.stopped === 1)
          assert.deepStrictEqual((yield* client.call("greet", { name: "you" })).content[0].text, "Hello, you!")
        }))

      it.scopedLive(`notify of changes outside of requests, ${over}`, () =>
        Effect.gen(function*() {
          const server = yield* servedLegacy
          const client = yield* connect(kind === "http" ? server.url : server.sse, kind)
          yield* client.list
          yield* Layer.build(Layer.provide(one("more"), Layer.succeed(Registry.Registry, server.steering.registry!)))
          yield* until(() => client.changes.length > 0)
          assert.include(yield* names(client), "more")
        }))
    }

    it.scopedLive("reconnect when the connection is cut during a call", () =>
      Effect.gen(function*() {
        const server = yield* servedLegacy
        const { cut, url } = yield* tcpProxy(server.server.port)
        const client = yield* connect(`${url}/mcp`, "http")
        let began = false
        const calling = yield* Effect.fork(client.call("wait", {}, { onprogress: () => began = true }))
        yield* until(() => began)
        yield* cut
        yield* Deferred.succeed(server.steering.gate, undefined)
        assert.deepStrictEqual((yield* Fiber.join(calling)).content, [])
        assert.strictEqual(server.steering.stopped, 0)
      }))

    it.scopedLive("reconnect two clients that were cut off, with a resumption token", () =>
      Effect.gen(function*() {
        const server = yield* servedLegacy
        const { cut, url } = yield* tcpProxy(server.server.port)
        const first = yield* connect(`${url}/mcp`, "http")
        const sessionId = first.sessionId()
        let began = false
        let token = ""
        yield* Effect.fork(Effect.exit(first.call("wait", {}, {
          onprogress: () => began = true,
          onresumptiontoken: (last) => token = last
        })))
        yield* until(() => began && token !== "")
        // Without a DELETE: the session stays open.
        yield* first.close
        yield* cut
        const second = yield* connectTo({ url: server.url, transport: "http", sessionId })
        const calling = yield* Effect.fork(second.call("wait", {}, { resumptionToken: token }))
        yield* Deferred.succeed(server.steering.gate, undefined)
        assert.deepStrictEqual((yield* Fiber.join(calling)).content, [])
        assert.strictEqual(server.steering.stopped, 0)
        assert.strictEqual(server.server.sessions(), 1)
      }))

    it.scopedLive("poll for a result when the server closes the stream of a call", () =>
      Effect.gen(function*() {
        const server = yield* servedLegacy
        const client = yield* connect(server.url, "http")
        const calling = yield* Effect.fork(client.call("poll"))
        yield* client.list
        yield* Deferred.succeed(server.steering.gate, undefined)
        assert.deepStrictEqual((yield* Fiber.join(calling)).content, [])
      }))

    it.scopedLive("close: the session ends, and is unknown afterwards", () =>
      Effect.gen(function*() {
        const server = yield* servedLegacy
        const client = yield* connect(server.url, "http")
        const id = client.sessionId()!
        assert.strictEqual(server.server.sessions(), 1)
        yield* client.terminate
        assert.strictEqual(server.server.sessions(), 0)
        const other = yield* connect(server.url, "http")
        assert.notStrictEqual(other.sessionId(), id)
      }))

    it.scopedLive("detect that a session is lost", () =>
      Effect.gen(function*() {
        const server = yield* servedLegacy
        const client = yield* connect(server.url, "http")
        const id = client.sessionId()!
        yield* Effect.promise(() => fetch(server.url, { method: "DELETE", headers: { "mcp-session-id": id } }))
        // The client fails again, because it does not open a new session itself.
        for (let n = 0; n < 2; n++) {
          const error = yield* Effect.flip(client.call("greet", { name: "you" }))
          assert.match(String(error.message), /404|Session not found/)
        }
        assert.strictEqual(server.server.sessions(), 0)
        const next = yield* connect(server.url, "http")
        assert.strictEqual((yield* next.call("greet", { name: "you" })).content[0].text, "Hello, you!")
      }))
  })
}

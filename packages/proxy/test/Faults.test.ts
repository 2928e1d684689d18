import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Connector from "@effect-mcp/core/Connector"
import { TransportError } from "@effect-mcp/core/LocalError"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Logger, Schedule, TestClock } from "effect"
import { all, controlled, entrance, type Features, gateway, legacy, modern, received, server } from "./Setting.js"

const tool = (name: string) => McpServer.tool(Tool.make(name), () => Effect.succeed(name))
const own = tool("own")
const names = (client: ClientSessionService) => Effect.map(all(client.tools), (tools) => tools.map(({ name }) => name))
const text = (result: { readonly content: ReadonlyArray<object> }) => (result.content[0] as { text: string }).text
const fast = { reconnect: Schedule.spaced("5 millis"), connectTimeout: "2 seconds" } as const

const upstream = (features: Features, versions = legacy) => Effect.map(server(features, { versions }), controlled)

for (const versions of [legacy, modern]) {
  describe(`An upstream of ${versions[0]}`, () => {
    const refused = "The upstream \"up\" is not connected"

    it.scopedLive("that does not start costs its own entries only, and is listed when it has come", () =>
      Effect.gen(function*() {
        const { connector, state } = yield* upstream(tool("theirs"), versions)
        state.refuses = true
        const session = yield* gateway(connector, { own, proxy: fast })
        const changes = yield* received(session.listChanges)
        assert.deepStrictEqual(yield* names(session), ["own"])
        assert.strictEqual(text(yield* session.callTool("own")), "own")
        state.refuses = false
        assert.strictEqual(yield* changes.take, "tools")
        assert.deepStrictEqual(yield* names(session), ["own", "theirs"])
        assert.strictEqual(text(yield* session.callTool("theirs")), "theirs")
      }))

    it.scopedLive("that dies ends its calls with its name, is hidden, and comes back", () =>
      Effect.gen(function*() {
        const begun = yield* Deferred.make<void>()
        const hang = McpServer.tool(
          Tool.make("hang"),
          () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
        )
        const { connector, kill, state } = yield* upstream(Layer.merge(hang, tool("theirs")), versions)
        const session = yield* gateway(connector, { own, proxy: fast })
        const changes = yield* received(session.listChanges)
        const call = yield* Effect.fork(Effect.flip(session.callTool("hang")))
        yield* Deferred.await(begun)
        state.refuses = true
        yield* kill
        const error = yield* Fiber.join(call)
        assert.deepInclude(error, { _tag: "InternalError" })
        assert.include(error.message, "The upstream \"up\" closed the connection before it answered \"tools/call\"")
        assert.strictEqual(yield* changes.take, "tools")
        yield* Effect.repeat(names(session), { until: (all) => all.length === 1 })
        assert.deepInclude(yield* Effect.flip(session.callTool("theirs")), { _tag: "InternalError", message: refused })
        assert.strictEqual(text(yield* session.callTool("own")), "own")
        state.refuses = false
        yield* Effect.repeat(changes.take, {
          until: () => Effect.map(names(session), (all) => all.includes("theirs"))
        })
        assert.strictEqual(text(yield* session.callTool("theirs")), "theirs")
      }))

    it.scopedLive("that restarts at once loses no entry, and calls wait for it", () =>
      Effect.gen(function*() {
        const { connector, kill, state } = yield* upstream(tool("theirs"), versions)
        const session = yield* gateway(connector, { own, proxy: fast })
        assert.strictEqual(text(yield* session.callTool("theirs")), "theirs")
        const before = state.count
        yield* kill
        yield* Effect.repeat(Effect.yieldNow(), { until: () => state.count > before })
        assert.strictEqual(text(yield* session.callTool("theirs")), "theirs")
        assert.deepStrictEqual(yield* names(session), ["own", "theirs"])
      }))

    it.scopedLive("that hangs ends a call with its name when the time is over", () =>
      Effect.gen(function*() {
        const hang = McpServer.tool(Tool.make("hang"), () => Effect.never)
        const { connector } = yield* upstream(hang, versions)
        const session = yield* gateway(connector, { proxy: { client: { timeout: "1 second" } } })
        const error = yield* Effect.flip(session.callTool("hang"))
        assert.deepInclude(error, {
          _tag: "InternalError",
          message: "The upstream \"up\" did not answer \"tools/call\" in time"
        })
        yield* session.ping()
      }))
  })
}

describe("A proxy", () => {
  it.scopedLive("starts without an upstream that never answers, after its connectTimeout", () =>
    Effect.gen(function*() {
      const connector = Connector.make("silent", Effect.never)
      const session = yield* gateway(connector, { own, proxy: { connectTimeout: "20 millis" } })
      assert.deepStrictEqual(yield* names(session), ["own"])
    }))

  it.scoped("waits for an upstream that takes 30 seconds to start, by default, and lists it then", () =>
    Effect.gen(function*() {
      const { connector, state } = yield* upstream(tool("theirs"))
      const slow = Connector.make("slow", Effect.zipRight(Effect.sleep("30 seconds"), connector.connect))
      const starting = yield* Effect.fork(gateway(slow, { client: modern, own }))
      yield* TestClock.adjust("10 seconds")
      const session = yield* Fiber.join(starting)
      assert.deepStrictEqual(yield* names(session), ["own"])
      const changes = yield* received(session.listChanges)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(yield* changes.take, "tools")
      assert.deepStrictEqual(yield* names(session), ["own", "theirs"])
      assert.strictEqual(state.count, 1)
    }))

  it.scopedLive("lists and serves its own tools while the session of a client does not open", () =>
    Effect.gen(function*() {
      const { connector, state } = yield* upstream(tool("theirs"))
      const through = yield* entrance(connector, { own, proxy: { connectTimeout: "1 second" } })
      state.hangs = true
      const session = yield* Client.make(through, { versions: legacy })
      assert.deepStrictEqual(yield* names(session), ["own", "theirs"])
      assert.strictEqual(text(yield* session.callTool("own")), "own")
      const error = yield* Effect.flip(session.callTool("theirs"))
      assert.strictEqual(error.message, "The upstream \"up\" is not connected")
    }))

  for (const [era, client] of [["2025-11-25", legacy], ["2026-07-28", modern]] as const) {
    it.scopedLive(`that was never reached is named to a client of ${era} that calls a tool, and not the tool as unknown`, () =>
      Effect.gen(function*() {
        const { connector, state } = yield* upstream(tool("theirs"))
        state.refuses = true
        const session = yield* gateway(connector, { client, proxy: { ...fast, connectTimeout: "1 second" } })
        assert.deepStrictEqual(yield* names(session), [])
        const error = yield* Effect.flip(session.callTool("theirs"))
        assert.strictEqual(error.message, "The upstream \"up\" is not connected")
      }))
  }

  it.scopedLive("sends no client the reason why an upstream could not be reached", () =>
    Effect.gen(function*() {
      const { connector, kill, state } = yield* upstream(tool("theirs"))
      const session = yield* gateway(connector, { proxy: fast })
      state.refuses = true
      yield* kill
      const error = yield* Effect.flip(session.callTool("theirs"))
      assert.strictEqual(error.message, "The upstream \"up\" is not connected")
    }))

  it.scopedLive("as layerConnected fails when the upstream cannot be reached", () =>
    Effect.gen(function*() {
      const connector = Connector.make(
        "none",
        Effect.fail(new TransportError({ reason: "Open", message: "nothing there" }))
      )
      const building = Layer.build(McpServer.layer({ name: "g", version: "1" }, Proxy.layerConnected(connector)))
      assert.strictEqual((yield* Effect.flip(building)).message, "nothing there")
    }))

  it.scopedLive("as layerConnected fails when the upstream does not answer in time", () =>
    Effect.gen(function*() {
      const proxy = Proxy.layerConnected(Connector.make("silent", Effect.never), { connectTimeout: "20 millis" })
      const error = yield* Effect.flip(Layer.build(McpServer.layer({ name: "g", version: "1" }, proxy)))
      assert.strictEqual(error._tag, "RequestTimeout")
    }))

  it.scopedLive("whose connector throws logs it, serves its own tools, and says so to calls", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const logger = Logger.make(({ cause, logLevel, message }) =>
        void logged.push(`${logLevel.label} ${String(message)} ${Cause.pretty(cause)}`)
      )
      const error = yield* Effect.gen(function*() {
        const { connector, kill, state } = yield* upstream(tool("theirs"))
        const throwing = Connector.make(
          "throwing",
          Effect.suspend(() => state.refuses ? Effect.die(new Error("a bug")) : connector.connect)
        )
        const session = yield* gateway(throwing, { own, proxy: fast })
        assert.strictEqual(text(yield* session.callTool("theirs")), "theirs")
        state.refuses = true
        yield* kill
        const error = yield* Effect.repeat(Effect.flip(session.callTool("theirs")), {
          until: ({ message }) => message.includes("any more")
        })
        assert.strictEqual(text(yield* session.callTool("own")), "own")
        return error
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      assert.strictEqual(error.message, "The upstream \"up\" is not connected any more: the proxy has failed")
      assert.isTrue(
        logged.some((line) =>
          line.startsWith("ERROR The proxy of the upstream \"up\" has failed") && line.includes("a bug")
        )
      )
    }))

  it.scopedLive("whose connector throws at the start starts at once, and as layerConnected dies", () =>
    Effect.gen(function*() {
      const connector = Connector.make("throwing", Effect.die("a bug"))
      const session = yield* gateway(connector, { own })
      assert.deepStrictEqual(yield* names(session), ["own"])
      const building = Layer.build(McpServer.layer({ name: "g", version: "1" }, Proxy.layerConnected(connector)))
      assert.deepStrictEqual(yield* Effect.exit(building), Exit.die("a bug"))
    }))

  it.scopedLive("closes every session with the upstream when it closes", () =>
    Effect.gen(function*() {
      const { connector, open } = yield* upstream(tool("theirs"))
      yield* Effect.scoped(Effect.gen(function*() {
        const through = yield* entrance(connector, { proxy: fast })
        const clients = yield* Effect.all([1, 2, 3].map(() => Client.make(through, { versions: legacy })))
        for (const client of clients) yield* client.callTool("theirs")
        assert.strictEqual(open.size, 4)
      }))
      assert.strictEqual(open.size, 0)
    }))

  for (const versions of [legacy, modern]) {
    it.scopedLive(`says that an upstream of ${versions[0]} which refused a call with 4xx has not served the call`, () =>
      Effect.gen(function*() {
        const context = yield* Layer.build(
          McpServer.layer({ name: "upstream", version: "1.0.0" }, tool("theirs"), { versions })
        )
        const { handler } = yield* Effect.provide(WebHandler.make(), context)
        let status = 200
        const fetch: typeof globalThis.fetch = async (url, init) => {
          const request = new Request(url, init)
          const text = await request.clone().text()
          return status !== 200 && text.includes("tools/call")
            ? new Response("secret of a firewall", { status })
            : handler(request)
        }
        const remote = Remote.connector("http://localhost/mcp")
        const http = Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
        const connector: Connector.Connector = {
          ...remote,
          connect: Effect.provide(remote.connect, yield* Layer.build(http))
        }
        const session = yield* gateway(connector, { own, client: modern, proxy: fast })
        assert.strictEqual(text(yield* session.callTool("theirs")), "theirs")
        for (status of [401, 403, 413, 429]) {
          const error = yield* Effect.flip(session.callTool("theirs"))
          assert.strictEqual(
            error.message,
            "The upstream \"up\" was not reached, or refused the request: it has not served \"tools/call\""
          )
        }
        status = 200
        assert.strictEqual(text(yield* session.callTool("theirs")), "theirs")
      }))
  }

  it.scopedLive("refuses a request that goes in a circle", () =>
    Effect.gen(function*() {
      const { connector } = yield* upstream(tool("theirs"))
      const session = yield* gateway(connector, { proxy: fast })
      for (const hops of [16, -1, { valueOf: 1, toString: 1 }]) {
        const error = yield* Effect.flip(
          session.callTool("theirs", {}, { meta: { "io.github.effect-mcp/hops": hops } })
        )
        assert.deepInclude(error, { _tag: "InvalidRequest" })
        assert.include(error.message, "may be its own upstream")
      }
    }))

  it.scopedLive("leaves out entries beyond maxEntries", () =>
    Effect.gen(function*() {
      const { connector } = yield* upstream(Layer.mergeAll(tool("a"), tool("b"), tool("c")))
      const session = yield* gateway(connector, { proxy: { ...fast, maxEntries: 2 } })
      assert.lengthOf(yield* names(session), 2)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import type { Options } from "@effect-mcp/core/Remote"
import { Effect, Fiber } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

/** Sends `initialize`, which the server refuses so. */
const opening = (refuse: (exchange: ScriptedServer.Exchange) => Effect.Effect<void>, options?: Options) =>
  Effect.gen(function*() {
    const pair = yield* Effect.orDie(ScriptedServer.connect(options))
    const calling = yield* pair.call("initialize")
    const exchange = yield* pair.expect("initialize")
    yield* refuse(exchange)
    return { pair, calling, exchange }
  })

describe("A server that does not implement Streamable HTTP", () => {
  for (const status of [400, 401, 403, 404, 405, 406, 410, 415, 422, 429]) {
    it.scoped(`SHOULD be tried over HTTP+SSE when it answers initialize with ${status}`, () =>
      Effect.gen(function*() {
        const { calling, pair } = yield* opening((exchange) =>
          exchange.reply(status, { "content-type": "text/html" }, "<p>")
        )
        const listening = yield* pair.expect("GET")
        assert.strictEqual(listening.what, `GET ${ScriptedServer.URL}`)
        const stream = yield* listening.events()
        yield* stream.push("event: endpoint\ndata: messages/1\n\n")
        const again = yield* pair.expect("initialize")
        assert.strictEqual(again.what, "POST http://server.test/messages/1")
        yield* again.accept
        yield* stream.send(Message.success(again.message.id, ScriptedServer.initializeResult("2024-11-05")))
        assert.deepStrictEqual(yield* Fiber.join(calling), ScriptedServer.initializeResult("2024-11-05"))
        const notifying = yield* Effect.fork(pair.conversation.notify("notifications/initialized"))
        const ready = yield* pair.expect("notifications/initialized")
        assert.strictEqual(ready.what, "POST http://server.test/messages/1")
        yield* ready.accept
        yield* Fiber.join(notifying)
        yield* pair.quiet
        yield* stream.end
        yield* pair.conversation.ended
        yield* pair.idle
      }))
  }

  it.scoped("fails initialize with its first refusal when it does not implement HTTP+SSE either", () =>
    Effect.gen(function*() {
      const { calling, pair } = yield* opening((exchange) => exchange.reply(404))
      yield* Effect.flatMap(pair.expect("GET"), (exchange) => exchange.reply(405))
      const error = (yield* Fiber.join(calling)) as TransportError
      assert.deepInclude(error, { _tag: "TransportError", reason: "Write" })
      assert.deepInclude(error.cause, { _tag: "HttpResponseError", status: 404 })
      assert.include(
        error.message,
        "was answered with 404. The server does not implement HTTP+SSE of revision 2024-11-05 either"
      )
      yield* pair.idle
    }))

  it.scoped("fails initialize with what to look at when its URL has another path", () =>
    Effect.gen(function*() {
      const refused = (status: number) =>
        Effect.gen(function*() {
          const { calling, pair } = yield* opening((exchange) => exchange.reply(status))
          yield* Effect.flatMap(pair.expect("GET"), (exchange) => exchange.reply(status))
          return ((yield* Fiber.join(calling)) as TransportError).message
        })
      const advice = "Look at the path of the URL: the path of a server is often \"/mcp\""
      assert.include(yield* refused(404), advice)
      assert.notInclude(yield* refused(405), advice)
    }))

  it.scoped("is not tried over HTTP+SSE when it refuses initialize for another reason, or answers it", () =>
    Effect.gen(function*() {
      const challenge = { "www-authenticate": "Bearer" }
      for (const [status, headers] of [[401, challenge], [403, challenge], [500, {}], [503, {}]] as const) {
        const { calling, pair } = yield* opening((exchange) => exchange.reply(status, headers))
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError" })
        yield* pair.quiet
      }
      const { calling, pair } = yield* opening((exchange) =>
        exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: { code: -32022, message: "newer" } }, {}, 400)
      )
      assert.deepInclude({ ...yield* Fiber.join(calling) }, { _tag: "JsonRpcError", code: -32022 })
      yield* pair.quiet
    }))

  it.scoped("is not tried over HTTP+SSE when the options do not allow it", () =>
    Effect.gen(function*() {
      const { calling, pair } = yield* opening((exchange) => exchange.reply(404), { transport: "streamable" })
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Write" })
      yield* pair.quiet
    }))

  it.scoped("is not read any more when the connection closes before it names its endpoint", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.scoped(Effect.gen(function*() {
        const { pair } = yield* opening((exchange) => exchange.reply(404))
        yield* Effect.flatMap(pair.expect("GET"), (exchange) => exchange.events())
        return pair
      }))
      yield* pair.idle
    }))
})

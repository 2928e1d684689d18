import { assert, describe, it } from "@effect/vitest"
import type { Options } from "@effect-mcp/client/RemoteOptions"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { Effect, Fiber } from "effect"
import * as Played from "../http/Played.js"

/** Says `initialize`, which the server refuses like this. */
const opening = (refuse: (asked: Played.Asked) => Effect.Effect<void>, options?: Options) =>
  Effect.gen(function*() {
    const talk = yield* Effect.orDie(Played.connect(options))
    const calling = yield* talk.call("initialize")
    const asked = yield* talk.expect("initialize")
    yield* refuse(asked)
    return { talk, calling, asked }
  })

describe("A server that does not know Streamable HTTP", () => {
  for (const status of [400, 404, 405]) {
    it.scoped(`SHOULD be spoken to over HTTP+SSE when it answers initialize with ${status}`, () =>
      Effect.gen(function*() {
        const { calling, talk } = yield* opening((asked) => asked.reply(status, { "content-type": "text/html" }, "<p>"))
        const listening = yield* talk.expect("GET")
        assert.strictEqual(listening.what, `GET ${Played.URL}`)
        const stream = yield* listening.events()
        yield* stream.push("event: endpoint\ndata: messages/1\n\n")
        const again = yield* talk.expect("initialize")
        assert.strictEqual(again.what, "POST http://server.test/messages/1")
        yield* again.accept
        yield* stream.say(Message.success(again.message.id, Played.initialized("2024-11-05")))
        assert.deepStrictEqual(yield* Fiber.join(calling), Played.initialized("2024-11-05"))
        const telling = yield* Effect.fork(talk.conversation.notify("notifications/initialized"))
        const ready = yield* talk.expect("notifications/initialized")
        assert.strictEqual(ready.what, "POST http://server.test/messages/1")
        yield* ready.accept
        yield* Fiber.join(telling)
        yield* talk.quiet
        yield* stream.end
        yield* talk.conversation.ended
        yield* talk.idle
      }))
  }

  it.scoped("fails initialize with what it said first when it is none of these either", () =>
    Effect.gen(function*() {
      const { calling, talk } = yield* opening((asked) => asked.reply(404))
      yield* Effect.flatMap(talk.expect("GET"), (asked) => asked.reply(405))
      const error = (yield* Fiber.join(calling)) as TransportError
      assert.deepInclude(error, { _tag: "TransportError", reason: "Write" })
      assert.deepInclude(error.cause, { _tag: "HttpRefused", status: 404 })
      assert.include(
        error.message,
        "was answered with 404. The server does not implement HTTP+SSE of 2024-11-05 either"
      )
      yield* talk.idle
    }))

  it.scoped("is not looked for when initialize is refused for another reason, or answered", () =>
    Effect.gen(function*() {
      for (const status of [401, 403, 406, 429, 500, 503]) {
        const { calling, talk } = yield* opening((asked) => asked.reply(status))
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError" })
        yield* talk.quiet
      }
      const { calling, talk } = yield* opening((asked) =>
        asked.json({ jsonrpc: "2.0", id: asked.message.id, error: { code: -32022, message: "newer" } }, {}, 400)
      )
      assert.deepInclude({ ...yield* Fiber.join(calling) }, { _tag: "JsonRpcError", code: -32022 })
      yield* talk.quiet
    }))

  it.scoped("is not looked for when that is not wanted", () =>
    Effect.gen(function*() {
      const { calling, talk } = yield* opening((asked) => asked.reply(404), { transport: "streamable" })
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Write" })
      yield* talk.quiet
    }))

  it.scoped("is let go of when the connection closes before it has said where to send messages", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.scoped(Effect.gen(function*() {
        const { talk } = yield* opening((asked) => asked.reply(404))
        yield* Effect.flatMap(talk.expect("GET"), (asked) => asked.events())
        return talk
      }))
      yield* talk.idle
    }))
})

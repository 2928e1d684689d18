import { assert, describe, it } from "@effect/vitest"
import type { Options } from "@effect-mcp/client/RemoteOptions"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Scope } from "effect"
import { Effect, Fiber, TestClock } from "effect"
import * as Played from "../http/Played.js"

/** Connects; gives the stream that was asked for, and how connecting ends. */
const connecting = (options?: Options) =>
  Effect.gen(function*() {
    const http = yield* Played.make()
    const connecting = yield* Effect.forkScoped(Effect.either(Played.connect({ ...options, transport: "sse", http })))
    return { http, connecting, asked: yield* http.expect("GET") }
  })

/** A conversation over the two endpoints. */
const talking = (options?: Options): Effect.Effect<
  { readonly talk: Played.Talk; readonly stream: Played.Open },
  never,
  Scope.Scope
> =>
  Effect.gen(function*() {
    const { asked, connecting: fiber } = yield* connecting(options)
    const stream = yield* asked.events()
    yield* stream.push("event: endpoint\ndata: /messages?sessionId=1\n\n")
    return { stream, talk: yield* Effect.orDie(Effect.flatten(Fiber.join(fiber))) }
  })

const refused = (
  serve: (asked: Played.Asked) => Effect.Effect<unknown>,
  options?: Options
): Effect.Effect<TransportError, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { asked, connecting: fiber, http } = yield* connecting(options)
    yield* serve(asked)
    const error = yield* Effect.orDie(Effect.flip(Effect.flatten(Fiber.join(fiber))))
    assert.strictEqual(error.reason, "Open")
    yield* http.idle
    return error
  })

describe("HTTP+SSE", () => {
  it.scoped("opens a stream, and MUST send every message to the address that its first event names", () =>
    Effect.gen(function*() {
      const { stream, talk } = yield* talking({ headers: { authorization: "Bearer secret" } })
      const calling = yield* talk.call("initialize")
      const asked = yield* talk.expect("initialize")
      assert.strictEqual(asked.what, "POST http://server.test/messages?sessionId=1")
      assert.strictEqual(asked.headers.authorization, "Bearer secret")
      yield* asked.accept
      yield* stream.say(Message.success(asked.message.id, Played.initialized("2024-11-05")))
      assert.deepStrictEqual(yield* Fiber.join(calling), Played.initialized("2024-11-05"))
      const pinging = yield* talk.call("ping")
      const ping = yield* talk.expect("ping")
      assert.strictEqual(ping.headers["mcp-protocol-version"], "2024-11-05")
      yield* stream.say(Message.success(ping.message.id, {}))
      yield* ping.reply(200, {}, "Accepted")
      yield* Fiber.join(pinging)
      yield* stream.say({ jsonrpc: "2.0", id: 1, method: "roots/list" })
      yield* Effect.flatMap(talk.expect("an answer"), ({ accept }) => accept)
      assert.deepStrictEqual(talk.heard, ["roots/list"])
    }))

  it.scoped("fails to open, and says why, when it is refused", () =>
    Effect.gen(function*() {
      const error = yield* refused((asked) => asked.reply(405))
      assert.include(error.message, "was answered with 405")
      assert.deepInclude(error.cause, { _tag: "HttpRefused", status: 405 })
    }))

  it.scoped("fails to open when there is no stream, no network, no address, or none in time", () =>
    Effect.gen(function*() {
      assert.include((yield* refused((asked) => asked.json({}))).message, "no stream of events")
      yield* refused((asked) => asked.fail("ECONNREFUSED"))
      assert.include((yield* refused((asked) => Effect.flatMap(asked.events(), ({ end }) => end))).message, "ended")
      assert.include((yield* refused((asked) => Effect.flatMap(asked.events(), ({ cut }) => cut))).message, "cut off")
      const late = yield* refused((asked) =>
        Effect.zipRight(
          Effect.flatMap(asked.events(), ({ push }) => push(": nothing\n\n")),
          TestClock.adjust("30 seconds")
        )
      )
      assert.include(late.message, "in time")
    }))

  it.scoped("sends nothing to another origin", () =>
    Effect.gen(function*() {
      for (
        const address of [
          "http://evil.test/messages",
          "https://server.test/messages",
          "http://server.test:81/messages",
          "//evil.test/messages",
          "http://user@server.test/messages",
          "javascript:alert(1)"
        ]
      ) {
        const error = yield* refused((asked) =>
          Effect.flatMap(asked.events(), ({ push }) => push(`event: endpoint\ndata: ${address}\n\n`))
        )
        assert.include(error.message, "another origin", address)
      }
    }))

  it.scoped("keeps the address that it was given first", () =>
    Effect.gen(function*() {
      const { stream, talk } = yield* talking()
      yield* stream.push("event: endpoint\ndata: /other\n\n")
      yield* talk.call("ping")
      assert.strictEqual((yield* talk.expect("ping")).what, "POST http://server.test/messages?sessionId=1")
    }))

  it.scoped("fails only the request whose POST is refused", () =>
    Effect.gen(function*() {
      const { stream, talk } = yield* talking()
      const first = yield* talk.call("tools/call")
      const lives = yield* talk.expect("tools/call")
      yield* lives.accept
      for (
        const [refuse, reason] of [
          [(asked: Played.Asked) => asked.reply(404), "Write"],
          [(asked: Played.Asked) => asked.reply(500), "Read"],
          [(asked: Played.Asked) => asked.fail("ECONNREFUSED"), "Write"]
        ] as const
      ) {
        const calling = yield* talk.call("ping")
        yield* Effect.flatMap(talk.expect("ping"), refuse)
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason })
      }
      yield* stream.say(Message.success(lives.message.id, {}))
      assert.deepStrictEqual(yield* Fiber.join(first), {})
    }))

  it.scoped("ends the conversation with its stream", () =>
    Effect.gen(function*() {
      const { stream, talk } = yield* talking()
      const calling = yield* talk.call("ping")
      yield* Effect.flatMap(talk.expect("ping"), ({ accept }) => accept)
      yield* stream.end
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "ConnectionClosed" })
      yield* talk.conversation.ended
      yield* talk.idle
    }))

  it.scoped("fails the conversation when its stream is cut off", () =>
    Effect.gen(function*() {
      const { stream, talk } = yield* talking()
      const calling = yield* talk.call("ping")
      yield* talk.expect("ping")
      yield* stream.cut
      const error = yield* Effect.flip(talk.conversation.ended)
      assert.deepInclude(error, { reason: "Read", message: "The stream of events was cut off" })
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "ConnectionClosed", cause: error })
      yield* talk.idle
    }))

  it.scoped("reports an event that is too large or no message, and reads on", () =>
    Effect.gen(function*() {
      const { stream, talk } = yield* talking({ maxEventBytes: 100 })
      yield* stream.push(`data: ${"x".repeat(200)}\n\ndata: garbage\n\n`)
      yield* stream.say({ jsonrpc: "2.0", method: "next" })
      yield* talk.quiet
      assert.deepStrictEqual(talk.heard, ["next"])
      assert.deepStrictEqual(talk.diagnostics.map(({ _tag }) => _tag), ["Malformed", "Malformed"])
    }))

  it.scoped("leaves nothing open when it closes", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.scoped(Effect.gen(function*() {
        const { talk } = yield* talking()
        yield* talk.call("ping")
        yield* talk.expect("ping")
        return talk
      }))
      yield* talk.idle
      assert.lengthOf(talk.deleted, 0)
    }))
})

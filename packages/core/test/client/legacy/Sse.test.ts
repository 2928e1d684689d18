import { assert, describe, it } from "@effect/vitest"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import type { Options } from "@effect-mcp/core/Remote"
import { Effect, Either, Exit, Fiber, Scope, TestClock } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

/** Connects; gives the request for the stream, and how connecting ends. */
const connecting = (options?: Options) =>
  Effect.gen(function*() {
    const http = yield* ScriptedServer.make()
    const connecting = yield* Effect.forkScoped(
      Effect.either(ScriptedServer.connect({ ...options, transport: "sse", http }))
    )
    return { http, connecting, exchange: yield* http.expect("GET") }
  })

/** A conversation over the two endpoints. */
const connected = (options?: Options): Effect.Effect<
  { readonly pair: ScriptedServer.Pair; readonly stream: ScriptedServer.Open },
  never,
  Scope.Scope
> =>
  Effect.gen(function*() {
    const { connecting: fiber, exchange } = yield* connecting(options)
    const stream = yield* exchange.events()
    yield* stream.push("event: endpoint\ndata: /messages?sessionId=1\n\n")
    return { stream, pair: yield* Effect.orDie(Effect.flatten(Fiber.join(fiber))) }
  })

const refused = (
  serve: (exchange: ScriptedServer.Exchange) => Effect.Effect<unknown>,
  options?: Options
): Effect.Effect<TransportError, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { connecting: fiber, exchange, http } = yield* connecting(options)
    yield* serve(exchange)
    const error = yield* Effect.orDie(Effect.flip(Effect.flatten(Fiber.join(fiber))))
    assert.strictEqual(error.reason, "Open")
    yield* http.idle
    return error
  })

describe("HTTP+SSE", () => {
  it.scoped("opens a stream, and MUST send every message to the URL that its first event names", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* connected({ headers: { authorization: "Bearer secret" } })
      const calling = yield* pair.call("initialize")
      const exchange = yield* pair.expect("initialize")
      assert.strictEqual(exchange.what, "POST http://server.test/messages?sessionId=1")
      assert.strictEqual(exchange.headers.authorization, "Bearer secret")
      yield* exchange.accept
      yield* stream.send(Message.success(exchange.message.id, ScriptedServer.initializeResult("2024-11-05")))
      assert.deepStrictEqual(yield* Fiber.join(calling), ScriptedServer.initializeResult("2024-11-05"))
      const pinging = yield* pair.call("ping")
      const ping = yield* pair.expect("ping")
      assert.strictEqual(ping.headers["mcp-protocol-version"], "2024-11-05")
      yield* stream.send(Message.success(ping.message.id, {}))
      yield* ping.reply(200, {}, "Accepted")
      yield* Fiber.join(pinging)
      yield* stream.send({ jsonrpc: "2.0", id: 1, method: "roots/list" })
      yield* Effect.flatMap(pair.expect("an answer"), ({ accept }) => accept)
      assert.deepStrictEqual(pair.received, ["roots/list"])
    }))

  it.scoped("fails to open with the refusal of the server", () =>
    Effect.gen(function*() {
      const error = yield* refused((exchange) => exchange.reply(405))
      assert.include(error.message, "was answered with 405")
      assert.deepInclude(error.cause, { _tag: "HttpResponseError", status: 405 })
    }))

  it.scoped("fails to open when there is no stream, no network, no endpoint, or none in time", () =>
    Effect.gen(function*() {
      assert.include((yield* refused((exchange) => exchange.json({}))).message, "is not a stream of events")
      yield* refused((exchange) => exchange.fail("ECONNREFUSED"))
      assert.include(
        (yield* refused((exchange) => Effect.flatMap(exchange.events(), ({ end }) => end))).message,
        "ended"
      )
      assert.include(
        (yield* refused((exchange) => Effect.flatMap(exchange.events(), ({ cut }) => cut))).message,
        "cut off"
      )
      const late = yield* refused((exchange) =>
        Effect.zipRight(
          Effect.flatMap(exchange.events(), ({ push }) => push(": nothing\n\n")),
          TestClock.adjust("30 seconds")
        )
      )
      assert.include(late.message, "in time")
    }))

  it.scoped("ends the attempt to open it when its scope closes, and says why", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      const scope = yield* Scope.make()
      const connecting = yield* Effect.fork(Effect.either(
        Scope.extend(ScriptedServer.connect({ transport: "sse", http }), scope)
      ))
      const exchange = yield* http.expect("GET")
      yield* exchange.events()
      yield* Scope.close(scope, Exit.void)
      const outcome = yield* Fiber.join(connecting)
      assert.isTrue(Either.isLeft(outcome) && outcome.left.message.includes("the client has closed it"))
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
        const error = yield* refused((exchange) =>
          Effect.flatMap(exchange.events(), ({ push }) => push(`event: endpoint\ndata: ${address}\n\n`))
        )
        assert.include(error.message, "another origin", address)
      }
    }))

  it.scoped("keeps the endpoint that it was given first", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* connected()
      yield* stream.push("event: endpoint\ndata: /other\n\n")
      yield* pair.call("ping")
      assert.strictEqual((yield* pair.expect("ping")).what, "POST http://server.test/messages?sessionId=1")
    }))

  it.scoped("fails only the request whose POST is refused", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* connected()
      const first = yield* pair.call("tools/call")
      const lives = yield* pair.expect("tools/call")
      yield* lives.accept
      for (
        const [refuse, reason] of [
          [(exchange: ScriptedServer.Exchange) => exchange.reply(404), "Write"],
          [(exchange: ScriptedServer.Exchange) => exchange.reply(500), "Read"],
          [(exchange: ScriptedServer.Exchange) => exchange.fail("ECONNREFUSED"), "Write"]
        ] as const
      ) {
        const calling = yield* pair.call("ping")
        yield* Effect.flatMap(pair.expect("ping"), refuse)
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason })
      }
      yield* stream.send(Message.success(lives.message.id, {}))
      assert.deepStrictEqual(yield* Fiber.join(first), {})
    }))

  it.scoped("ends the conversation with its stream", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* connected()
      const calling = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("ping"), ({ accept }) => accept)
      yield* stream.end
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "ConnectionClosed" })
      yield* pair.conversation.ended
      yield* pair.idle
    }))

  it.scoped("fails the conversation when its stream is cut off", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* connected()
      const calling = yield* pair.call("ping")
      yield* pair.expect("ping")
      yield* stream.cut
      const error = yield* Effect.flip(pair.conversation.ended)
      assert.deepInclude(error, { reason: "Read", message: "The stream of events was cut off" })
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "ConnectionClosed", cause: error })
      yield* pair.idle
    }))

  it.scoped("reports an event that is too large or no message, and reads on", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* connected({ limits: { maxEventBytes: 100 } })
      yield* stream.push(`data: ${"x".repeat(200)}\n\ndata: garbage\n\n`)
      yield* stream.send({ jsonrpc: "2.0", method: "next" })
      yield* pair.quiet
      assert.deepStrictEqual(pair.received, ["next"])
      assert.deepStrictEqual(pair.diagnostics.map(({ _tag }) => _tag), ["Malformed", "Malformed"])
    }))

  it.scoped("fails a call at once whose answer is too large, in one line or many, and reads on", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* connected({ limits: { maxEventBytes: 100 } })
      for (const space of [0, 2]) {
        const calling = yield* pair.call("tools/call")
        const exchange = yield* pair.expect("tools/call")
        yield* exchange.accept
        const text = JSON.stringify(Message.success(exchange.message.id, { text: "x".repeat(200) }), null, space)
        yield* stream.push(`${text.split("\n").map((line) => `data: ${line}`).join("\n")}\n\n`)
        assert.deepInclude(yield* Fiber.join(calling), {
          _tag: "TransportError",
          reason: "Decode",
          message:
            "Parse error: an event has more than 100 bytes; raise the limit maxEventBytes, or ask for a smaller answer"
        })
      }
      yield* stream.send({ jsonrpc: "2.0", method: "next" })
      yield* pair.quiet
      assert.deepStrictEqual(pair.received, ["next"])
    }))

  it.scoped("leaves nothing open when it closes", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.scoped(Effect.gen(function*() {
        const { pair } = yield* connected()
        yield* pair.call("ping")
        yield* pair.expect("ping")
        return pair
      }))
      yield* pair.idle
      assert.lengthOf(pair.deleted, 0)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import type { TransportError } from "@effect-mcp/core/LocalError"
import { Effect, Fiber, TestClock } from "effect"
import * as ScriptedServer from "./ScriptedServer.js"

const json = { "content-type": "application/json" }

/** The bytes of an answer to the request. */
const answer = (exchange: ScriptedServer.Exchange, text: string) =>
  new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id: exchange.message.id, result: { text } }))

/** How a call ends whose response the server writes so; nothing is left open after it. */
const ends = (
  serve: (exchange: ScriptedServer.Exchange) => Effect.Effect<unknown>,
  options?: Parameters<typeof ScriptedServer.pair>[0]
) =>
  Effect.gen(function*() {
    const pair = yield* ScriptedServer.pair(options)
    const calling = yield* pair.call("ping")
    yield* Effect.flatMap(pair.expect("ping"), serve)
    const ended = yield* Fiber.join(calling)
    yield* pair.idle
    return ended
  })

const fails = (...args: Parameters<typeof ends>) => Effect.map(ends(...args), (ended) => ended as TransportError)

describe("A body", () => {
  it.scoped("is read as text, with a length, without one, and with one that is not a number", () =>
    Effect.gen(function*() {
      for (const length of [(bytes: Uint8Array) => String(bytes.length), () => "nine", undefined]) {
        const ended = yield* ends((exchange) =>
          Effect.gen(function*() {
            const bytes = answer(exchange, "ä€😀")
            const headers = length === undefined ? json : { ...json, "content-length": length(bytes) }
            const body = yield* exchange.open(200, headers)
            yield* body.push(bytes)
            yield* body.end
          })
        )
        assert.deepStrictEqual<unknown>(ended, { text: "ä€😀" })
      }
    }))

  it.scoped("is joined from its pieces, also in the middle of a letter", () =>
    Effect.gen(function*() {
      const ended = yield* ends((exchange) =>
        Effect.gen(function*() {
          const body = yield* exchange.open(200, json)
          for (const byte of answer(exchange, "ä€😀")) yield* body.push(new Uint8Array([byte]))
          yield* body.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { text: "ä€😀" })
    }))

  it.scoped("does not keep its pieces: a server may send a piece for each byte", () =>
    Effect.gen(function*() {
      const ended = yield* ends((exchange) =>
        Effect.gen(function*() {
          const body = yield* exchange.open(200, json)
          const [first, ...rest] = answer(exchange, "text")
          yield* body.push(Uint8Array.of(first!))
          // Only a copy of each piece is right: all of them are one array.
          const piece = new Uint8Array(1)
          for (const byte of rest) {
            piece[0] = byte
            yield* body.push(piece)
            yield* Effect.repeatN(Effect.yieldNow(), 50)
          }
          yield* body.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { text: "text" })
    }))

  it.scoped("is not read on when it is larger than allowed, whatever length the server declares", () =>
    Effect.gen(function*() {
      for (const length of [undefined, "3", "99999999999999999999"]) {
        const error = yield* fails((exchange) =>
          Effect.gen(function*() {
            const body = yield* exchange.open(200, length === undefined ? json : { ...json, "content-length": length })
            yield* body.push(" ".repeat(300))
            if (length !== undefined) yield* body.end
          }), { limits: { maxBodyBytes: 299 } })
        assert.deepInclude(error, {
          reason: "Decode",
          message:
            "The answer to \"ping\" cannot be read: its body has more than 299 bytes; raise the limit maxBodyBytes, or ask for a smaller answer"
        })
      }
      const declared = yield* fails((exchange) => exchange.open(200, { ...json, "content-length": "300" }), {
        limits: { maxBodyBytes: 299 }
      })
      assert.deepInclude(declared, { reason: "Decode" })
      assert.include(declared.message, "its body has 300 bytes, more than 299; raise the limit maxBodyBytes")
    }))

  it.scoped("is read in the charset that its type names, and refused when nobody knows that, or the bytes are not text in it", () =>
    Effect.gen(function*() {
      const reply = (type: string, encode: (text: string) => Uint8Array) =>
        ends((exchange) =>
          exchange.reply(200, { "content-type": type }, encode(new TextDecoder().decode(answer(exchange, "é"))))
        )
      const latin1 = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))
      const utf16 = (text: string) => Uint8Array.from([...text].flatMap((letter) => [letter.charCodeAt(0), 0]))
      assert.deepStrictEqual(yield* reply("application/json; charset=iso-8859-1", latin1), { text: "é" })
      assert.deepStrictEqual(yield* reply("application/json;charset=\"ISO-8859-1\"; x=y", latin1), { text: "é" })
      assert.deepStrictEqual(yield* reply("application/json; charset=UTF-16LE", utf16), { text: "é" })
      for (const charset of ["klingon", "shift_jis"]) {
        assert.deepInclude(yield* reply(`application/json; charset=${charset}`, latin1), {
          reason: "Decode",
          message: `The server's answer is not text in "${charset}", the charset that it names`
        })
      }
    }))

  it.scoped("is refused when it is not UTF-8, or cut off", () =>
    Effect.gen(function*() {
      const wrong = yield* fails((exchange) => exchange.reply(200, json, new Uint8Array([0x61, 0xc3])))
      assert.deepInclude(wrong, { reason: "Decode", message: "The server's answer is not UTF-8" })
      const short = yield* fails((exchange) =>
        Effect.flatMap(exchange.open(200, json), (body) => Effect.zipRight(body.push("12"), body.cut))
      )
      assert.deepInclude(short, { reason: "Read", message: "The answer to POST was cut off" })
    }))
})

describe("The body of a refusal", () => {
  it.scoped("is read from its beginning, whether it is long, slow or cut off", () =>
    Effect.gen(function*() {
      const long = yield* fails((exchange) =>
        Effect.flatMap(exchange.open(500), (body) =>
          Effect.zipRight(body.push("x".repeat(40_000)), body.push("y".repeat(40_000))))
      )
      assert.deepInclude(long.cause, { body: "x".repeat(40_000) + "y".repeat(64 * 1024 - 40_000) })
      const slow = yield* fails((exchange) =>
        Effect.flatMap(exchange.open(500), (body) =>
          Effect.zipRight(body.push("123"), TestClock.adjust("1 second")))
      )
      assert.deepInclude(slow.cause, { body: "123" })
      const cut = yield* fails((exchange) =>
        Effect.flatMap(exchange.open(500), (body) => Effect.zipRight(body.push("1"), body.cut))
      )
      assert.deepInclude(cut.cause, { body: "1" })
    }))
})

describe("The body of a response that accepts a notification", () => {
  it.scoped("is read to its end, for a second at most", () =>
    Effect.gen(function*() {
      for (const headers of [{}, { "content-length": "5" }]) {
        const pair = yield* ScriptedServer.pair()
        const notifying = yield* Effect.fork(pair.conversation.notify("n"))
        yield* Effect.flatMap(pair.expect("n"), (exchange) =>
          Effect.flatMap(exchange.open(202, headers), (body) =>
            Effect.zipRight(body.push("12345"), body.end)))
        yield* Fiber.join(notifying)
        yield* pair.idle
      }
      const pair = yield* ScriptedServer.pair()
      const notifying = yield* Effect.fork(pair.conversation.notify("n"))
      yield* Effect.flatMap(pair.expect("n"), (exchange) =>
        exchange.open(202))
      yield* pair.quiet
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(notifying)
      yield* pair.idle
    }))
})

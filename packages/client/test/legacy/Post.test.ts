import { assert, describe, it } from "@effect/vitest"
import { HttpRefused } from "@effect-mcp/client/HttpRefused"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { CallError } from "@effect-mcp/jsonrpc/Outbound"
import { Effect, Fiber, TestClock } from "effect"
import * as Played from "../http/Played.js"

const EVENTS = { "content-type": "text/event-stream" }
const JSON_TYPE = { "content-type": "application/json" }

/** Asks once and has the server do this; gives how the call ended. */
const outcome = (
  serve: (asked: Played.Asked) => Effect.Effect<unknown>,
  options?: Parameters<typeof Played.talk>[0]
) =>
  Effect.gen(function*() {
    const talk = yield* Played.talk(options)
    const calling = yield* talk.call("tools/call")
    const asked = yield* talk.expect("tools/call")
    yield* serve(asked)
    const ended = yield* Fiber.join(calling)
    // The conversation lives on, and nothing is left open.
    const pinging = yield* talk.call("ping")
    yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
    assert.deepStrictEqual(yield* Fiber.join(pinging), {})
    yield* talk.idle
    return { asked, ended: ended as CallError & Record<string, unknown>, talk }
  })

const answer = (asked: Played.Asked, result: object = { n: 1 }) => ({ jsonrpc: "2.0", id: asked.message.id, result })

describe("A request over Streamable HTTP", () => {
  it.scoped("MUST be a POST of its own that lists both kinds of answer and names session and revision", () =>
    Effect.gen(function*() {
      const { asked } = yield* outcome((asked) => asked.result(), { id: "s-1" })
      assert.strictEqual(asked.what, `POST ${Played.URL}`)
      assert.strictEqual(asked.headers.accept, "application/json, text/event-stream")
      assert.strictEqual(asked.headers["content-type"], "application/json")
      assert.strictEqual(asked.headers["mcp-session-id"], "s-1")
      assert.strictEqual(asked.headers["mcp-protocol-version"], "2025-11-25")
      assert.deepInclude(asked.message, { jsonrpc: "2.0", method: "tools/call" })
    }))

  it.scoped("MUST take an answer in one piece", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((asked) => asked.result({ n: 1 }))
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
    }))

  it.scoped("takes an answer in pieces, of a length that was not said, with parameters on its type", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((asked) =>
        Effect.gen(function*() {
          const text = JSON.stringify(answer(asked, { text: "ä€😀" }))
          const body = yield* asked.open(200, { "content-type": "Application/JSON; charset=utf-8" })
          for (const byte of new TextEncoder().encode(text)) yield* body.push(new Uint8Array([byte]))
          yield* body.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { text: "ä€😀" })
    }))

  it.scoped("MUST take an answer on a stream of events, after whatever is said before it", () =>
    Effect.gen(function*() {
      const { ended, talk } = yield* outcome((asked) =>
        Effect.gen(function*() {
          const stream = yield* asked.events()
          yield* stream.push(": hello\n\ndata:\n\nid: 1\ndata: \n\nevent: ping\ndata: now\n\n")
          yield* stream.say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info" } })
          yield* stream.say(answer(asked))
          yield* stream.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
      assert.deepStrictEqual(talk.heard, [`notifications/message {"level":"info"}`])
      assert.deepStrictEqual(talk.diagnostics, [])
    }))

  it.scoped("answers what the server asks on its stream, in a POST of its own", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ id: "s-1" })
      const calling = yield* talk.call("tools/call")
      const asked = yield* talk.expect("tools/call")
      const stream = yield* asked.events()
      yield* stream.say({ jsonrpc: "2.0", id: "q", method: "sampling/createMessage" })
      const answering = yield* talk.expect("an answer")
      assert.deepStrictEqual(answering.message, { jsonrpc: "2.0", id: "q", result: {} })
      assert.strictEqual(answering.headers["mcp-session-id"], "s-1")
      yield* answering.accept
      yield* stream.say(answer(asked))
      yield* stream.end
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
    }))

  it.scoped("is answered when the answer is here, and lets go of a stream that does not end a second later", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk()
      const calling = yield* talk.call("tools/call")
      const asked = yield* talk.expect("tools/call")
      const stream = yield* asked.events()
      yield* stream.say(answer(asked))
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
      yield* talk.quiet
      assert.isFalse(stream.isOver())
      yield* TestClock.adjust("1 second")
      yield* talk.quiet
      assert.isTrue(stream.isOver())
    }))

  it.scoped("takes a batch where the revision has batches", () =>
    Effect.gen(function*() {
      const serve = (asked: Played.Asked) =>
        asked.json([{ jsonrpc: "2.0", method: "notifications/message" }, answer(asked)])
      const { ended, talk } = yield* outcome(serve, { version: "2025-03-26" })
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
      assert.deepStrictEqual(talk.heard, ["notifications/message"])
      const later = yield* outcome(serve)
      assert.deepInclude(later.ended, { _tag: "TransportError", reason: "Decode" })
      assert.include(later.ended.message, "batches are known to the revision 2025-03-26 only")
    }))

  it.scoped("gets an error of the server's as its answer, whatever the status", () =>
    Effect.gen(function*() {
      const serve = (asked: Played.Asked, status: number) =>
        asked.json({ jsonrpc: "2.0", id: asked.message.id, error: { code: -32602, message: "no" } }, {}, status)
      for (const status of [200, 400, 404, 500]) {
        const { ended } = yield* outcome((asked) => serve(asked, status))
        assert.deepInclude({ ...ended }, { _tag: "JsonRpcError", code: -32602 })
      }
    }))

  it.scoped("is answered once, however often the answer comes", () =>
    Effect.gen(function*() {
      const { ended, talk } = yield* outcome((asked) =>
        Effect.gen(function*() {
          const stream = yield* asked.events()
          yield* stream.say(answer(asked, { n: 1 }))
          yield* stream.say(answer(asked, { n: 2 }))
          yield* stream.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
      assert.deepStrictEqual(talk.diagnostics.map(({ _tag }) => _tag), ["UnknownResponse"])
    }))

  it.scoped("knows its id when the server has made a text of it", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((asked) =>
        asked.json({ jsonrpc: "2.0", id: String(asked.message.id), result: { n: 1 } })
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
    }))
})

describe("A request whose answer is none", () => {
  const bodies: ReadonlyArray<readonly [string, string | Uint8Array, RegExp]> = [
    ["is no JSON", "<html>", /not JSON/],
    ["is empty", "", /not JSON/],
    ["begins with a byte order mark", `\uFEFF{"jsonrpc":"2.0","id":2,"result":{}}`, /byte order mark/],
    ["is no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), /not UTF-8/],
    ["is no message", "{}", /"method" is missing/],
    ["has neither result nor error", `{"jsonrpc":"2.0","id":2}`, /"method" is missing/],
    ["has both", `{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":""}}`, /exclude each other/],
    ["answers something else", `{"jsonrpc":"2.0","id":77,"result":{}}`, /answers something else/],
    ["nests too deeply", `{"jsonrpc":"2.0","id":2,"result":{"a":${"[".repeat(65)}${"]".repeat(65)}}}`, /levels deep/],
    ["names a prototype", `{"jsonrpc":"2.0","id":2,"result":{"__proto__":{}}}`, /__proto__/]
  ]
  for (const [what, body, message] of bodies) {
    it.scoped(`fails alone when it ${what}`, () =>
      Effect.gen(function*() {
        const { ended } = yield* outcome((asked) => asked.reply(200, JSON_TYPE, body))
        assert.instanceOf(ended, TransportError)
        assert.strictEqual(ended.reason, "Decode")
        assert.match(ended.message, message)
      }))
  }

  it.scoped("fails alone when it is too large, as promised or as it turns out", () =>
    Effect.gen(function*() {
      const packed = { "content-encoding": "gzip", "content-length": "10" }
      for (const headers of [{}, { "content-length": "201" }, packed]) {
        const { ended } = yield* outcome((asked) =>
          Effect.gen(function*() {
            const body = yield* asked.open(200, { ...JSON_TYPE, ...headers })
            yield* body.push(" ".repeat(201))
          }), { maxBodyBytes: 200 })
        assert.deepInclude(ended, { reason: "Read", message: "The answer to POST has more than 200 bytes" })
      }
    }))

  it.scoped("fails alone when it is cut off", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((asked) =>
        Effect.gen(function*() {
          const body = yield* asked.open(200, JSON_TYPE)
          yield* body.push(`{"jsonrpc":`)
          yield* body.cut
        })
      )
      assert.deepInclude(ended, { reason: "Read", message: "The answer to POST was cut off" })
    }))

  for (
    const [what, status, headers] of [
      ["a page", 200, { "content-type": "text/html" }],
      ["nothing but that it was taken", 202, {}],
      ["nothing at all", 204, {}],
      ["something without a type", 200, {}]
    ] as const
  ) {
    it.scoped(`fails alone when it is ${what}`, () =>
      Effect.gen(function*() {
        const { ended } = yield* outcome((asked) => asked.reply(status, headers, "hello"))
        assert.deepInclude(ended, { reason: "Read" })
        assert.include(ended.message, `The answer to "tools/call" was lost: it was answered with ${status}, with`)
      }))
  }

  it.scoped("fails alone when its stream ends before it, at whatever byte, and there is nothing to come back with", () =>
    Effect.gen(function*() {
      const text = (asked: Played.Asked) => `event: message\ndata: ${JSON.stringify(answer(asked))}\n\n`
      for (let at = 0; at < 60; at++) {
        const { ended } = yield* outcome((asked) =>
          Effect.gen(function*() {
            const stream = yield* asked.events()
            yield* stream.push(text(asked).slice(0, at))
            yield* at % 2 === 0 ? stream.end : stream.cut
          })
        )
        assert.deepInclude(ended, { reason: "Read" })
        assert.include(ended.message, "the stream cannot be resumed")
      }
    }))

  it.scoped("fails alone when an event in its place is too large", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((asked) =>
        Effect.gen(function*() {
          const stream = yield* asked.events()
          yield* stream.push("id: 1\ndata: hello\n\n")
          yield* stream.say(answer(asked, { text: "x".repeat(1000) }))
          yield* stream.end
        }), { maxEventBytes: 1000 })
      assert.deepInclude(ended, { reason: "Read" })
      assert.include(ended.message, "an event has more than 1000 bytes")
    }))

  it.scoped("reports an event that is no message, and reads on", () =>
    Effect.gen(function*() {
      const { ended, talk } = yield* outcome((asked) =>
        Effect.gen(function*() {
          const stream = yield* asked.open(200, EVENTS)
          yield* stream.push("data: garbage\n\ndata: [1]\n\ndata: {}\n\n")
          yield* stream.say(answer(asked))
          yield* stream.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
      assert.deepStrictEqual(talk.diagnostics.map(({ _tag }) => _tag), ["Malformed", "Malformed", "Malformed"])
    }))
})

describe("A request that is refused", () => {
  it.scoped("fails alone, and says with what", () =>
    Effect.gen(function*() {
      for (const status of [400, 405, 406, 413, 415, 429, 500, 502, 503]) {
        const { ended } = yield* outcome((asked) =>
          asked.reply(status, { "content-type": "text/plain", "retry-after": "7", "set-cookie": "a=b" }, "not now\n")
        )
        assert.instanceOf(ended, TransportError)
        assert.strictEqual(ended.reason, status < 500 ? "Write" : "Read")
        assert.strictEqual(ended.message, `POST ${Played.URL} was answered with ${status}: not now`)
        assert.instanceOf(ended.cause, HttpRefused)
        assert.deepInclude(ended.cause, { status, body: "not now\n", method: "POST", url: Played.URL })
        assert.strictEqual(ended.cause.headers["retry-after"], "7")
        assert.notProperty(ended.cause.headers, "set-cookie")
      }
    }))

  it.scoped("MUST NOT be taken for a lost session where there is none", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((asked) => asked.reply(404))
      assert.deepInclude(ended, { reason: "Write" })
    }))

  for (
    const [code, reason] of [
      ["ECONNREFUSED", "Write"],
      ["ENOTFOUND", "Write"],
      ["UND_ERR_CONNECT_TIMEOUT", "Write"],
      ["CERT_HAS_EXPIRED", "Write"],
      ["ECONNRESET", "Read"],
      ["UND_ERR_SOCKET", "Read"],
      ["EPIPE", "Read"]
    ] as const
  ) {
    it.scoped(`fails alone with ${reason} when the network says ${code}`, () =>
      Effect.gen(function*() {
        const { ended } = yield* outcome((asked) => asked.fail(code))
        assert.instanceOf(ended, TransportError)
        assert.strictEqual(ended.reason, reason)
        assert.include(ended.message, `it was ${code}`)
      }))
  }

  it.scoped("fails alone when the platform's client dies", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((asked) => asked.die)
      assert.deepInclude(ended, { reason: "Read", message: "The request died" })
    }))
})

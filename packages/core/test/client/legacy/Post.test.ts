import { assert, describe, it } from "@effect/vitest"
import { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import { TransportError } from "@effect-mcp/core/LocalError"
import type { CallError } from "@effect-mcp/core/Outbound"
import { Effect, Fiber, TestClock } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

const EVENTS = { "content-type": "text/event-stream" }
const JSON_TYPE = { "content-type": "application/json" }

const LARGE = { text: "x".repeat(1500) }

/** Sends one request, which the server answers so, and gives how it ends. */
const outcome = (
  serve: (exchange: ScriptedServer.Exchange) => Effect.Effect<unknown>,
  options?: Parameters<typeof ScriptedServer.pair>[0]
) =>
  Effect.gen(function*() {
    const pair = yield* ScriptedServer.pair(options)
    const calling = yield* pair.call("tools/call")
    const exchange = yield* pair.expect("tools/call")
    yield* serve(exchange)
    const ended = yield* Fiber.join(calling)
    // The conversation goes on, and nothing is left open.
    const pinging = yield* pair.call("ping")
    yield* Effect.flatMap(pair.expect("ping"), (ping) => ping.result())
    assert.deepStrictEqual(yield* Fiber.join(pinging), {})
    yield* pair.idle
    return { exchange, ended: ended as CallError & Record<string, unknown>, pair }
  })

const answer = (exchange: ScriptedServer.Exchange, result: object = { n: 1 }) => ({
  jsonrpc: "2.0",
  id: exchange.message.id,
  result
})

describe("A request over Streamable HTTP", () => {
  it.scoped("MUST be a POST of its own that lists both kinds of answer and names session and revision", () =>
    Effect.gen(function*() {
      const { exchange } = yield* outcome((exchange) => exchange.result(), { id: "s-1" })
      assert.strictEqual(exchange.what, `POST ${ScriptedServer.URL}`)
      assert.strictEqual(exchange.headers.accept, "application/json, text/event-stream")
      assert.strictEqual(exchange.headers["content-type"], "application/json")
      assert.strictEqual(exchange.headers["mcp-session-id"], "s-1")
      assert.strictEqual(exchange.headers["mcp-protocol-version"], "2025-11-25")
      assert.deepInclude(exchange.message, { jsonrpc: "2.0", method: "tools/call" })
    }))

  it.scoped("MUST take an answer in one piece", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((exchange) => exchange.result({ n: 1 }))
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
    }))

  it.scoped("takes an answer in pieces, without a declared length, with parameters in its media type", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((exchange) =>
        Effect.gen(function*() {
          const text = JSON.stringify(answer(exchange, { text: "ä€😀" }))
          const body = yield* exchange.open(200, { "content-type": "Application/JSON; charset=utf-8" })
          for (const byte of new TextEncoder().encode(text)) yield* body.push(new Uint8Array([byte]))
          yield* body.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { text: "ä€😀" })
    }))

  it.scoped("MUST take an answer on a stream of events, after the messages before it", () =>
    Effect.gen(function*() {
      const { ended, pair } = yield* outcome((exchange) =>
        Effect.gen(function*() {
          const stream = yield* exchange.events()
          yield* stream.push(": hello\n\ndata:\n\nid: 1\ndata: \n\nevent: ping\ndata: now\n\n")
          yield* stream.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info" } })
          yield* stream.send(answer(exchange))
          yield* stream.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
      assert.deepStrictEqual(pair.received, [`notifications/message {"level":"info"}`])
      assert.deepStrictEqual(pair.diagnostics, [])
    }))

  it.scoped("answers a request of the server on its stream with a POST", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ id: "s-1" })
      const calling = yield* pair.call("tools/call")
      const exchange = yield* pair.expect("tools/call")
      const stream = yield* exchange.events()
      yield* stream.send({ jsonrpc: "2.0", id: "q", method: "sampling/createMessage" })
      const answering = yield* pair.expect("an answer")
      assert.deepStrictEqual(answering.message, { jsonrpc: "2.0", id: "q", result: {} })
      assert.strictEqual(answering.headers["mcp-session-id"], "s-1")
      yield* answering.accept
      yield* stream.send(answer(exchange))
      yield* stream.end
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
    }))

  it.scoped("ends with its answer, and closes a stream that the server does not end within a second", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair()
      const calling = yield* pair.call("tools/call")
      const exchange = yield* pair.expect("tools/call")
      const stream = yield* exchange.events()
      yield* stream.send(answer(exchange))
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
      yield* pair.quiet
      assert.isFalse(stream.isOver())
      yield* TestClock.adjust("1 second")
      yield* pair.quiet
      assert.isTrue(stream.isOver())
    }))

  it.scoped("takes a batch at every revision", () =>
    Effect.gen(function*() {
      const serve = (exchange: ScriptedServer.Exchange) =>
        exchange.json([{ jsonrpc: "2.0", method: "notifications/message" }, answer(exchange)])
      for (const options of [{ version: "2025-03-26" }, undefined] as const) {
        const { ended, pair } = yield* outcome(serve, options)
        assert.deepStrictEqual<unknown>(ended, { n: 1 })
        assert.deepStrictEqual(pair.received, ["notifications/message"])
      }
    }))

  it.scoped("takes a JSON-RPC error as its answer, whatever the status", () =>
    Effect.gen(function*() {
      const serve = (exchange: ScriptedServer.Exchange, status: number) =>
        exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: { code: -32602, message: "no" } }, {}, status)
      for (const status of [200, 400, 404, 500]) {
        const { ended } = yield* outcome((exchange) => serve(exchange, status))
        assert.deepInclude({ ...ended }, { _tag: "JsonRpcError", code: -32602 })
      }
    }))

  it.scoped("is answered once, however often the answer comes", () =>
    Effect.gen(function*() {
      const { ended, pair } = yield* outcome((exchange) =>
        Effect.gen(function*() {
          const stream = yield* exchange.events()
          yield* stream.send(answer(exchange, { n: 1 }))
          yield* stream.send(answer(exchange, { n: 2 }))
          yield* stream.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
      assert.deepStrictEqual(pair.diagnostics.map(({ _tag }) => _tag), ["UnknownResponse"])
    }))

  it.scoped("may begin with a byte order mark", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((exchange) =>
        exchange.reply(200, JSON_TYPE, `\uFEFF${JSON.stringify(answer(exchange, { n: 1 }))}`)
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
    }))

  it.scoped("recognizes its id when the server sends it as a text", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((exchange) =>
        exchange.json({ jsonrpc: "2.0", id: String(exchange.message.id), result: { n: 1 } })
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
    }))
})

describe("A request without a valid answer", () => {
  const bodies: ReadonlyArray<readonly [string, string | Uint8Array, RegExp]> = [
    ["is not JSON", "<html>", /not JSON/],
    ["is empty", "", /not JSON/],
    ["is not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), /not UTF-8/],
    ["is not a message", "{}", /"method" is missing/],
    [
      "is JSON of another kind of server",
      `{"hello":"world"}`,
      /it is JSON, but not a JSON-RPC message: .*; is https?:\/\/[^?]+ the endpoint of an MCP server\?$/
    ],
    ["has neither result nor error", `{"jsonrpc":"2.0","id":2}`, /"method" is missing/],
    ["has both", `{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":""}}`, /exclude each other/],
    ["answers something else", `{"jsonrpc":"2.0","id":77,"result":{}}`, /does not answer this request/],
    [
      "nests too deeply",
      `{"jsonrpc":"2.0","id":2,"result":{"a":${"[".repeat(600)}${"]".repeat(600)}}}`,
      /more than 512 levels deep/
    ]
  ]
  for (const [what, body, message] of bodies) {
    it.scoped(`fails alone when it ${what}`, () =>
      Effect.gen(function*() {
        const { ended } = yield* outcome((exchange) => exchange.reply(200, JSON_TYPE, body))
        assert.instanceOf(ended, TransportError)
        assert.strictEqual(ended.reason, "Decode")
        assert.match(ended.message, message)
      }))
  }

  it.scoped("fails alone when it is too large, as declared or as read", () =>
    Effect.gen(function*() {
      const packed = { "content-encoding": "gzip", "content-length": "10" }
      for (const headers of [{}, { "content-length": "201" }, packed]) {
        const { ended } = yield* outcome((exchange) =>
          Effect.gen(function*() {
            const body = yield* exchange.open(200, { ...JSON_TYPE, ...headers })
            yield* body.push(" ".repeat(201))
          }), { limits: { maxBodyBytes: 200 } })
        assert.strictEqual(ended.reason, "Decode")
        assert.match(ended.message, /^The answer to "tools\/call" cannot be read: its body has .*more than 200/)
        assert.include(ended.message, "raise the limit maxBodyBytes")
      }
    }))

  it.scoped("fails alone when it is cut off", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((exchange) =>
        Effect.gen(function*() {
          const body = yield* exchange.open(200, JSON_TYPE)
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
        const { ended } = yield* outcome((exchange) => exchange.reply(status, headers, "hello"))
        assert.deepInclude(ended, { reason: "Read" })
        assert.include(ended.message, `The answer to "tools/call" was lost: it was answered with ${status}, with`)
      }))
  }

  it.scoped("fails the handshake with the URL when a page answers it", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair()
      const calling = yield* pair.call("initialize")
      const exchange = yield* pair.expect("initialize")
      yield* exchange.reply(200, { "content-type": "text/html" }, "hello")
      const { message } = (yield* Fiber.join(calling)) as unknown as Error
      assert.include(message, `with 200, with text/html; is ${ScriptedServer.URL} the endpoint of an MCP server?`)
    }))

  it.scoped("fails alone when its stream ends before it, at any byte, and there is no event id to resume after", () =>
    Effect.gen(function*() {
      const text = (exchange: ScriptedServer.Exchange) =>
        `event: message\ndata: ${JSON.stringify(answer(exchange))}\n\n`
      for (let at = 0; at < 60; at++) {
        const { ended } = yield* outcome((exchange) =>
          Effect.gen(function*() {
            const stream = yield* exchange.events()
            yield* stream.push(text(exchange).slice(0, at))
            yield* at % 2 === 0 ? stream.end : stream.cut
          })
        )
        assert.deepInclude(ended, { reason: "Read" })
        assert.include(ended.message, "the stream cannot be resumed")
      }
    }))

  /** Ways to write an answer that is larger than the limit of an event, which is 1,000 bytes here. */
  const tooLarge: ReadonlyArray<readonly [what: string, event: (exchange: ScriptedServer.Exchange) => string]> = [
    ["as a message", (exchange) => `data: ${JSON.stringify(answer(exchange, LARGE))}`],
    ["with an event id", (exchange) => `id: 2\ndata: ${JSON.stringify(answer(exchange, LARGE))}`],
    [
      "with its id as text",
      (exchange) => `data: ${JSON.stringify({ ...answer(exchange, LARGE), id: String(exchange.message.id) })}`
    ],
    [
      "with its id at the end",
      (exchange) => `data: ${JSON.stringify({ result: LARGE, jsonrpc: "2.0", id: exchange.message.id })}`
    ],
    [
      "in many lines",
      (exchange) =>
        JSON.stringify(answer(exchange, LARGE), null, 2).split("\n").map((line) => `data: ${line}`).join("\n")
    ],
    ["in a batch", (exchange) => `data: ${JSON.stringify([answer(exchange, LARGE)])}`],
    [
      "with a member before the result that is large, too",
      ({ message }) => `data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, _meta: LARGE, result: {} })}`
    ],
    ["so that nothing shows what it is", () => `data: ${"x".repeat(2000)}`]
  ]
  for (const [what, event] of tooLarge) {
    for (const isResumed of [false, true]) {
      it.scoped(`fails alone, while its ${isResumed ? "resumed stream" : "stream"} stays open, when its event is too large: ${what}`, () =>
        Effect.gen(function*() {
          const pair = yield* ScriptedServer.pair({ id: "s-1", limits: { maxEventBytes: 1000 } })
          const calling = yield* pair.call("tools/call")
          const exchange = yield* pair.expect("tools/call")
          const first = yield* exchange.events()
          yield* first.push("id: 1\nretry: 100\ndata:\n\n")
          if (isResumed) yield* first.cut
          yield* pair.quiet
          if (isResumed) yield* TestClock.adjust("100 millis")
          const stream = isResumed ? yield* Effect.flatMap(pair.expect("GET"), (again) => again.events()) : first
          yield* stream.push(`${event(exchange)}\n\n`)
          assert.deepInclude(yield* Fiber.join(calling), {
            _tag: "TransportError",
            reason: "Decode",
            message: "The answer to \"tools/call\" cannot be read: an event of its stream has more than 1000 bytes; " +
              "raise the limit maxEventBytes, or ask for a smaller answer"
          })
          yield* TestClock.adjust("1 minute")
          yield* pair.quiet
          yield* pair.idle
        }))
    }
  }

  it.scoped("does not fail when a message of the server beside it is too large: a question is refused, a notification reported", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ limits: { maxEventBytes: 1000 } })
      const calling = yield* pair.call("tools/call")
      const exchange = yield* pair.expect("tools/call")
      const stream = yield* exchange.events()
      yield* stream.send({ jsonrpc: "2.0", method: "notifications/message", params: LARGE })
      yield* stream.send({ jsonrpc: "2.0", id: exchange.message.id, method: "sampling/createMessage", params: LARGE })
      const refusal = yield* pair.expect("an answer")
      assert.deepInclude(refusal.message, { id: exchange.message.id })
      assert.strictEqual(refusal.message.error.message, "Parse error: an event has more than 1000 bytes")
      yield* refusal.accept
      yield* stream.send(answer(exchange))
      yield* stream.end
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
      assert.deepStrictEqual(pair.diagnostics.map(({ _tag }) => _tag), ["Malformed", "Malformed"])
      assert.deepStrictEqual(pair.received, [])
    }))

  it.scoped("fails a call whose answer is too large on the stream of another call", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ limits: { maxEventBytes: 1000 } })
      const first = yield* pair.call("tools/call")
      const exchange = yield* pair.expect("tools/call")
      const second = yield* pair.call("tools/call")
      const other = yield* pair.expect("tools/call")
      const stream = yield* exchange.events()
      yield* stream.send(answer(other, LARGE))
      assert.deepInclude(yield* Fiber.join(second), { _tag: "TransportError", reason: "Decode" })
      yield* stream.send(answer(exchange))
      yield* stream.end
      assert.deepStrictEqual(yield* Fiber.join(first), { n: 1 })
    }))

  it.scoped("reports an event that is not a message, and reads on", () =>
    Effect.gen(function*() {
      const { ended, pair } = yield* outcome((exchange) =>
        Effect.gen(function*() {
          const stream = yield* exchange.open(200, EVENTS)
          yield* stream.push("data: garbage\n\ndata: [1]\n\ndata: {}\n\n")
          yield* stream.send(answer(exchange))
          yield* stream.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
      assert.deepStrictEqual(pair.diagnostics.map(({ _tag }) => _tag), ["Malformed", "Malformed", "Malformed"])
    }))
})

describe("A request that is refused", () => {
  it.scoped("fails alone, with the status and the text of the refusal", () =>
    Effect.gen(function*() {
      for (const status of [400, 405, 406, 413, 415, 429, 500, 502, 503]) {
        const { ended } = yield* outcome((exchange) =>
          exchange.reply(status, { "content-type": "text/plain", "retry-after": "7", "set-cookie": "a=b" }, "not now\n")
        )
        assert.instanceOf(ended, TransportError)
        assert.strictEqual(ended.reason, status < 500 ? "Write" : "Read")
        assert.strictEqual(ended.message, `POST ${ScriptedServer.URL} was answered with ${status}: not now`)
        assert.instanceOf(ended.cause, HttpResponseError)
        assert.deepInclude(ended.cause, { status, body: "not now\n", method: "POST", url: ScriptedServer.URL })
        assert.strictEqual(ended.cause.headers["retry-after"], "7")
        assert.notProperty(ended.cause.headers, "set-cookie")
      }
    }))

  it.scoped("MUST NOT begin a new session when there was none", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((exchange) => exchange.reply(404))
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
        const { ended } = yield* outcome((exchange) => exchange.fail(code))
        assert.instanceOf(ended, TransportError)
        assert.strictEqual(ended.reason, reason)
        assert.include(ended.message, `it was ${code}`)
      }))
  }

  it.scoped("fails alone when the platform's client dies", () =>
    Effect.gen(function*() {
      const { ended } = yield* outcome((exchange) => exchange.die)
      assert.deepInclude(ended, { reason: "Read", message: "The request died" })
    }))
  it.scoped("reports a second answer that is not a message, after the first one", () =>
    Effect.gen(function*() {
      const { ended, pair } = yield* outcome((exchange) =>
        Effect.gen(function*() {
          const stream = yield* exchange.open(200, EVENTS)
          const events = [answer(exchange), { ...answer(exchange), result: "garbage" }]
          yield* stream.push(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))
          yield* stream.end
        })
      )
      assert.deepStrictEqual<unknown>(ended, { n: 1 })
      assert.deepStrictEqual(pair.diagnostics.map(({ _tag }) => _tag), ["Malformed"])
    }))
})

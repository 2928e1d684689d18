import { assert, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as LineFraming from "@effect-mcp/core/LineFraming"
import * as Message from "@effect-mcp/core/Message"
import { Chunk, Effect, FastCheck, Stream } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import { pieces, seededRandom } from "./Pairs.js"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const ping = (id: Message.RequestId) => Message.request(id, "ping")
const line = (message: Message.Message) => LineFraming.encode(message)!

/** The messages that the decoder returns for these chunks. */
const read = (
  chunks: ReadonlyArray<Uint8Array | string>,
  options?: LineFraming.Options
): ReadonlyArray<Message.Incoming> => {
  const decoder = new LineFraming.Decoder(options)
  const messages = chunks.flatMap((chunk) => decoder.push(typeof chunk === "string" ? bytes(chunk) : chunk))
  return [...messages, ...decoder.end()]
}

const shape = (incoming: Message.Incoming) =>
  Message.isMalformed(incoming)
    ? { kind: incoming.kind, code: incoming.code, id: incoming.id }
    : incoming

const parseError = { kind: "request", code: JsonRpcError.PARSE_ERROR, id: undefined } as const

describe("LineFraming.Decoder", () => {
  it("reads one message per line", () => {
    assert.deepStrictEqual(read([line(ping(1)) + line(ping(2)), line(ping(3))]), [ping(1), ping(2), ping(3)])
  })

  it("returns a message as soon as its line has ended, and not before", () => {
    const decoder = new LineFraming.Decoder()
    const [whole, end] = [line(ping(1)).slice(0, -1), "\n"]
    assert.deepStrictEqual(decoder.push(bytes(whole)), [])
    assert.deepStrictEqual(decoder.push(bytes(end)), [ping(1)])
    assert.deepStrictEqual(decoder.end(), [])
  })

  it("reads lines that end with CRLF, even when it is cut in two", () => {
    const text = line(ping(1)).replace("\n", "\r\n")
    assert.deepStrictEqual(read([text + text]), [ping(1), ping(1)])
    assert.deepStrictEqual(read([text.slice(0, -1), "\n", text]), [ping(1), ping(1)])
  })

  it("ignores empty lines", () => {
    assert.deepStrictEqual(read(["\n\r\n  \n\t\n", line(ping(1)), "\n\n"]), [ping(1)])
  })

  it("reads a last line without a newline, once", () => {
    const decoder = new LineFraming.Decoder()
    assert.deepStrictEqual(decoder.push(bytes(line(ping(1)).trimEnd())), [])
    assert.deepStrictEqual(decoder.end(), [ping(1)])
    assert.deepStrictEqual(decoder.end(), [])
  })

  it("decodes characters that were cut in two", () => {
    const message = Message.notification("m", { text: "aß€😀\u2028" })
    for (let size = 1; size < 8; size++) {
      assert.deepStrictEqual(read(pieces(bytes(line(message)), () => 0.99, size)), [message])
    }
  })

  it("replaces bytes that are not UTF-8, leaves them out, or refuses their line; the next line is read either way", () => {
    const bad = [bytes("{\"jsonrpc\":\"2.0\",\"method\":\"a"), new Uint8Array([0xff, 0x22, 0x7d, 0x0a])]
    const replaced = Message.notification("a\ufffd")
    assert.deepStrictEqual(read([...bad, line(ping(1))]), [replaced, ping(1)])
    const refused = read([...bad, line(ping(1)), ...bad, line(ping(2))], { invalidBytes: "strict" })
    assert.deepStrictEqual(refused.map(shape), [parseError, ping(1), parseError, ping(2)])
    const ignored = read([...bad, line(Message.notification("\ufffd"))], { invalidBytes: "ignore" })
    assert.deepStrictEqual(ignored, [Message.notification("a"), Message.notification("\ufffd")])
  })

  it("refuses a line that is not JSON, and reads the next line", () => {
    const messages = read(["{\"jsonrpc\":\n", "}\n", line(ping(1)), "hello\n", line(ping(2))])
    assert.deepStrictEqual(messages.map(shape), [parseError, parseError, ping(1), parseError, ping(2)])
  })

  it("does not keep the chunks: their memory may be used again", () => {
    const decoder = new LineFraming.Decoder()
    const memory = new Uint8Array(4096)
    const feed = (text: string) => decoder.push(memory.subarray(0, new TextEncoder().encodeInto(text, memory).written))
    const text = line(ping("the first half is kept"))
    assert.deepStrictEqual(feed(text.slice(0, 20)), [])
    assert.deepStrictEqual(feed(text.slice(20, 40)), [])
    assert.deepStrictEqual(feed(text.slice(40)), [ping("the first half is kept")])
  })
})

/** How many bytes a decoder holds of a line that has not ended. */
const memoryOf = (decoder: LineFraming.Decoder): number => decoder["held"].all.buffer.byteLength

describe("the limit of a line", () => {
  it("counts bytes, up to the end of the line", () => {
    const text = line(Message.notification("é"))
    const exact = bytes(text).length - 1
    assert.deepStrictEqual(
      read([text + text], { maxLineBytes: exact }),
      Array.from({ length: 2 }, () => JSON.parse(text))
    )
    const refused = read([text + line(ping(1))], { maxLineBytes: exact - 1 })
    assert.deepStrictEqual(refused.map(shape), [parseError, { ...parseError, kind: "unknown", id: 1 }])
  })

  it("is reported with the id of the message, which may stand at its beginning or at its end", () => {
    const long = { text: "€".repeat(20_000), id: 5 }
    const texts: ReadonlyArray<readonly [string, Message.Malformed["kind"], Message.RequestId | undefined]> = [
      [JSON.stringify({ jsonrpc: "2.0", id: 7, result: long }), "response", 7],
      [JSON.stringify({ result: long, jsonrpc: "2.0", id: "seven" }), "response", "seven"],
      [JSON.stringify({ result: long, jsonrpc: "2.0" }), "response", undefined],
      [JSON.stringify({ jsonrpc: "2.0", id: 7, method: "m", params: long }), "request", 7],
      // Whether the message has a method, or answers, shows only beyond its beginning.
      [JSON.stringify({ jsonrpc: "2.0", id: 7, _meta: long, result: {} }), "unknown", 7],
      [`got: ${JSON.stringify({ id: 7, params: long })}`, "request", undefined]
    ]
    for (const [text, kind, id] of texts) {
      const all = bytes(`${text}\n${line(ping(1))}`)
      for (const size of [1, 7, 1000, 5000, all.length]) {
        const cut = Array.from(
          { length: Math.ceil(all.length / size) },
          (_, at) => all.subarray(at * size, (at + 1) * size)
        )
        const decoder = new LineFraming.Decoder({ maxLineBytes: 10_000 })
        assert.deepStrictEqual(cut.flatMap((piece) => decoder.push(piece)).map(shape), [
          { kind, code: JsonRpcError.PARSE_ERROR, id },
          ping(1)
        ])
      }
    }
  })

  it("is reported before the end of the line when the beginning shows the id", () => {
    const decoder = new LineFraming.Decoder({ maxLineBytes: 100 })
    const [report] = decoder.push(bytes(`{"jsonrpc":"2.0","id":7,"result":{"text":"${"x".repeat(100)}`))
    assert.deepInclude(report as Message.Malformed, {
      kind: "response",
      id: 7,
      message: "Parse error: a line is longer than 100 bytes; raise the limit maxLineBytes, or ask for a smaller answer"
    })
  })

  it("is the same however the line is cut", () => {
    const text = `${"x".repeat(100)}\n${line(ping(1))}`
    const random = seededRandom(1)
    for (let i = 0; i < 200; i++) {
      const messages = read(pieces(bytes(text), random), { maxLineBytes: 64 })
      assert.deepStrictEqual(messages.map(shape), [parseError, ping(1)])
    }
  })

  it("refuses a line as soon as it is exceeded, once", () => {
    const decoder = new LineFraming.Decoder({ maxLineBytes: 8 })
    assert.deepStrictEqual(decoder.push(bytes("12345678")), [])
    assert.deepStrictEqual(decoder.push(bytes("9")).map(shape), [parseError])
    assert.deepStrictEqual(decoder.push(bytes("0123456789")), [])
    assert.deepStrictEqual(decoder.push(bytes("01\n{}\n")).map(shape), [shape(Message.fromUnknown({}))])
  })

  it("refuses a line of 20 MB, keeps nothing of it, and reads the next line", () => {
    const decoder = new LineFraming.Decoder()
    const chunk = new Uint8Array(64 * 1024).fill(0x78)
    assert.deepStrictEqual(decoder.push(bytes(line(ping(1)))), [ping(1)])
    const messages: Array<Message.Incoming> = []
    for (let sent = 0; sent < 20 * 1024 * 1024; sent += chunk.length) {
      for (const message of decoder.push(chunk)) messages.push(message)
      assert.isAtMost(memoryOf(decoder), LineFraming.MAX_LINE_BYTES)
    }
    assert.deepStrictEqual(messages.map(shape), [parseError])
    assert.isAtMost(memoryOf(decoder), 64 * 1024)
    assert.deepStrictEqual(decoder.push(bytes("x\n" + line(ping(2)))), [ping(2)])
  })

  it("frees the memory of a long line at its end", () => {
    const decoder = new LineFraming.Decoder()
    const message = Message.notification("m", { text: "x".repeat(1024 * 1024) })
    const whole = bytes(line(message))
    assert.deepStrictEqual(decoder.push(whole.subarray(0, -1)), [])
    assert.deepStrictEqual(decoder.push(whole.subarray(-1)), [message])
    assert.isAtMost(memoryOf(decoder), 64 * 1024)
  })

  it("holds one copy of a line that arrives byte by byte", () => {
    const decoder = new LineFraming.Decoder({ maxLineBytes: 100_000 })
    const byte = bytes("x")
    const sizes = new Set<number>()
    for (let i = 0; i < 100_000; i++) {
      decoder.push(byte)
      sizes.add(memoryOf(decoder))
    }
    assert.strictEqual(Math.max(...sizes), 100_000)
    assert.isAtMost(sizes.size, 20, "copied again and again")
    assert.deepStrictEqual(decoder.push(byte).map(shape), [parseError])
  })
})

describe("the limit of values", () => {
  it("applies to each line", () => {
    const many = `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":[${"0,".repeat(100)}0]}}\n`
    const decoder = new LineFraming.Decoder({ maxNodes: 50 })
    assert.deepStrictEqual(decoder.push(bytes(many + line(ping(1)))).map(shape), [
      { kind: "request", code: JsonRpcError.INVALID_REQUEST, id: 7 },
      ping(1)
    ])
  })
})

describe("LineFraming.encode", () => {
  it("ends every message with a newline, and has no other", () => {
    const text = line(Message.notification("m", { text: "a\nb\r\n" }))
    assert.strictEqual(text.indexOf("\n"), text.length - 1)
    assert.deepStrictEqual(JSON.parse(text), Message.notification("m", { text: "a\nb\r\n" }))
  })

  it("is undefined when the message has no text", () => {
    assert.strictEqual(LineFraming.encode(Message.request(1, "m", { a: 1n })), undefined)
  })
})

const lines = FastCheck.array(FastCheck.oneof(
  FastCheck.record({ id: FastCheck.integer(), text: FastCheck.string({ unit: "grapheme" }) }).map(({ id, text }) =>
    line(Message.request(id, "m", { text }))
  ),
  FastCheck.constantFrom("\n", "\r\n", "{\n", "[]\n", "0\r\n", `{"jsonrpc":"2.0","id":1,"__proto__":1}\n`),
  FastCheck.string({ minLength: 60, maxLength: 200, unit: "grapheme" }).map((text) =>
    `"${text.replaceAll("\n", "")}"\n`
  )
))

const cuts = FastCheck.array(FastCheck.nat(), { maxLength: 30 })

const cut = (whole: Uint8Array, at: ReadonlyArray<number>): Array<Uint8Array> => {
  const places = [...at.map((place) => place % (whole.length + 1)), whole.length].sort((a, b) => a - b)
  return places.map((place, i) => whole.slice(i === 0 ? 0 : places[i - 1], place))
}

describe("decoding the same bytes, however they are cut", () => {
  it("returns the same messages", () => {
    FastCheck.assert(FastCheck.property(lines, cuts, FastCheck.boolean(), (texts, at, ended) => {
      const text = texts.join("")
      const whole = bytes(ended ? text : text.trimEnd())
      const options = { maxLineBytes: 150 }
      assert.deepStrictEqual(read(cut(whole, at), options).map(shape), read([whole], options).map(shape))
    }))
  })

  it("returns every message that was encoded", () => {
    const messages = FastCheck.array(FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue({ maxDepth: 3 })))
    FastCheck.assert(FastCheck.property(messages, cuts, (all, at) => {
      const sent = all.filter((params) => !JSON.stringify(params).includes("__proto__"))
        .map((params, i) => Message.request(i, "m", JSON.parse(JSON.stringify(params))))
      assert.deepStrictEqual<unknown>(read(cut(bytes(sent.map(line).join("")), at)), sent)
    }))
  })
})

describe("LineFraming.decode", () => {
  const text = line(ping(1)) + "bad\n" + line(ping(2)).trimEnd()

  it.effect("reads a stream of bytes, including a last line without a newline", () =>
    Effect.gen(function*() {
      const random = seededRandom(3)
      for (let i = 0; i < 20; i++) {
        const cut = pieces(bytes(text), random)
        for (const stream of [Stream.fromIterable(cut), Stream.rechunk(Stream.fromIterable(cut), 1)]) {
          const messages = yield* Stream.runCollect(LineFraming.decode(stream))
          assert.deepStrictEqual(Chunk.toReadonlyArray(messages).map(shape), [ping(1), parseError, ping(2)])
        }
      }
    }))

  it.effect("fails with the stream, after the messages before the failure", () =>
    Effect.gen(function*() {
      const broken = Stream.concat(Stream.make(bytes(line(ping(1)) + "half a li")), Stream.fail("broken"))
      const received: Array<Message.Incoming> = []
      const error = yield* Effect.flip(
        Stream.runForEach(LineFraming.decode(broken), (message) => Effect.sync(() => received.push(message)))
      )
      assert.strictEqual(error, "broken")
      assert.deepStrictEqual(received, [ping(1)])
    }))

  it.effect("starts again each time that it runs", () =>
    Effect.gen(function*() {
      const stream = LineFraming.decode(Stream.make(bytes(line(ping(1)) + "{\"half")))
      const [first, second] = [yield* Stream.runCollect(stream), yield* Stream.runCollect(stream)]
      assert.deepStrictEqual([...first].map(shape), [ping(1), parseError])
      assert.deepStrictEqual([...second].map(shape), [ping(1), parseError])
    }))
})

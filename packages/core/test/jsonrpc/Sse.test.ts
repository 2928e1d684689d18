import { assert, describe, it } from "@effect/vitest"
import * as Sse from "@effect-mcp/core/Sse"
import { FastCheck as fc } from "effect"

const bytes = (text: string) => new TextEncoder().encode(text)

const decode = (text: string | Uint8Array, options?: Sse.Options) =>
  new Sse.Decoder(options).push(typeof text === "string" ? bytes(text) : text)

const event = (event: Sse.Event): Sse.Event => ({
  event: undefined,
  id: undefined,
  retry: undefined,
  data: undefined,
  ...event
})

describe("Sse.encode", () => {
  it("writes the fields that are present, and a blank line", () => {
    assert.strictEqual(
      Sse.encode({ event: "message", id: "a-1", retry: 1000, data: "{}" }),
      "event: message\nid: a-1\nretry: 1000\ndata: {}\n\n"
    )
    assert.strictEqual(Sse.encode({ id: "a-1", data: "" }), "id: a-1\ndata: \n\n")
    assert.strictEqual(Sse.encode({ retry: 5 }), "retry: 5\n\n")
  })

  it("writes a data line for each line of the data", () => {
    assert.strictEqual(Sse.encode({ data: "a\nb\r\nc\r" }), "data: a\ndata: b\ndata: c\ndata: \n\n")
  })

  it("removes line breaks from an id, a name or a comment", () => {
    assert.strictEqual(Sse.encode({ event: "a\ndata: x", id: "1\r\n2\0" }), "event: adata: x\nid: 12\n\n")
    assert.strictEqual(Sse.comment("a\n\ndata: x"), ": a  data: x\n\n")
    assert.deepStrictEqual(decode(Sse.comment("nothing to say")), [])
  })
})

describe("Sse.Decoder", () => {
  it("reads events with every field", () => {
    assert.deepStrictEqual(decode("event: e\nid: 7\nretry: 10\ndata: a\ndata: b\n\n"), [
      event({ event: "e", id: "7", retry: 10, data: "a\nb" })
    ])
  })

  it("reads LF, CR and CRLF as the end of a line", () => {
    const expected = [event({ data: "a\nb" }), event({ data: "c" })]
    for (const end of ["\n", "\r", "\r\n"]) {
      assert.deepStrictEqual(decode(["data: a", "data: b", "", "data: c", "", ""].join(end)), expected)
    }
    assert.deepStrictEqual(decode("data: a\rdata: b\n\r\ndata: c\r\n\n"), expected)
  })

  it("distinguishes empty data from no data", () => {
    assert.deepStrictEqual(decode("id: 1\ndata: \n\nid: 2\ndata\n\nid: 3\n\nretry: 4\n\n"), [
      event({ id: "1", data: "" }),
      event({ id: "2", data: "" }),
      event({ id: "3" }),
      event({ retry: 4 })
    ])
  })

  it("drops comments, unknown fields, and blank lines between events", () => {
    assert.deepStrictEqual(decode(": hello\n\n:\n\n\n\nfoo: bar\n\ndata: a\n: in between\n\n"), [event({ data: "a" })])
  })

  it("removes one space after the colon", () => {
    assert.deepStrictEqual(decode("data:a\n\ndata:  b\n\ndata:c:d\n\n"), [
      event({ data: "a" }),
      event({ data: " b" }),
      event({ data: "c:d" })
    ])
  })

  it("ignores an id with NUL and a retry that is not a number", () => {
    assert.deepStrictEqual(decode("id: a\0b\nretry: 1.5\ndata: x\n\nretry: -1\n\n"), [event({ data: "x" })])
  })

  it("removes a byte order mark at the beginning, and only there", () => {
    assert.deepStrictEqual(decode("\uFEFFdata: a\n\ndata: \uFEFFb\n\n\uFEFFdata: c\n\n"), [
      event({ data: "a" }),
      event({ data: "\uFEFFb" })
    ])
  })

  it("does not return an event without a blank line at its end", () => {
    assert.deepStrictEqual(decode("data: a\n\ndata: b\n"), [event({ data: "a" })])
  })

  it("returns the same events however the bytes are cut", () => {
    const text = "\uFEFFid: é1\r\ndata: a€😀\r\n\r\n: c\r\rdata: b\ndata:\n\nretry: 3\r\n\r\n"
    const whole = decode(text)
    assert.lengthOf(whole, 3)
    const all = bytes(text)
    fc.assert(fc.property(fc.array(fc.nat(all.length)), (cuts) => {
      const decoder = new Sse.Decoder()
      const at = [0, ...cuts.sort((a, b) => a - b), all.length]
      const events = at.slice(1).flatMap((end, i) => decoder.push(all.slice(at[i], end)))
      assert.deepStrictEqual(events, whole)
    }))
    const decoder = new Sse.Decoder()
    assert.deepStrictEqual([...all].flatMap((byte) => decoder.push(Uint8Array.of(byte))), whole)
  })

  it("reads back what was encoded", () => {
    const line = fc.string({ unit: "binary" }).map((text) => text.replace(/[\r\n\0]/g, ""))
    fc.assert(fc.property(
      fc.record({
        event: fc.option(line, { nil: undefined }),
        id: fc.option(line, { nil: undefined }),
        retry: fc.option(fc.nat(), { nil: undefined }),
        data: fc.array(line, { minLength: 1 }).map((lines) => lines.join("\n"))
      }),
      (one) => {
        assert.deepStrictEqual(decode(Sse.encode(one)), [one])
      }
    ))
  })

  it("drops an event that is too large, reports it once, and reads the next event", () => {
    const large = "x".repeat(100)
    const texts = [
      [`data: a\n\nid: 1\ndata: ${large}\n\nid: 2\ndata: b\n\n`, large.slice(0, 53)],
      [
        `data: a\n\nid: 1\n${`data: ${large.slice(0, 20)}\n`.repeat(9)}\nid: 2\ndata: b\n\n`,
        `${large.slice(0, 20)}\n${large.slice(0, 20)}\nx`
      ]
    ] as const
    for (const [text, start] of texts) {
      const dropped = new Sse.TooLarge(64, start)
      const expected = [event({ data: "a" }), dropped, event({ id: "2", data: "b" })]
      assert.deepStrictEqual(decode(text, { maxEventBytes: 64 }), expected)
      const decoder = new Sse.Decoder({ maxEventBytes: 64 })
      assert.deepStrictEqual([...bytes(text)].flatMap((byte) => decoder.push(Uint8Array.of(byte))), expected)
    }
  })

  it("reports an event that is too large at its end, with the end of its data, when its beginning asks for that", () => {
    const text = `id: 1\ndata: {"a":"${"x".repeat(100)}","id":7}\n\ndata: b\n\n`
    const options = { maxEventBytes: 64, reportAtEnd: (start: string) => start.startsWith("{") }
    const whole = decode(text, options)
    const decoder = new Sse.Decoder(options)
    assert.deepStrictEqual([...bytes(text)].flatMap((byte) => decoder.push(Uint8Array.of(byte))), whole)
    assert.deepStrictEqual(whole[1], event({ data: "b" }))
    assert.match((whole[0] as Sse.TooLarge).start, /^\{"a":"x+$/)
    assert.match((whole[0] as Sse.TooLarge).end!, /x","id":7\}$/)
  })

  it("reports the beginning and the end of data that has many lines, without what is not data", () => {
    const lines = ["{", " \"result\": {", `"a": "${"x".repeat(200)}"`, " },", " \"id\": 7", "}"]
    const text = lines.map((line) => `data: ${line}\r\n`).join("") + "id: 1\n: comment\n\ndata: b\n\n"
    const options = { maxEventBytes: 64, reportAtEnd: (start: string) => start.startsWith("{") }
    const whole = decode(text, options)
    assert.match((whole[0] as Sse.TooLarge).start, /^\{\n "result": \{\n"a": "x+$/)
    assert.match((whole[0] as Sse.TooLarge).end!, /x"\n \},\n "id": 7\n\}$/)
    const decoder = new Sse.Decoder(options)
    assert.deepStrictEqual([...bytes(text)].flatMap((byte) => decoder.push(Uint8Array.of(byte))), whole)
  })

  it("counts the comments of an event to its size", () => {
    assert.deepStrictEqual(decode(`:${"x".repeat(100)}\n\ndata: a\n\n`, { maxEventBytes: 64 }), [
      new Sse.TooLarge(64),
      event({ data: "a" })
    ])
  })

  it("reads a large event that arrives byte by byte in linear time", () => {
    const decoder = new Sse.Decoder()
    decoder.push(bytes("data: "))
    const piece = bytes("x")
    for (let i = 0; i < 2_000_000; i++) decoder.push(piece)
    assert.strictEqual((decoder.push(bytes("\n\n"))[0] as Sse.Event).data?.length, 2_000_000)
  })
})

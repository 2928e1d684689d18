import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Effect } from "effect"

describe("A line of a transcript", () => {
  const lines: ReadonlyArray<readonly [message: unknown, line: string]> = [
    [Message.request(1, "ping"), "→ 1 ping"],
    [Message.request("1", "tools/call", { name: "echo" }), "→ \"1\" tools/call {\"name\":\"echo\"}"],
    [Message.request("", "x", {}), "→ \"\" x {}"],
    [Message.notification("notifications/initialized"), "· notifications/initialized"],
    [Message.notification("x", { a: [null] }), "· x {\"a\":[null]}"],
    [Message.success(0, {}), "← 0 {}"],
    [Message.failure(2, { code: -32601, message: "Not \"here\"" }), "✗ 2 -32601 \"Not \\\"here\\\"\""],
    [Message.failure(2, { code: 1, message: "no", data: { a: 1 } }), "✗ 2 1 \"no\" {\"a\":1}"],
    [Message.failure(undefined, { code: -32700, message: "what?" }), "✗ -32700 \"what?\""],
    [{ jsonrpc: "2.0", id: 1 }, "? {\"jsonrpc\":\"2.0\",\"id\":1}"],
    [[1, 2], "? [1,2]"],
    [{ jsonrpc: "2.0", id: null, error: {} }, "? {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}"],
    [Message.notification("x", { big: 1n }), "· x …"]
  ]

  for (const [message, line] of lines) {
    it(`renders an entry: ${line}`, () => {
      assert.strictEqual(Transcript.line({ from: "client", message: message as Message.Message }), `client ${line}`)
      assert.strictEqual(Transcript.line({ from: "server", message: message as Message.Message }), `server ${line}`)
    })
  }
})

describe("A transcript", () => {
  it("keeps the entries in order", () => {
    const transcript = Transcript.make()
    assert.strictEqual(Transcript.render(transcript), "")
    transcript.add({ from: "client", message: Message.request(1, "ping") })
    transcript.add({ from: "server", message: Message.success(1, {}) })
    assert.lengthOf(transcript.entries, 2)
    assert.strictEqual(Transcript.render(transcript), "client → 1 ping\nserver ← 1 {}")
  })

  it("drops the oldest entries beyond its limit", () => {
    const transcript = Transcript.make()
    for (let n = 0; n <= Transcript.LIMIT; n++) transcript.add({ from: "client", message: Message.request(n, "x") })
    assert.lengthOf(transcript.entries, Transcript.LIMIT)
    assert.strictEqual(Transcript.line(transcript.entries[0]!), "client → 1 x")
  })
})

describe("The JSON of a transcript", () => {
  const filled = (options?: Transcript.Options) => {
    const transcript = Transcript.make(options)
    transcript.add({ from: "client", at: 0, message: Message.request(1, "tools/call", { name: "x", note: "mine" }) })
    transcript.add({ from: "server", at: 12, message: Message.success(1, { list: [{ note: "other" }, null] }) })
    return transcript
  }

  it.effect("has one line for each message, and is read again", () =>
    Effect.gen(function*() {
      const transcript = filled()
      const json = yield* Transcript.toJson(transcript)
      assert.deepStrictEqual(json.split("\n"), [
        `{"version":1,"entries":[`,
        `{"from":"client","at":0,"message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","note":"mine"}}},`,
        `{"from":"server","at":12,"message":{"jsonrpc":"2.0","id":1,"result":{"list":[{"note":"other"},null]}}}`,
        "]}",
        ""
      ])
      assert.deepStrictEqual((yield* Transcript.fromJson(json)).entries, transcript.entries)
      assert.deepStrictEqual((yield* Transcript.fromJson(yield* Transcript.toJson(Transcript.make()))).entries, [])
    }))

  it.effect("has no secrets, whatever the option redacts, and a replay compares none", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      transcript.add({ from: "client", message: Message.request(1, "tools/call", { password: "hunter2" }) })
      const json = yield* Transcript.toJson(transcript)
      assert.include(json, `{"password":"<hidden>"}`)
      const read = yield* Transcript.fromJson(json)
      assert.deepStrictEqual(read.redact(transcript.entries[0]!.message), read.entries[0]!.message)
    }))

  it.effect("has no values that the option replaces or leaves out before the transcript keeps them", () =>
    Effect.gen(function*() {
      const redact = (key: string, value: unknown) =>
        key !== "note" ? value : value === "mine" ? { hidden: true } : undefined
      const transcript = filled({ redact })
      assert.strictEqual(
        Transcript.render(transcript),
        `client → 1 tools/call {"name":"x","note":{"hidden":true}}\nserver ← 1 {"list":[{},null]}`
      )
      const json = yield* Transcript.toJson(filled())
      assert.deepStrictEqual((yield* Transcript.fromJson(json, { redact })).entries, transcript.entries)
    }))

  const invalid: ReadonlyArray<readonly [text: string, message: string]> = [
    ["{", "The text is not a transcript: Parse error: the input is not JSON"],
    ["{}", "The text is not a transcript: version: is missing"],
    [`{"version":2,"entries":[]}`, "The transcript has the format 2, and this library reads 1: record it again"],
    [`{"version":1}`, "The text is not a transcript: entries: is missing"],
    [
      `{"version":1,"entries":[{"from":"me","message":{}}]}`,
      `The text is not a transcript: entries.0.from: Expected "client" | "server", actual "me"`
    ],
    [
      `{"version":1,"entries":[{"from":"client","message":{"jsonrpc":"1.0","method":"x"}}]}`,
      `The transcript is not valid: entries.0.message: Invalid request: "jsonrpc" must be "2.0"`
    ],
    [
      JSON.stringify({ version: 1, entries: new Array(Transcript.LIMIT + 1).fill({ from: "client", message: 1 }) }),
      "The transcript has 10001 messages, and at most 10000 can be read"
    ]
  ]

  for (const [text, message] of invalid) {
    it.effect(`is refused: ${message}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Transcript.fromJson(text))
        assert.strictEqual(error._tag, "TranscriptError")
        assert.strictEqual(error.message, message)
      }))
  }

  it.effect("is not made of a value that JSON does not have", () =>
    Effect.gen(function*() {
      const transcript = filled()
      transcript.add({ from: "client", message: Message.notification("x", { big: 1n }) })
      const { message } = yield* Effect.flip(Transcript.toJson(transcript))
      assert.strictEqual(message, "Message 3 of the transcript has no JSON: client · x …")
    }))

  it.effect("reads a message as deep as a message may be", () =>
    Effect.gen(function*() {
      let value: unknown = 1
      for (let depth = 2; depth < 64; depth++) value = { value }
      const transcript = Transcript.make()
      transcript.add({ from: "client", message: Message.notification("x", { value }) })
      const read = yield* Transcript.fromJson(yield* Transcript.toJson(transcript))
      assert.lengthOf(read.entries, 1)
    }))
})

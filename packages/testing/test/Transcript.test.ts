import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Transcript from "@effect-mcp/testing/Transcript"

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

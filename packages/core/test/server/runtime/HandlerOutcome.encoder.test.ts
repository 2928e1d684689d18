import { assert, describe, it } from "@effect/vitest"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import * as HandlerOutcome from "../../../src/server/runtime/HandlerOutcome.js"

const tools = { tools: [{ name: "a", title: "A", inputSchema: { type: "object" } }] }
const narrowed = { tools: [{ name: "a", inputSchema: { type: "object" } }] }

describe("HandlerOutcome.encoder", () => {
  it("leaves out what the client's revision does not know", () => {
    const options = { isTrusted: true, isStable: false }
    assert.deepStrictEqual(HandlerOutcome.encoder(Methods.listTools, "2024-11-05", options)(tools), {
      result: narrowed
    })
    assert.strictEqual(HandlerOutcome.encoder(Methods.listTools, "2025-11-25", options)(tools).result, tools as never)
  })

  it("checks a result that is not trusted, and encodes a wrong one as \"Internal error\"", () => {
    const encode = HandlerOutcome.encoder(Methods.callTool, "2025-11-25", { isTrusted: false, isStable: false })
    assert.deepStrictEqual(encode({ content: [] }), { result: { content: [] } })
    for (const wrong of [undefined, null, "text", [], { content: "text" }]) {
      const outcome = encode(wrong)
      assert.deepInclude(outcome.error, { code: -32603, message: "Internal error" })
      assert.include(String(outcome.error === undefined ? "" : outcome.died), `"tools/call" returned a value`)
    }
  })

  it("checks a stable result, too, unless it is trusted", () => {
    const encoder = (isTrusted: boolean) =>
      HandlerOutcome.encoder(Methods.listTools, "2025-11-25", { isTrusted, isStable: true })
    assert.deepInclude(encoder(false)({ tools: 1 }).error, { code: -32603 })
    assert.isUndefined(encoder(true)({ tools: 1 }).error)
  })

  it("encodes a stable result once for each revision", () => {
    const stable = { isTrusted: true, isStable: true }
    const old = HandlerOutcome.encoder(Methods.listTools, "2024-11-05", stable)
    const latest = HandlerOutcome.encoder(Methods.listTools, "2025-11-25", stable)
    const first = old(tools).result
    assert.deepStrictEqual(first as object, narrowed)
    assert.strictEqual(old(tools).result, first)
    assert.strictEqual(latest(tools).result, tools as never)
    assert.strictEqual(old(tools).result, first)
    const unstable = HandlerOutcome.encoder(Methods.listTools, "2024-11-05", { isTrusted: true, isStable: false })
    assert.notStrictEqual(unstable(tools).result, first)
  })
})

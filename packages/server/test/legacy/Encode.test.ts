import { assert, describe, it } from "@effect/vitest"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import { Context, Effect } from "effect"
import * as Encode from "../../src/legacy/Encode.js"
import type { Route } from "../../src/runtime/Router.js"

const route = (options: Pick<Route, "method" | "trusted"> & { readonly kept?: boolean }): Route => ({
  serve: () => ({ effect: Effect.void, context: Context.empty() }),
  ...options
})

const tools = { tools: [{ name: "a", title: "A", inputSchema: { type: "object" } }] }
const told = { tools: [{ name: "a", inputSchema: { type: "object" } }] }

describe("Say", () => {
  it("says a result in the words of the peer's revision", () => {
    const list = route({ method: Methods.listTools, trusted: true })
    assert.deepStrictEqual(Encode.result(tools, list, "2024-11-05", false), { result: told })
    assert.strictEqual(Encode.result(tools, list, "2025-11-25", false).result, tools as never)
  })

  it("looks at what is not of our own making, and says \"Internal error\" of what is no result", () => {
    const call = route({ method: Methods.callTool, trusted: false })
    assert.deepStrictEqual(Encode.result({ content: [] }, call, "2025-11-25", false), { result: { content: [] } })
    for (const wrong of [undefined, null, "text", [], { content: "text" }]) {
      const reply = Encode.result(wrong, call, "2025-11-25", false)
      assert.deepInclude(reply.error, { code: -32603, message: "Internal error" })
      assert.include(String(reply.error === undefined ? "" : reply.died), `"tools/call" returned something else`)
    }
  })

  it("looks at what is of our own making where middleware may have meddled with it", () => {
    const list = route({ method: Methods.listTools, trusted: true, kept: true })
    assert.deepInclude(Encode.result({ tools: 1 }, list, "2025-11-25", true).error, { code: -32603 })
    assert.deepStrictEqual(Encode.result({ tools: 1 }, list, "2025-11-25", false).error, undefined)
  })

  it("works out once what it says of a result that is given many times, for each revision", () => {
    const list = route({ method: Methods.listTools, trusted: true, kept: true })
    const old = Encode.result(tools, list, "2024-11-05", false).result
    assert.deepStrictEqual(old as object, told)
    assert.strictEqual(Encode.result(tools, list, "2024-11-05", false).result, old)
    assert.strictEqual(Encode.result(tools, list, "2025-11-25", false).result, tools as never)
    assert.strictEqual(Encode.result(tools, list, "2024-11-05", false).result, old)
    const plain = route({ method: Methods.listTools, trusted: true })
    assert.notStrictEqual(Encode.result(tools, plain, "2024-11-05", false).result, old)
  })
})

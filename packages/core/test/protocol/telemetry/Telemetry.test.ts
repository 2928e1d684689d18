import { assert, describe, it } from "@effect/vitest"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Telemetry from "../../../src/protocol/telemetry/Telemetry.js"

const { table } = Methods
const operation = (method: string, params?: Telemetry.Operation["params"]): Telemetry.Operation => ({
  id: 7,
  method,
  params
})

describe("A span", () => {
  it("is named after the method and the tool or prompt", () => {
    assert.strictEqual(Telemetry.spanName(operation("tools/call", { name: "search" }), table), "tools/call search")
    assert.strictEqual(Telemetry.spanName(operation("prompts/get", { name: "review" }), table), "prompts/get review")
    assert.strictEqual(Telemetry.spanName(operation("resources/read", { uri: "a:b" }), table), "resources/read")
    assert.strictEqual(Telemetry.spanName(operation("tools/call", { name: 5 }), table), "tools/call")
  })

  it("is not named after an unknown method or a name of any length", () => {
    assert.strictEqual(Telemetry.spanName(operation("made/up"), table), "_OTHER")
    assert.isBelow(Telemetry.spanName(operation("tools/call", { name: "x".repeat(1e6) }), table).length, 200)
  })

  it("has attributes of the request, and nothing of its content", () => {
    assert.deepStrictEqual(
      Telemetry.spanAttributes(
        operation("prompts/get", { name: "review", arguments: { code: "secret" } }),
        "2025-06-18",
        table
      ),
      {
        "mcp.method.name": "prompts/get",
        "mcp.protocol.version": "2025-06-18",
        "jsonrpc.request.id": "7",
        "gen_ai.prompt.name": "review"
      }
    )
    assert.deepStrictEqual(
      Telemetry.spanAttributes({ id: undefined, method: "made/up", params: undefined }, "2025-11-25", table),
      { "mcp.method.name": "_OTHER", "mcp.protocol.version": "2025-11-25" }
    )
    assert.deepInclude(
      Telemetry.spanAttributes(operation("resources/read", { uri: "file:///a" }), "2025-11-25", table),
      { "mcp.resource.uri": "file:///a" }
    )
  })
})

describe("An error", () => {
  it("has one of few names", () => {
    assert.strictEqual(Telemetry.errorOfResult({ content: [], isError: true }), "tool_error")
    assert.strictEqual(Telemetry.errorOfResult({ content: [] }), undefined)
    assert.strictEqual(Telemetry.errorOfResult(undefined), undefined)
    assert.strictEqual(Telemetry.codeOf(new McpError.InvalidParams({ message: "secret" }), "modern"), -32602)
    assert.strictEqual(Telemetry.codeOf(new Error("secret"), "modern"), undefined)
    assert.strictEqual(Telemetry.errorOfCode(-32602), "-32602")
    // A peer may make up any code.
    assert.strictEqual(Telemetry.errorOfCode(-31999), "_OTHER")
    assert.strictEqual(Telemetry.errorOfCode(undefined), "_OTHER")
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { FastCheck as fc, Option } from "effect"
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
  })
})

describe("An error", () => {
  it("has one of few names", () => {
    assert.strictEqual(Telemetry.errorOfResult({ content: [], isError: true }), "tool_error")
    assert.strictEqual(Telemetry.errorOfResult({ content: [] }), undefined)
    assert.strictEqual(Telemetry.errorOfResult(undefined), undefined)
    assert.strictEqual(Telemetry.errorOfFailure(new McpError.InvalidParams({ message: "secret" })), "InvalidParams")
    assert.strictEqual(Telemetry.errorOfFailure(new Error("secret")), "_OTHER")
  })
})

describe("`traceparent`", () => {
  const ids = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" }

  it("names the parent, sampled or not", () => {
    for (const sampled of [true, false]) {
      const found = Telemetry.parent({ traceparent: `00-${ids.traceId}-${ids.spanId}-${sampled ? "01" : "00"}` })
      assert.deepInclude(Option.getOrThrow(found), { ...ids, sampled })
    }
  })

  it("reads back the span that it names", () => {
    const span = Option.getOrThrow(Telemetry.parent({ traceparent: `00-${ids.traceId}-${ids.spanId}-01` }))
    assert.deepStrictEqual(Telemetry.inject(span), { traceparent: `00-${ids.traceId}-${ids.spanId}-01` })
  })

  for (
    const [why, traceparent] of [
      ["an id of zeros", `00-${"0".repeat(32)}-${ids.spanId}-01`],
      ["a span of zeros", `00-${ids.traceId}-${"0".repeat(16)}-01`],
      ["capitals", `00-${ids.traceId.toUpperCase()}-${ids.spanId}-01`],
      ["the version that is none", `ff-${ids.traceId}-${ids.spanId}-01`],
      ["more than this version has", `00-${ids.traceId}-${ids.spanId}-01-more`],
      ["endless length", `01-${ids.traceId}-${ids.spanId}-01-${"x".repeat(1e6)}`],
      ["no text", 5]
    ] as const
  ) {
    it(`with ${why} names no parent`, () => {
      assert.isTrue(Option.isNone(Telemetry.parent({ traceparent })))
    })
  }

  it("of a later version may be longer", () => {
    assert.isTrue(Option.isSome(Telemetry.parent({ traceparent: `01-${ids.traceId}-${ids.spanId}-01-more` })))
  })

  it("never throws, whatever a peer sends", () => {
    fc.assert(fc.property(fc.anything(), (meta) => {
      Telemetry.parent(meta)
      Telemetry.parent({ traceparent: meta })
    }))
  })
})

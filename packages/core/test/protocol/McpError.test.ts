import * as ErrorCodes from "@effect-mcp/core/protocol/ErrorCodes"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type { Era } from "@effect-mcp/core/protocol/Version"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as EffectParser from "../../src/protocol/schema/EffectParser.js"

const page = { mode: "url", elicitationId: "e1", url: "https://example.com", message: "Open" } as const

/**
 * Each error, its code in each era, and the tag that it comes back with where the era has no code for it.
 */
const errors: ReadonlyArray<
  readonly [error: McpError.McpError, legacy: number, modern: number, lost?: Partial<Record<Era, string>>]
> = [
  [new McpError.ParseError({ message: "Parse error" }), -32700, -32700],
  [new McpError.InvalidRequest({ message: "no" }), -32600, -32600],
  [new McpError.InvalidRequest({ message: "no", data: { why: 1 } }), -32600, -32600],
  [new McpError.MethodNotFound({ method: "tools/x" }), -32601, -32601],
  [new McpError.MethodNotFound({ method: "tools/x", data: { reason: "no tools" } }), -32601, -32601],
  [new McpError.InvalidParams({ message: "q: is missing", data: [1] }), -32602, -32602],
  [new McpError.InternalError({ message: "Internal error" }), -32603, -32603],
  [new McpError.ResourceNotFound({ uri: "file:///x" }), -32002, -32602],
  [new McpError.UnsupportedVersion({ requested: "1", supported: ["2026-07-28"] }), -32602, -32022],
  [new McpError.MissingClientCapability({ required: { elicitation: { url: {} } } }), -32600, -32021],
  [new McpError.HeaderMismatch({ message: "Mcp-Name is missing" }), -32600, -32020, { legacy: "InvalidRequest" }],
  [new McpError.UrlElicitationRequired({ elicitations: [page] }), -32042, -32603, { modern: "InternalError" }],
  [new McpError.PeerError({ code: ErrorCodes.USER_REJECTED, message: "User rejected" }), -1, -1],
  [new McpError.PeerError({ code: 42, message: "own", data: { a: 1 } }), 42, 42]
]

const members = (error: McpError.McpError) => ({ ...error, message: error.message })

describe("McpError", () => {
  for (const era of ["legacy", "modern"] as const) {
    for (const [error, legacy, modern, lost] of errors) {
      const code = era === "legacy" ? legacy : modern
      it(`${error._tag} is ${code} in the ${era} era and comes back as ${lost?.[era] ?? "itself"}`, () => {
        const wire = McpError.toWire(error, era)
        expect(wire.code).toBe(code)
        expect(wire.message).not.toBe("")
        const back = McpError.fromWire(JSON.parse(JSON.stringify(wire)) as typeof wire)
        expect(back._tag).toBe(lost?.[era] ?? error._tag)
        if (lost?.[era] === undefined) expect(members(back)).toEqual(members(error))
        expect(McpError.toWire(back, era).code).toBe(code)
      })
    }
  }

  it("MUST NOT send -32002, -32042 or an undefined reserved code in the modern era", () => {
    const defined = [-32020, -32021, -32022]
    for (const [error] of errors) {
      const { code } = McpError.toWire(error, "modern")
      expect(code <= -32000 && code >= -32099 && !defined.includes(code), `${code}`).toBe(false)
    }
  })

  it("keeps the message of the peer about URLs to elicit", () => {
    const error = new McpError.UrlElicitationRequired({ elicitations: [page], message: "Sign in first" })
    const wire = McpError.toWire(error, "legacy")
    expect(wire).toEqual({ code: -32042, message: "Sign in first", data: { elicitations: [page] } })
    expect(McpError.fromWire(wire).message).toBe("Sign in first")
    expect(McpError.fromWire(wire)).toEqual(error)
  })

  it("sends no URLs to elicit to a modern peer", () => {
    const error = new McpError.UrlElicitationRequired({ elicitations: [page] })
    expect(McpError.toWire(error, "modern")).toEqual({ code: -32603, message: "URL elicitation required" })
  })

  it.each([
    [{ code: -32002, message: "Resource not found" }],
    [{ code: -32002, message: "Resource not found", data: { uri: 5 } }],
    [{ code: -32042, message: "Open", data: { elicitations: [{ mode: "url" }] } }],
    [{ code: -32042, message: "Open", data: { elicitations: "x" } }],
    [{ code: -32021, message: "No", data: { requiredCapabilities: [] } }],
    [{ code: -32022, message: "No", data: { supported: [1], requested: "x" } }],
    [{ code: -32022, message: "No", data: null }],
    [{ code: -32001, message: "MUST NOT assume a meaning" }],
    [{ code: -32019, message: "MUST NOT assume a meaning" }]
  ])("keeps all of %j as a PeerError", (wire) => {
    const error = McpError.fromWire(wire)
    expect(error._tag).toBe("PeerError")
    expect(McpError.toWire(error, "modern")).toEqual({ data: undefined, ...wire })
  })

  it("SHOULD accept both codes of a missing resource", () => {
    for (const code of [-32002, -32602]) {
      expect(McpError.fromWire({ code, message: "x", data: { uri: "a:b" } })._tag).toBe("ResourceNotFound")
    }
  })

  it.each([
    [{ code: -32601, message: "Method not found: a/b" }, "a/b", "Method not found: a/b"],
    [{ code: -32601, message: "no", data: "a/b" }, "a/b", "Method not found: a/b"],
    [{ code: -32601, message: "no" }, "", "Method not found"]
  ])("reads the unknown method from %j", (wire, method, message) => {
    expect(McpError.fromWire(wire)).toMatchObject({ _tag: "MethodNotFound", method, message })
  })

  it("does not let a peer set members of the error itself", () => {
    const data = { requested: "1", supported: ["2"], _tag: "ParseError", message: "x", stack: "y", uri: 1 }
    const error = McpError.fromWire({ code: -32022, message: "no", data })
    expect(members(error)).toEqual({
      _tag: "UnsupportedVersion",
      requested: "1",
      supported: ["2"],
      message: "Unsupported protocol version: 1; supported: 2"
    })
  })

  it("names the first of the required capabilities, however many a peer sends and however long they are", () => {
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`${i}`, {}]))
    const requiredCapabilities = { tools: { call: {} }, ["x".repeat(1_000_000)]: many }
    const { message } = McpError.fromWire({ code: -32021, message: "no", data: { requiredCapabilities } })
    expect(message).toMatch(/^The client lacks a required capability: tools\.call, x+…, /)
    expect(message.length).toBeLessThan(5000)
  })

  it("recognizes its own classes", () => {
    for (const [error] of errors) expect(McpError.isMcpError(error)).toBe(true)
    expect(McpError.isMcpError({ _tag: "InvalidParams", message: "x" })).toBe(false)
  })

  it("reports where parameters do not conform", () => {
    const refused = Either.flip(EffectParser.decodeUnknownEither(Schema.Struct({ q: Schema.String }))({ q: 1 }))
    const error = McpError.ofIssue(Either.getOrThrow(refused))
    expect(McpError.toWire(error, "legacy")).toEqual({
      code: -32602,
      message: "Invalid params: q: Expected string, actual 1",
      data: { issues: [{ path: "q", message: "Expected string, actual 1" }] }
    })
  })
})

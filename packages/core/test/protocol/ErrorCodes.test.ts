import { codes } from "@effect-mcp/core/protocol/ErrorCodes"
import { describe, expect, it } from "vitest"

describe("ErrorCodes", () => {
  it("has a code for the same errors in both eras", () => {
    expect(Object.keys(codes.modern).sort()).toEqual(Object.keys(codes.legacy).sort())
  })

  it("agrees on the codes of JSON-RPC", () => {
    const jsonRpc = { ParseError: -32700, InvalidRequest: -32600, MethodNotFound: -32601, InvalidParams: -32602 }
    for (const era of [codes.legacy, codes.modern]) expect(era).toMatchObject({ ...jsonRpc, InternalError: -32603 })
  })

  it("has the codes that MCP adds", () => {
    expect(codes.legacy).toMatchObject({ ResourceNotFound: -32002, UrlElicitationRequired: -32042 })
    expect(codes.modern).toMatchObject({
      HeaderMismatch: -32020,
      MissingClientCapability: -32021,
      UnsupportedVersion: -32022
    })
  })

  it("MUST NOT have a code of the legacy era in the modern one", () => {
    for (const code of [-32002, -32042]) expect(Object.values(codes.modern)).not.toContain(code)
  })
})

import { keys } from "@effect-mcp/core/protocol/Meta"
import * as Headers from "@effect-mcp/core/protocol/modern/Headers"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import * as MessageParts from "../MessageParts.js"

/** The vectors of the specification, and of SEP-2243. */
const vectors = [
  ["us-west1", "us-west1"],
  ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
  [" padded ", "=?base64?IHBhZGRlZCA=?="],
  ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
  ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ["us west 1", "us west 1"],
  ["", ""],
  ["日本語", "=?base64?5pel5pys6Kqe?="],
  ["line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="],
  ["\tindented", "=?base64?CWluZGVudGVk?="],
  [" us-west1", "=?base64?IHVzLXdlc3Qx?="],
  ["us-west1 ", "=?base64?dXMtd2VzdDEg?="],
  [" us-west1 ", "=?base64?IHVzLXdlc3QxIA==?="]
] as const

describe("a value in a header", () => {
  it.each(vectors)("MUST be written: %j as %j", (value, header) => {
    expect(Headers.encode(value)).toBe(header)
    expect(Headers.decode(header)).toEqual(Option.some(value))
  })

  it.each([
    ["=?base64?SGVsbG8=?=", "Hello"],
    ["SGVsbG8=", "SGVsbG8="],
    ["=?base64?SGVsbG8=", "=?base64?SGVsbG8="],
    ["=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="],
    ["SGVsbG8=?=", "SGVsbG8=?="],
    ["=?base64?=", "=?base64?="],
    ["=?base64??=", ""],
    ["  us-west1\t", "us-west1"]
  ])("decodes %j to %j", (header, value) => expect(Headers.decode(header)).toEqual(Option.some(value)))

  it.each([
    "=?base64?SGVsbG8?=",
    "=?base64?SGVs!!!bG8=?=",
    "=?base64?SGVsbG9=?=",
    "=?base64?/w==?=",
    "=?base64? SGVsbG8=?=",
    "caf\u00e9",
    "a\u0000b",
    "a\nb",
    "a\tb"
  ])("MUST be refused: %j", (header) => expect(Headers.decode(header)).toEqual(Option.none()))

  it("decodes to what was encoded, and is plain ASCII", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.fullUnicodeString(), (value) => {
        const header = Headers.encode(value)
        expect(header).toMatch(/^(?:[!-~](?:[ -~]*[!-~])?)?$/)
        expect(Headers.decode(header)).toEqual(Option.some(value))
      }),
      { seed: MessageParts.seed, numRuns: 2000 }
    )
  })

  it("never throws", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string16bits(), (value) => {
        Headers.decode(value)
        Headers.encode(value)
      }),
      { seed: MessageParts.seed, numRuns: 2000 }
    )
  })
})

const _meta = { [keys.protocolVersion]: "2026-07-28" }
const call = { method: "tools/call", params: { name: "Hello, 世界", _meta } }
const right = {
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "=?base64?SGVsbG8sIOS4lueVjA==?="
}

const check = (body: Headers.Body, headers: Readonly<Record<string, string>>) =>
  Headers.check(body, (name) => headers[name])

describe("the headers of a request", () => {
  it("MUST repeat its version, its method and its name", () => {
    expect(Headers.make(call)).toEqual({
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/call",
      "Mcp-Name": "=?base64?SGVsbG8sIOS4lueVjA==?="
    })
    expect(Headers.make({ method: "notifications/cancelled", params: { requestId: 1 } })).toEqual({
      "Mcp-Method": "notifications/cancelled"
    })
  })

  it.each([
    [{ method: "tools/call", params: { name: "x" } }, "x"],
    [{ method: "prompts/get", params: { name: "x" } }, "x"],
    [{ method: "resources/read", params: { uri: "a:b" } }, "a:b"],
    [{ method: "resources/read", params: { name: "x" } }, undefined],
    [{ method: "tools/call", params: { name: 5 } }, undefined],
    [{ method: "tools/call" }, undefined],
    [{ method: "tools/list", params: { name: "x" } }, undefined]
  ])("have the name of %j: %s", (body, name) => expect(Headers.nameOf(body)).toBe(name))

  it("are accepted when they agree with the body", () => {
    expect(check(call, right)).toEqual(Either.right(undefined))
    expect(check(call, { ...right, "mcp-method": " tools/call\t" })).toEqual(Either.right(undefined))
    expect(
      check({ method: "tools/list", params: { _meta } }, { ...right, "mcp-method": "tools/list", "mcp-name": "x" })
    )
      .toEqual(Either.right(undefined))
    const plain = { method: "tools/call", params: { name: "x", _meta } }
    expect(check(plain, { ...right, "mcp-name": "=?base64?eA==?=" })).toEqual(Either.right(undefined))
  })

  it.each([
    ["mcp-protocol-version", undefined],
    ["mcp-protocol-version", "2025-11-25"],
    ["mcp-method", undefined],
    ["mcp-method", "Tools/Call"],
    ["mcp-method", "tools/list"],
    ["mcp-name", undefined],
    ["mcp-name", "Hello"],
    ["mcp-name", "=?base64?SGVsbG8?="],
    ["mcp-name", ""]
  ])("MUST be refused when %s is %j", (name, value) => {
    const { [name as "mcp-name"]: _, ...rest } = right
    const found = check(call, value === undefined ? rest : { ...rest, [name]: value })
    expect(Either.getOrThrow(Either.flip(found))).toMatchObject({
      _tag: "HeaderMismatch",
      message: expect.stringMatching(new RegExp(`${name}.*${value === undefined ? "missing" : "differs"}`, "i"))
    })
  })
})

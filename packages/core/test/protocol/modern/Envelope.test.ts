import * as McpError from "@effect-mcp/core/protocol/McpError"
import { keys } from "@effect-mcp/core/protocol/Meta"
import * as Envelope from "@effect-mcp/core/protocol/modern/Envelope"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"

const VERSION = keys.protocolVersion
const CLIENT = keys.clientCapabilities

const good = { [VERSION]: "2026-07-28", [CLIENT]: { sampling: {} } }

const refusal = (params: unknown, supported?: ReadonlyArray<string>) =>
  McpError.toWire(Either.getOrThrow(Either.flip(Envelope.decode(params as {}, supported))), "modern")

describe("reading an envelope", () => {
  it("returns the revision, the client and its capabilities", () => {
    expect(Either.getOrThrow(Envelope.decode({ name: "x", _meta: good }))).toEqual({
      version: "2026-07-28",
      capabilities: { sampling: {} },
      clientInfo: undefined,
      logLevel: undefined
    })
    const clientInfo = { name: "c", version: "1" }
    expect(Either.getOrThrow(Envelope.decode({
      _meta: { ...good, [keys.clientInfo]: clientInfo, [keys.logLevel]: "error", traceparent: "00-0-0-00" }
    }))).toMatchObject({ clientInfo, logLevel: "error" })
  })

  it.each<[what: unknown, message: string]>([
    [undefined, "_meta must be an object"],
    [{}, "_meta must be an object"],
    [{ _meta: null }, "_meta must be an object"],
    [{ _meta: [] }, "_meta must be an object"],
    [{ _meta: {} }, `_meta lacks ${VERSION} and ${CLIENT}`],
    [{ _meta: { [CLIENT]: {} } }, `_meta lacks ${VERSION}`],
    [{ _meta: { [VERSION]: "2026-07-28" } }, `_meta lacks ${CLIENT}`],
    [{ _meta: { ...good, [VERSION]: 5 } }, `_meta.${VERSION} must be a string`],
    [{ _meta: { ...good, [VERSION]: null } }, `_meta.${VERSION} must be a string`],
    [{ _meta: { ...good, [CLIENT]: null } }, `_meta.${CLIENT}: `],
    [{ _meta: { ...good, [CLIENT]: { roots: 1 } } }, `_meta.${CLIENT}.roots: `],
    [{ _meta: { ...good, [keys.clientInfo]: { name: "x" } } }, `_meta.${keys.clientInfo}.version: is missing`],
    [{ _meta: { ...good, [keys.logLevel]: "loud" } }, `_meta.${keys.logLevel}: `],
    [{ _meta: { ...good, [keys.progressToken]: 1.5 } }, `_meta.${keys.progressToken}: `]
  ])("MUST refuse %j with -32602", (params, message) => {
    const wire = refusal(params)
    expect(wire.code).toBe(-32602)
    expect(wire.message).toContain(message)
  })

  it.each(["2025-11-25", "2030-01-01", "", "__proto__"])("MUST refuse revision %j with -32022", (version) => {
    expect(refusal({ _meta: { ...good, [VERSION]: version } }, ["2026-07-28"])).toMatchObject({
      code: -32022,
      data: { requested: version, supported: ["2026-07-28"] }
    })
  })

  it("does not check the rest of a later revision's envelope", () => {
    expect(refusal({ _meta: { [VERSION]: "2030-01-01", [CLIENT]: "all" } }).code).toBe(-32022)
  })

  it("MUST refuse a revision that the server does not support", () => {
    expect(refusal({ _meta: good }, ["2025-11-25"]).code).toBe(-32022)
  })

  it("returns the named revision, if one is", () => {
    expect(Envelope.versionOf({ _meta: good })).toBe("2026-07-28")
    for (const params of [undefined, {}, { _meta: null }, { _meta: { [VERSION]: 1 } }]) {
      expect(Envelope.versionOf(params)).toBeUndefined()
    }
  })
})

describe("writing an envelope", () => {
  const write = Envelope.writer({
    version: "2026-07-28",
    capabilities: { roots: {} },
    clientInfo: { name: "c", version: "1" },
    logLevel: "info"
  })

  it("MUST add the envelope to every request", () => {
    const params = write({ name: "x", _meta: { progressToken: 1, [VERSION]: "1999-01-01" } })
    expect(params).toEqual({
      name: "x",
      _meta: {
        progressToken: 1,
        [VERSION]: "2026-07-28",
        [CLIENT]: { roots: {} },
        [keys.clientInfo]: { name: "c", version: "1" },
        [keys.logLevel]: "info"
      }
    })
    expect(Either.isRight(Envelope.decode(params))).toBe(true)
  })

  it("adds the same object to every request without a _meta", () => {
    expect(write({ a: 1 })._meta).toBe(write({ b: 2 })._meta)
  })

  it("leaves out what the client does not set", () => {
    const bare = Envelope.writer({ version: "2026-07-28", capabilities: {} })
    expect(bare({})).toEqual({ _meta: { [VERSION]: "2026-07-28", [CLIENT]: {} } })
  })
})

/**
 * Messages of the wrong era: what a legacy peer says to a modern one, and the other way round, each judged by us and by the
 * official schemas.
 */
import * as Era from "@effect-mcp/protocol/Era"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Envelope from "@effect-mcp/protocol/modern/Envelope"
import * as Version from "@effect-mcp/protocol/Version"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as Canonical from "./Canonical.js"
import * as Sayings from "./Sayings.js"

const at = (saying: Sayings.Saying, parts: Readonly<Record<string, readonly [unknown, unknown?]>>) =>
  parts[saying.method.name]?.[saying.part === "params" ? 0 : 1]

describe("a message of the other era", () => {
  for (const saying of Sayings.modern) {
    const value = at(saying, Canonical.legacy)
    if (value === undefined) continue
    const official = saying.judge(value, saying.version, { formats: false }) === undefined
    // An older server says neither the kind of its results nor for how long they may be kept.
    const taken = official || saying.part === "result"
    it(`said to a modern peer: ${saying.title} is ${taken ? "taken" : "refused"}`, () => {
      expect(Either.isRight(saying.decode(value))).toBe(taken)
    })
  }

  for (const saying of Sayings.legacy) {
    const value = at(saying, Canonical.modern)
    if (value === undefined) continue
    // One vocabulary reads all: what the last revision knows is taken from a peer of any.
    it(`said to a legacy peer: ${saying.title} is as ${Version.latestLegacy} has it`, () => {
      expect(Either.isRight(saying.decode(value)))
        .toBe(saying.judge(value, Version.latestLegacy, { formats: false }) === undefined)
    })
  }

  it("is told at the door, whatever its method", () => {
    for (const [method, [params]] of Object.entries(Canonical.legacy)) {
      expect(Era.ofMessage({ method, params })).toBe("legacy")
      const refused = Either.getOrThrow(Either.flip(Envelope.decode(params)))
      expect(McpError.toWire(refused, "modern").code, method).toBe(-32602)
    }
    for (const [method, [params]] of Object.entries(Canonical.modern)) {
      if (method.startsWith("notifications/")) continue
      expect(Era.ofMessage({ method, params }), method).toBe("modern")
      expect(Either.getOrThrow(Envelope.decode(params)).version).toBe(Version.latestModern)
    }
  })
})

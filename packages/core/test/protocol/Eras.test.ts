/**
 * Messages of the wrong era: legacy messages sent to a modern peer, and modern ones to a legacy peer, each judged by
 * this package and by the official schemas.
 */
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Envelope from "@effect-mcp/core/protocol/modern/Envelope"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as Canonical from "./Canonical.js"
import * as MessageParts from "./MessageParts.js"

const at = (messagePart: MessageParts.MessagePart, parts: Readonly<Record<string, readonly [unknown, unknown?]>>) =>
  parts[messagePart.method.name]?.[messagePart.part === "params" ? 0 : 1]

describe("a message of the other era", () => {
  for (const messagePart of MessageParts.modern) {
    const value = at(messagePart, Canonical.legacy)
    if (value === undefined) continue
    const official = messagePart.judge(value, messagePart.version, { formats: false }) === undefined
    // An older server sends neither the type of its results nor caching hints.
    const accepted = official || messagePart.part === "result"
    it(`sent to a modern peer: ${messagePart.title} is ${accepted ? "accepted" : "refused"}`, () => {
      expect(Either.isRight(messagePart.decode(value))).toBe(accepted)
    })
  }

  for (const messagePart of MessageParts.legacy) {
    const value = at(messagePart, Canonical.modern)
    if (value === undefined) continue
    // One vocabulary decodes all legacy revisions: a field of the latest is accepted from a peer of any.
    it(`sent to a legacy peer: ${messagePart.title} is judged as ${Version.latestLegacy} has it`, () => {
      expect(Either.isRight(messagePart.decode(value)))
        .toBe(messagePart.judge(value, Version.latestLegacy, { formats: false }) === undefined)
    })
  }

  it("is classified by its envelope, whatever its method", () => {
    for (const [method, [params]] of Object.entries(Canonical.legacy)) {
      expect(Version.eraOfMessage({ method, params })).toBe("legacy")
      const refused = Either.getOrThrow(Either.flip(Envelope.decode(params)))
      expect(McpError.toWire(refused, "modern").code, method).toBe(-32602)
    }
    for (const [method, [params]] of Object.entries(Canonical.modern)) {
      if (method.startsWith("notifications/")) continue
      expect(Version.eraOfMessage({ method, params }), method).toBe("modern")
      expect(Either.getOrThrow(Envelope.decode(params)).version).toBe(Version.latestModern)
    }
  })
})

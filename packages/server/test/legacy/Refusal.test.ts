import { assert, describe, it } from "@effect/vitest"
import type { HttpRefusal } from "@effect-mcp/server/HttpRefusal"
import * as Refusal from "../../src/legacy/Refusal.js"

describe("Refusal", () => {
  it("names what is wrong, and what is allowed", () => {
    const rows: ReadonlyArray<[HttpRefusal, number, string]> = [
      [Refusal.unknownSession, 404, "initialize"],
      [Refusal.secondStream, 409, "Last-Event-ID"],
      [Refusal.noSession, 400, "Mcp-Session-Id"],
      [Refusal.unsupportedVersion("x", ["y", "z"]), 400, "Unsupported protocol version: x (supported versions: y, z)"],
      [Refusal.unknownEvent("x"), 400, "without Last-Event-ID"],
      [Refusal.tooManySessions(3), 503, "3 sessions"],
      [Refusal.noSseSession, 400, "sessionId"],
      [Refusal.unknownSseSession, 404, "open a new one with GET"]
    ]
    for (const [refusal, status, part] of rows) {
      assert.strictEqual(refusal.status, status)
      assert.include(refusal.message, part)
    }
  })
})

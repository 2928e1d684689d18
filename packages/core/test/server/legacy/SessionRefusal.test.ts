import { assert, describe, it } from "@effect/vitest"
import type { HttpRefusal } from "@effect-mcp/core/HttpRefusal"
import * as SessionRefusal from "../../../src/server/legacy/SessionRefusal.js"

describe("Refusal", () => {
  it("names what is wrong, and what is allowed", () => {
    const rows: ReadonlyArray<[HttpRefusal, number, string]> = [
      [SessionRefusal.unknownSession, 404, "initialize"],
      [SessionRefusal.secondStream, 409, "Last-Event-ID"],
      [SessionRefusal.noSession, 400, "Mcp-Session-Id"],
      [
        SessionRefusal.unsupportedVersion("x", ["y", "z"]),
        400,
        "Unsupported protocol version: x (supported versions: y, z)"
      ],
      [SessionRefusal.unknownEvent("x"), 400, "without Last-Event-ID"],
      [SessionRefusal.tooManySessions(3), 503, "3 sessions"],
      [SessionRefusal.noSseSession, 400, "sessionId"],
      [SessionRefusal.unknownSseSession, 404, "open a new stream with GET"]
    ]
    for (const [refusal, status, part] of rows) {
      assert.strictEqual(refusal.status, status)
      assert.include(refusal.message, part)
    }
  })
})

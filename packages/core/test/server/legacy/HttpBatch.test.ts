import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as HttpBatch from "../../../src/server/legacy/HttpBatch.js"

const ping = Message.request(1, "ping")

describe("HttpBatch.refusal", () => {
  const why = (batch: ReadonlyArray<unknown>, version?: Parameters<typeof HttpBatch.refusal>[1]) =>
    HttpBatch.refusal(batch, version)?.error

  it("accepts one to a hundred messages", () => {
    assert.match(why([], "2025-03-26")!.message, /empty/)
    assert.isUndefined(why(Array(100).fill(ping), "2025-03-26"))
    assert.match(why(Array(101).fill(ping), "2025-03-26")!.message, /101 messages; at most 100 are allowed/)
  })
})

describe("HttpBatch.requests", () => {
  it("finds requests, well formed or not, and nothing else", () => {
    assert.strictEqual(
      HttpBatch.requests([
        ping,
        Message.notification("notifications/initialized"),
        Message.success(1, {}),
        Message.failure(2, { code: 1, message: "no" }),
        { id: 3 },
        { jsonrpc: "2.0", id: null, method: "ping" },
        { jsonrpc: "1.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", id: 1, result: 1 },
        [ping],
        7
      ]).length,
      5
    )
    assert.strictEqual(HttpBatch.requests([]).length, 0)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { HttpRefusal } from "@effect-mcp/core/HttpRefusal"
import * as Message from "@effect-mcp/core/Message"
import * as Refusal from "../../../src/server/http/Refusal.js"
import { TestExchange } from "./TestExchange.js"

const exchange = () => new TestExchange("POST", "/mcp", {})

describe("Refusal", () => {
  it("is a status and a JSON-RPC error without an id", () => {
    const one = exchange()
    Refusal.send(one, Refusal.badRequest("too bad"))
    assert.strictEqual(one.status, 400)
    assert.deepStrictEqual(one.sent, { "content-type": "application/json" })
    assert.deepStrictEqual(one.json, { jsonrpc: "2.0", error: { code: -32600, message: "Bad Request: too bad" } })
  })

  it("sends its headers, except its own content-type", () => {
    const one = exchange()
    Refusal.send(
      one,
      new HttpRefusal({
        status: 401,
        headers: { "www-authenticate": "Bearer", "content-type": "text/html" },
        error: { code: -32001, message: "no", data: { a: 1 } }
      })
    )
    assert.deepStrictEqual(one.sent, { "www-authenticate": "Bearer", "content-type": "application/json" })
    assert.deepStrictEqual(one.json.error.data, { a: 1 })
  })

  it("has the id of a request that was read", () => {
    const one = exchange()
    Refusal.failure(one, 400, Message.failure(7, { code: -32600, message: "no" }))
    assert.strictEqual(one.json.id, 7)
  })

  it("names what is wrong, and what is allowed", () => {
    const rows: ReadonlyArray<[HttpRefusal, number, string]> = [
      [Refusal.forbidden("Host", undefined), 403, "missing"],
      [Refusal.forbidden("Origin", "x"), 403, "\"x\""],
      [Refusal.notFound("/x"), 404, "\"/x\""],
      [Refusal.methodNotAllowed("PUT", "GET, POST"), 405, "GET, POST"],
      [Refusal.notAcceptable("text/event-stream"), 406, "text/event-stream"],
      [Refusal.unsupportedMediaType, 415, "application/json"],
      [Refusal.ofBody({ fault: "size" }, 7), 413, "7 bytes"],
      [Refusal.ofBody({ fault: "encoding" }, 7), 400, "UTF-8"],
      [Refusal.ofBody({ fault: "unreadable" }, 7), 400, "cannot be read"],
      [Refusal.ofBody({ fault: "taken" }, 7), 500, "pass the body on"],
      [Refusal.ofBody({ fault: "time" }, 7), 408, "did not arrive in time"],
      [Refusal.ofBody({ fault: "sum" }, 7), 503, "together are too large"],
      [Refusal.failed, 500, "Internal error"],
      [Refusal.closing, 503, "closing"]
    ]
    for (const [refusal, status, part] of rows) {
      assert.strictEqual(refusal.status, status)
      assert.include(refusal.message, part)
    }
    assert.strictEqual(Refusal.methodNotAllowed("PUT", "GET").headers?.allow, "GET")
  })
})

import * as Headers from "@effect/platform/Headers"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { HttpConnection } from "../../src/http/HttpConnection.js"
import { HttpSession, isUnknownSession, versionOf } from "../../src/legacy/HttpSession.js"

const url = new URL("http://server.test/mcp")
const make = () =>
  new HttpSession({
    url,
    request: (method: "POST", headers: Record<string, string>, url: URL) =>
      HttpClientRequest.make(method)(url, { headers })
  } as unknown as HttpConnection)

const agree = (session: HttpSession, protocolVersion: unknown) => session.agree(Message.success(1, { protocolVersion }))

describe("HttpSession", () => {
  it("MUST name itself and the revision in every request but the one that begins it", () => {
    const session = make()
    assert.isUndefined(session.accept(Headers.fromInput({ "mcp-session-id": "s!~1" })))
    agree(session, "2025-06-18")
    const both = { "mcp-session-id": "s!~1", "mcp-protocol-version": "2025-06-18" }
    for (const request of [session.post("{}"), session.get(undefined), session.get("7"), session.delete()]) {
      assert.deepInclude(request.headers, both)
    }
    const opening = session.post("{}", true)
    assert.notProperty(opening.headers, "mcp-session-id")
    assert.notProperty(opening.headers, "mcp-protocol-version")
  })

  it("says from where to read on", () => {
    assert.strictEqual(make().get("7").headers["last-event-id"], "7")
    assert.notProperty(make().get(undefined).headers, "last-event-id")
  })

  it("takes only ids of visible ASCII, and goes without one where there is none", () => {
    for (const id of ["", " ", "a b", "a\u007f", "é", "x".repeat(1025)]) {
      const session = make()
      assert.isString(session.accept(Headers.fromInput({ "mcp-session-id": id })))
      assert.isUndefined(session.id)
    }
    const session = make()
    session.use("s-1")
    assert.isUndefined(session.accept(Headers.empty))
    assert.isUndefined(session.id)
  })

  it("takes only revisions that a header can hold", () => {
    for (const version of [undefined, 1, "", "a b", "a\r\nb: c", "x".repeat(65)]) {
      const session = make()
      agree(session, version)
      assert.isUndefined(session.version)
    }
    assert.isUndefined(versionOf(Message.failure(1, { code: 1, message: "" })))
  })

  it("is unknown when an answer has the code for it", () => {
    assert.isTrue(isUnknownSession(Message.failure(1, { code: -32001, message: "Session not found" })))
    assert.isFalse(isUnknownSession(Message.failure(1, { code: -32601, message: "" })))
    assert.isFalse(isUnknownSession(Message.success(1, {})))
  })

  it("has batches at 2025-03-26 only", () => {
    for (const [version, has] of [["2025-03-26", true], ["2025-06-18", false], ["2024-11-05", false]] as const) {
      const session = make()
      assert.isFalse(session.takesBatches)
      agree(session, version)
      assert.strictEqual(session.takesBatches, has)
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as SessionId from "../../../src/server/http/SessionId.js"

describe("SessionId.make", () => {
  it("makes unique ids of visible ASCII", () => {
    const ids = Array.from({ length: 10_000 }, SessionId.make)
    assert.strictEqual(new Set(ids).size, 10_000)
    for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/)
  })
})

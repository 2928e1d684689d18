import { assert, describe, it } from "@effect/vitest"
import { HintsRead, least } from "../../src/upstream/ListedHints.js"

describe("The hints of the lists of an upstream", () => {
  it("are the least of the hints of all pages of a list", () => {
    const read = new HintsRead()
    read.see("tools/list", { ttlMs: 5000, cacheScope: "public" })
    read.see("tools/list", { ttlMs: 1000, cacheScope: "private" })
    read.see("tools/list", { ttlMs: 9000, cacheScope: "public" })
    read.see("prompts/list", { ttlMs: 9000, cacheScope: "public" })
    const hints = read.take()
    assert.deepStrictEqual(hints.get("tools/list"), { ttlMs: 1000, cacheScope: "private" })
    assert.deepStrictEqual(hints.get("prompts/list"), { ttlMs: 9000, cacheScope: "public" })
  })

  it("are forgotten once they were taken: the next reading of a list has hints of its own", () => {
    const read = new HintsRead()
    read.see("tools/list", { ttlMs: 0, cacheScope: "private" })
    read.take()
    read.see("tools/list", { ttlMs: 9000, cacheScope: "public" })
    assert.deepStrictEqual(read.take().get("tools/list"), { ttlMs: 9000, cacheScope: "public" })
    assert.strictEqual(read.take().size, 0)
  })

  it("are the least of all sessions with the upstream that have hints", () => {
    const hints = (ttlMs: number) => new Map([["tools/list", { ttlMs, cacheScope: "public" as const }]])
    assert.deepStrictEqual(least([hints(5), new Map(), hints(3)], "tools/list"), { ttlMs: 3, cacheScope: "public" })
    assert.strictEqual(least([new Map()], "tools/list"), undefined)
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as MethodHints from "../../src/server/runtime/MethodHints.js"

describe("CacheOptions", () => {
  it("the options of a method come before those of all methods", () => {
    const options = { ttl: "1 minute", scope: "public", methods: { "tools/list": { ttl: "1 second" } } } as const
    assert.deepStrictEqual(MethodHints.ofMethod(options, "tools/list"), { ttlMs: 1000, cacheScope: "public" })
    assert.deepStrictEqual(MethodHints.ofMethod(options, "prompts/list"), { ttlMs: 60_000, cacheScope: "public" })
    assert.deepStrictEqual(MethodHints.ofMethod(undefined, "tools/list"), {})
  })
})

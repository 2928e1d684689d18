import { assert, describe, it } from "@effect/vitest"
import * as MediaType from "../../../src/client/http/MediaType.js"

describe("MediaType", () => {
  it("is the type itself, whatever its parameters and its case", () => {
    for (
      const [given, type] of [
        ["application/json", "application/json"],
        ["text/event-stream", "text/event-stream"],
        ["Application/JSON; charset=utf-8", "application/json"],
        [" text/event-stream ;a=b;c", "text/event-stream"],
        ["application/json-seq", "application/json-seq"],
        ["", ""],
        [undefined, ""]
      ] as const
    ) {
      assert.strictEqual(MediaType.of(given), type)
    }
  })
})

import * as Pagination from "@effect-mcp/core/protocol/Pagination"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"

describe("Pagination", () => {
  it("accepts any string as a cursor, and nothing else", () => {
    const is = SchemaCheck.compile(Pagination.PaginatedParams)
    expect([{}, { cursor: "" }, { cursor: "x" }].map(is)).toEqual([true, true, true])
    expect([null, 1, {}].map((cursor) => is({ cursor }))).toEqual([false, false, false])
  })

  it("has a next cursor, or none on the last page", () => {
    const is = SchemaCheck.compile(Schema.Struct(Pagination.pageFields))
    expect([{}, { nextCursor: "" }, { nextCursor: null }].map(is)).toEqual([true, true, false])
  })
})

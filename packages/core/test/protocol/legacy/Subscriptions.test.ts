import * as Subscriptions from "@effect-mcp/core/protocol/legacy/Subscriptions"
import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../../src/protocol/schema/SchemaCheck.js"

describe("legacy/Subscriptions", () => {
  it("name one resource", () => {
    const is = SchemaCheck.compile(Subscriptions.SubscribeParams)
    expect([{ uri: "a:b" }, { uri: "a:b", _meta: {} }, {}, { uri: 1 }, { uri: null }].map(is))
      .toEqual([true, true, false, false, false])
  })
})

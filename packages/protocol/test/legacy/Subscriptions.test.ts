import { describe, expect, it } from "vitest"
import * as Guard from "../../src/Guard.js"
import * as Subscriptions from "../../src/legacy/Subscriptions.js"

describe("legacy/Subscriptions", () => {
  it("name one resource", () => {
    const is = Guard.compile(Subscriptions.SubscribeParams)
    expect([{ uri: "a:b" }, { uri: "a:b", _meta: {} }, {}, { uri: 1 }, { uri: null }].map(is))
      .toEqual([true, true, false, false, false])
  })
})

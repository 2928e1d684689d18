import { keys } from "@effect-mcp/core/protocol/Meta"
import * as Subscriptions from "@effect-mcp/core/protocol/modern/Subscriptions"
import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../../src/protocol/schema/SchemaCheck.js"

const all = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ["file:///a", "file:///a", "file:///b/"]
}
const server = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true }
}

describe("modern/Subscriptions", () => {
  it("MUST support no more than the server's capabilities", () => {
    expect(Subscriptions.supported(all, server)).toEqual({ ...all, resourceSubscriptions: ["file:///a", "file:///b/"] })
    expect(Subscriptions.supported(all, {})).toEqual({})
    expect(Subscriptions.supported(all, { tools: {}, resources: { subscribe: true } })).toEqual({
      resourceSubscriptions: ["file:///a", "file:///b/"]
    })
    expect(Subscriptions.supported({ toolsListChanged: false }, server)).toEqual({})
    expect(Subscriptions.supported({}, server)).toEqual({})
  })

  it.each([
    ["notifications/tools/list_changed", undefined, true],
    ["notifications/prompts/list_changed", undefined, true],
    ["notifications/resources/list_changed", undefined, true],
    ["notifications/resources/updated", "file:///a", true],
    ["notifications/resources/updated", "file:///a/x", true],
    ["notifications/resources/updated", "file:///b/", true],
    ["notifications/resources/updated", "file:///b/x", true],
    ["notifications/resources/updated", "file:///b", false],
    ["notifications/resources/updated", "file:///ab", false],
    ["notifications/resources/updated", undefined, false],
    ["notifications/progress", undefined, false],
    ["notifications/message", undefined, false]
  ])("MUST NOT include what the filter does not name: %s of %s: %s", (method, uri, brought) => {
    const params = uri === undefined ? undefined : { uri }
    expect(Subscriptions.includes(all, method, params)).toBe(brought)
    expect(Subscriptions.includes({}, method, params)).toBe(false)
  })

  it("MUST name the id of its request in every notification, unchanged", () => {
    for (const id of [7, "7", 0, ""]) {
      const params = Subscriptions.withId(id, { uri: "a:b", _meta: { x: 1 } })
      expect(params).toEqual({ uri: "a:b", _meta: { x: 1, [keys.subscriptionId]: id } })
      expect(Subscriptions.idOf(params)).toBe(id)
    }
    for (const params of [undefined, {}, { _meta: null }, { _meta: { [keys.subscriptionId]: true } }]) {
      expect(Subscriptions.idOf(params)).toBeUndefined()
    }
  })

  it("MUST name its id in the last result", () => {
    const is = SchemaCheck.compile(Subscriptions.ListenResult)
    expect(is({ resultType: "complete", _meta: { [keys.subscriptionId]: 1 } })).toBe(true)
    expect([is({ resultType: "complete" }), is({ _meta: {} })]).toEqual([false, false])
  })

  it("MUST name the wanted notifications", () => {
    const is = SchemaCheck.compile(Subscriptions.SubscriptionFilter)
    expect([{}, all, { taskIds: ["t"] }].map(is)).toEqual([true, true, true])
    expect([null, { toolsListChanged: 1 }, { resourceSubscriptions: "a:b" }].map(is)).toEqual([false, false, false])
  })

  it("include a resource by every URI at or above it, and by no other", () => {
    const part = fc.constantFrom("", "a", "b", "test:", "é")
    const uri = fc.array(part, { maxLength: 6 }).map((parts) => parts.join("/"))
    fc.assert(
      fc.property(uri, uri, (one, other) => {
        expect(Subscriptions.atOrAbove(one).has(other)).toBe(Subscriptions.isAtOrBelow(one, other))
      }),
      { numRuns: 2000 }
    )
  })

  it("look up no more than the upper levels of a URI, however long it is", () => {
    const start = process.cpuUsage().user
    for (const level of ["/", "/a", `/${"a".repeat(1000)}`]) {
      const uri = `file://${level.repeat(5_000_000 / level.length)}`
      const found = Subscriptions.atOrAbove(uri)
      expect(found.has(uri)).toBe(true)
      expect(found.has(`file://${level}`)).toBe(true)
      expect(found.size).toBeLessThan(520)
    }
    expect(process.cpuUsage().user - start).toBeLessThan(1_000_000)
  })
})

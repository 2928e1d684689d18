import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/server/EventStore"
import { Effect } from "effect"
import * as EndpointContext from "../../src/http/EndpointContext.js"
import { GreetLive, serve } from "../Serving.js"
import { Visit } from "./Visit.js"

describe("Site", () => {
  it.scoped("has an event store if there is one", () =>
    Effect.gen(function*() {
      const without = yield* EndpointContext.make({})
      assert.isUndefined(without.events)
      const store = yield* EventStore.memory()
      const site = yield* Effect.provideService(EndpointContext.make({}), EventStore.EventStore, store)
      assert.strictEqual(site.events, store)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("opens streams as the options say", () =>
    Effect.gen(function*() {
      const site = yield* EndpointContext.make({ capacity: 1 })
      const visit = new Visit("GET", "/mcp", {})
      let over = 0
      const stream = site.stream(visit, () => over++, { "x-more": "y" })
      assert.strictEqual(visit.sent["x-more"], "y")
      visit.stalled = true
      stream.push("a")
      stream.push("b")
      assert.isTrue(stream.isFull)
      visit.hangUp()
      assert.strictEqual(over, 1)
    }).pipe(Effect.provide(serve(GreetLive))))
})

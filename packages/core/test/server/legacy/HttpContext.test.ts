import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import { Effect } from "effect"
import { GreetLive, serve } from "../Serving.js"
import { makeContext } from "./Context.js"

describe("HttpContext", () => {
  it.scoped("has the application's event store, if there is one", () =>
    Effect.gen(function*() {
      const without = yield* makeContext()
      assert.isUndefined(without.events)
      const store = yield* EventStore.memory()
      const context = yield* Effect.provideService(makeContext(), EventStore.EventStore, store)
      assert.strictEqual(context.events, store)
    }).pipe(Effect.provide(serve(GreetLive))))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { leftBy } from "../Left.js"
import type { Visitor } from "./Behaviour.js"
import { holding, key, layer, Stage } from "./Behaviour.js"
import type { Served } from "./Roads.js"
import { roads } from "./Roads.js"

/** Listens to everything, and is in the middle of a call. */
const busy = (client: Visitor, served: Served) =>
  Effect.gen(function*() {
    for (const told of [client.notifications, client.listChanges, client.diagnostics]) {
      yield* Effect.forkScoped(Stream.runDrain<unknown, never, never>(told))
    }
    return yield* holding(client, served, key())
  })

type End = (client: Visitor, served: Served) => Effect.Effect<unknown>

const ends: Readonly<Record<string, End>> = {
  "the client and then the server": (client, served) => Effect.zipRight(client.close, served.close),
  "the server and then the client": (client, served) => Effect.zipRight(served.close, client.close),
  "both at once": (client, served) => Effect.all([client.close, served.close], { concurrency: "unbounded" })
}

// One after another: what another test has open is not left by this one.
describe.sequential("Closing in the middle of a call leaves no fiber, timer, listener, socket or process", () => {
  for (const road of roads) {
    it.scopedLive(`over ${road.name}`, () =>
      Effect.gen(function*() {
        const { alone, visit } = yield* Stage
        const session = (end: End) =>
          Effect.gen(function*() {
            const served = yield* alone
            const client = yield* visit({}, served)
            const held = yield* busy(client, served)
            yield* end(client, served)
            yield* Effect.exit(held.exit)
            assert.lengthOf(served.processes(), 0)
          })
        // What is opened once for the process is not left by who was first.
        yield* leftBy(session(ends["both at once"]!))
        for (const [name, end] of Object.entries(ends)) {
          const left = yield* leftBy(session(end))
          assert.deepStrictEqual(left, { fibers: 0, timers: 0, handles: [], listeners: [], failed: undefined }, name)
        }
      }).pipe(Effect.provide(layer(road))))
  }
})

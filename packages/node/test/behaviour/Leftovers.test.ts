/**
 * What is left after a client and a server have closed during a call, over every transport. It takes more than ten seconds: each transport
 * is opened and closed four times, and each time the test waits until the process is at rest. A run takes a third of the transports, which
 * always the same; `npm run test:long` takes all.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { leftovers } from "../Leftovers.js"
import { isTaken } from "../Third.js"
import { hold, key, layer, type RecordedClient, Setting } from "./Behaviour.js"
import { inOneProcess } from "./Nodes.js"
import { type Served, transports } from "./Transports.js"

/** Reads all streams of a client, and starts a call. */
const busy = (client: RecordedClient, served: Served) =>
  Effect.gen(function*() {
    for (const stream of [client.notifications, client.listChanges, client.diagnostics]) {
      yield* Effect.forkScoped(Stream.runDrain<unknown, never, never>(stream))
    }
    return yield* hold(client, served, key())
  })

type End = (client: RecordedClient, served: Served) => Effect.Effect<unknown>

const ends: Readonly<Record<string, End>> = {
  "the client and then the server": (client, served) => Effect.zipRight(client.close, served.close),
  "the server and then the client": (client, served) => Effect.zipRight(served.close, client.close),
  "both at once": (client, served) => Effect.all([client.close, served.close], { concurrency: "unbounded" })
}

// Sequential: resources of a concurrent test would count.
describe.sequential("Closing during a call leaves no fiber, timer, listener, socket or process", () => {
  for (const transport of [...transports, ...inOneProcess.slice(-2)].filter((_, place) => isTaken(place))) {
    it.scopedLive(`over ${transport.name}`, () =>
      Effect.gen(function*() {
        const { connect, ownServer } = yield* Setting
        const session = (end: End) =>
          Effect.gen(function*() {
            const served = yield* ownServer
            const client = yield* connect({}, served)
            const held = yield* busy(client, served)
            yield* end(client, served)
            yield* Effect.exit(held.exit)
            assert.lengthOf(served.processes(), 0)
          })
        // What a process opens once is not left over by the first session.
        yield* leftovers(session(ends["both at once"]!))
        for (const [name, end] of Object.entries(ends)) {
          const left = yield* leftovers(session(end))
          assert.deepStrictEqual(left, { fibers: 0, timers: 0, handles: [], listeners: [], failed: undefined }, name)
        }
      }).pipe(Effect.provide(layer(transport))))
  }
})

import { assert, describe, it } from "@effect/vitest"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import { Deferred, Effect } from "effect"
import * as Place from "../../../src/server/nodes/Place.js"
import { logbook } from "../Serving.js"

describe("The place of a node", () => {
  it.scoped("is kept when a text of another node cannot be read, and the next text is read; the log has the cause", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const inbox = yield* Inbox.memory()
      const joined = yield* Deferred.make<void, unknown>()
      const read = yield* Deferred.make<string>()
      const places: Array<Place.Place | undefined> = []
      yield* Effect.forkScoped(Place.keep(yield* SessionDirectory.memory(), inbox, {
        onPlace: (place) => void places.push(place),
        sessions: () => [],
        awaited: () => new Set<string>(),
        onEnded: () => {},
        onText: (text) => {
          if (text === "bad") throw new Error("a bug")
          Deferred.unsafeDone(read, Effect.succeed(text))
        }
      }, joined))
      yield* Deferred.await(joined)
      const { send } = yield* inbox.open("other")
      for (const text of ["bad", "good"]) yield* send(places[0]!.node, text)
      assert.strictEqual(yield* Deferred.await(read), "good")
      assert.lengthOf(places, 1)
      assert.deepStrictEqual(
        lines.map(({ message }) => message),
        ["This node could not read what another node has sent,Error: a bug"]
      )
    }).pipe(Effect.provide(layer))
  })
})

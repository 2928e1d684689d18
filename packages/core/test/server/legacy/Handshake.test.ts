import { assert, it } from "@effect/vitest"
import * as Outcome from "@effect-mcp/core/Outcome"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import type { Connection } from "../../../src/server/legacy/Connection.js"
import * as Handshake from "../../../src/server/legacy/Handshake.js"

describe("A handshake", () => {
  it.effect("is answered before the messages that wait for its end go on", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      let ended: Deferred.Deferred<void> | undefined
      const connection = {
        beginOpening: (deferred: Deferred.Deferred<void>) => ended = deferred,
        endOpening: () => {}
      } as Partial<Connection> as Connection
      const work = Handshake.begin(connection, { effect: Effect.void, reply: Outcome.fromExit })
      const waiting = yield* Effect.fork(Effect.map(Deferred.await(ended!), () => order.push("waiting message")))
      yield* Effect.repeatN(Effect.yieldNow(), 5)
      work.release?.(Exit.void)
      // `Requests` sends the answer when the release has returned.
      order.push("answer")
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(order, ["answer", "waiting message"])
    }))
})

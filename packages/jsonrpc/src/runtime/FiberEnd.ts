/**
 * The end of the fiber that runs this. A fiber that serves a request ends before its response is sent, and what waits for
 * its end goes on after that.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/** Succeeds when the fiber of the request has ended, and so its response was sent. */
export const observe: Effect.Effect<Deferred.Deferred<void>> = Effect.withFiberRuntime((fiber) =>
  Effect.map(Deferred.make<void>(), (ended) => {
    fiber.addObserver(() => Deferred.unsafeDone(ended, Effect.void))
    return ended
  })
)

/**
 * What a piece of work has left behind in this process when it is over: fibers, timers on Effect's clock, listeners on the
 * process and its streams, and whatever keeps Node's event loop alive.
 */
import type * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Supervisor from "effect/Supervisor"

export const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const sleepers = (clock: Clock.Clock) => {
  let sleeping = 0
  const counted: Clock.Clock = Object.create(clock, {
    sleep: {
      value: (duration: Duration.Duration) =>
        Effect.acquireUseRelease(
          Effect.sync(() => sleeping++),
          () => clock.sleep(duration),
          () => Effect.sync(() => sleeping--)
        )
    }
  })
  return { counted, sleeping: () => sleeping }
}

export const listeners = () =>
  [process, process.stdin, process.stdout, process.stderr].flatMap((emitter, at) =>
    emitter.eventNames().map((name) => `${at} ${String(name)} ${emitter.listenerCount(name)}`)
  )

const handles = () => process.getActiveResourcesInfo().filter((kind) => kind !== "CloseReq" && kind !== "Immediate")

/** Those of `after` that were not there before. */
const added = (before: ReadonlyArray<string>, after: ReadonlyArray<string>) => {
  const rest = [...before]
  return after.filter((one) => {
    const at = rest.indexOf(one)
    if (at !== -1) rest.splice(at, 1)
    return at === -1
  })
}

/** Runs it, and gives what it has left: of fibers, of timers on Effect's clock, of listeners, of handles. */
export const leftBy = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.gen(function*() {
    const before = { handles: handles(), listeners: listeners() }
    const supervisor = yield* Supervisor.track
    const { counted, sleeping } = sleepers(yield* Effect.clock)
    const exit = yield* Effect.exit(Effect.scoped(effect)).pipe(
      Effect.withClock(counted),
      Effect.supervised(supervisor)
    )
    const left = Effect.map(supervisor.value, (fibers) => ({
      fibers: fibers.length,
      timers: sleeping(),
      handles: added(before.handles, handles()),
      listeners: added(before.listeners, listeners())
    }))
    const isClean = Effect.map(left, ({ fibers, handles, listeners, timers }) =>
      fibers + timers + handles.length + listeners.length === 0)
    // What was closed last is gone some turns of the event loop later.
    for (let i = 0; i < 1000 && !(yield* isClean); i++) {
      yield* turn
    }
    return { ...(yield* left), failed: Exit.isFailure(exit) ? String(exit.cause) : undefined }
  })

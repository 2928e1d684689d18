/**
 * What an effect leaves behind in this process when its scope has closed: fibers, timers on Effect's clock, listeners on
 * the process and its streams, and handles that keep Node's event loop alive.
 *
 * Programs in `fixtures` use it too, so it imports no test runner.
 */
import type * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Supervisor from "effect/Supervisor"

/** One turn of the event loop. */
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

/** The elements of `after` that are not in `before`. */
const added = (before: ReadonlyArray<string>, after: ReadonlyArray<string>) => {
  const rest = [...before]
  return after.filter((one) => {
    const at = rest.indexOf(one)
    if (at !== -1) rest.splice(at, 1)
    return at === -1
  })
}

/** Runs an effect in a scope, and returns its exit and what is left when the scope has closed. */
export const observe = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
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
    // Fibers that were interrupted last, and sockets, end some turns of the event loop later.
    for (let i = 0; i < 1000 && !(yield* isClean); i++) {
      yield* turn
    }
    return { exit, left: yield* left }
  })

export const leftovers = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.map(observe(effect), ({ exit, left }) => ({
    ...left,
    failed: Exit.isFailure(exit) ? String(exit.cause) : undefined
  }))

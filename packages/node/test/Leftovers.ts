/**
 * What an effect leaves behind in this process when its scope has closed: fibers, timers on Effect's clock, listeners on
 * the process and its streams, and handles that keep Node's event loop alive.
 *
 * Programs in `fixtures` use it too, so it imports no test runner.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Leftovers from "../../testing/test/support/Leftovers.js"

/** One turn of the event loop. */
export const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

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
    const { exit, left: ofEffect } = yield* Leftovers.observe(effect)
    const now = Effect.map(ofEffect, (left) => ({
      ...left,
      handles: added(before.handles, handles()),
      listeners: added(before.listeners, listeners())
    }))
    const left = yield* Leftovers.settled(
      now,
      ({ fibers, handles, listeners, timers }) => fibers + timers + handles.length + listeners.length === 0,
      // Sockets end some turns of the event loop later.
      { most: 1000, turn }
    )
    return { exit, left }
  })

export const leftovers = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.map(observe(effect), ({ exit, left }) => ({
    ...left,
    failed: Exit.isFailure(exit) ? String(exit.cause) : undefined
  }))

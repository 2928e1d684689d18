/**
 * Shares values by key between callers, such as the sessions of clients with an upstream server (`proxy/upstream/Links`), or the servers of
 * users (`server/HttpEndpoint`). The first caller of a key opens the value, on its own fiber. The value closes when it has had no caller
 * for some time. `RcMap` of Effect 3.22 has three faults: it opens a value with the context of its first caller; it keeps a value that
 * could not be opened; and after `invalidate`, the end of the old value removes the next value of the same key. When test/kit/RcMap passes
 * with `RcMap` of Effect, this module can be deleted.
 *
 * New callers join an entry that is in `entries`. An entry that was removed from `entries` closes when its last caller leaves.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as EffectInternals from "./EffectInternals.js"

export interface Options<K, A, E> {
  /**
   * Opens the value of a key, with the services and the FiberRefs of the fiber that has called `make`. The effect `end` hides this value
   * from later callers. It affects no other value of the key.
   */
  readonly open: (key: K, end: Effect.Effect<void>) => Effect.Effect<A, E, Scope.Scope>
  /** How long a value stays open after its last caller has left. `Infinity`: until `end`, or until the map closes. */
  readonly idle: (key: K) => Duration.DurationInput
}

export interface RcMap<K, A, E> {
  /**
   * Returns the value of a key, and keeps the value open until the scope of the caller closes. When opening fails, all callers that wait
   * for the value fail, and the next caller opens the value again. When the map closes, callers that wait are interrupted.
   */
  readonly get: (key: K) => Effect.Effect<A, E, Scope.Scope>
  /** Hides the value of a key from later callers. The value closes when its last caller leaves. */
  readonly end: (key: K) => Effect.Effect<void>
  /** Whether callers of this key join a value that is open or being opened. */
  readonly has: (key: K) => boolean
  /** How many values new callers can join. */
  readonly size: () => number
}

interface Entry<K, A, E> {
  readonly key: K
  readonly scope: Scope.CloseableScope
  readonly opened: Deferred.Deferred<A, E>
  /** How many callers have the value or wait for it. `get` adds 1, `leave` subtracts 1. */
  callers: number
  /** When the last caller left, in milliseconds since 1970. `leave` sets it. */
  idleSince: number
  /** Whether a fiber of `closeWhenIdle` runs for this entry. `leave` and that fiber set it. */
  isWatched: boolean
}

interface Self<K, A, E> extends Options<K, A, E> {
  readonly services: EffectInternals.Services
  /** Runs an effect for which no caller waits, with the services and the FiberRefs of the map. */
  readonly run: (effect: Effect.Effect<void>) => void
  /** Contains the scopes of all values. When it closes, all values close at the same time. */
  readonly scope: Scope.Scope
  readonly entries: MutableHashMap.MutableHashMap<K, Entry<K, A, E>>
}

/** Makes a map. When the scope closes, all values of the map close at the same time. */
export const make = <K, A, E>(options: Options<K, A, E>): Effect.Effect<RcMap<K, A, E>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const self: Self<K, A, E> = {
      ...options,
      services: yield* EffectInternals.services,
      run: yield* FiberSet.makeRuntime<never, void, never>(),
      scope: yield* Effect.acquireRelease(EffectInternals.parallelScope, (scope, exit) => Scope.close(scope, exit)),
      entries: MutableHashMap.empty()
    }
    return {
      get: (key) => get(self, key),
      end: (key) => Effect.sync(() => Option.map(MutableHashMap.get(self.entries, key), (entry) => end(self, entry))),
      has: (key) => MutableHashMap.has(self.entries, key),
      size: () => MutableHashMap.size(self.entries)
    }
  })

const get = <K, A, E>(self: Self<K, A, E>, key: K): Effect.Effect<A, E, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.suspend(() =>
      Option.match(MutableHashMap.get(self.entries, key), {
        onNone: () => begin(self, key),
        onSome: Effect.succeed
      })
    ).pipe(
      Effect.tap((entry) => {
        entry.callers++
        return Effect.addFinalizer(() => Effect.sync(() => leave(self, entry)))
      }),
      Effect.flatMap((entry) => restore(Deferred.await(entry.opened)))
    )
  )

const begin = Effect.fnUntraced(function*<K, A, E>(self: Self<K, A, E>, key: K) {
  const entry: Entry<K, A, E> = {
    key,
    scope: yield* EffectInternals.childOf(self.scope),
    opened: EffectInternals.deferred(),
    callers: 0,
    idleSince: 0,
    isWatched: false
  }
  MutableHashMap.set(self.entries, key, entry)
  const opening = Scope.extend(Effect.suspend(() => self.open(key, Effect.sync(() => end(self, entry)))), entry.scope)
  const fiber = EffectInternals.runFork(self.services, opening)
  fiber.addObserver((exit) => {
    if (Exit.isFailure(exit)) take(self, entry)
    EffectInternals.done(entry.opened, exit)
  })
  yield* Scope.addFinalizer(entry.scope, Fiber.interrupt(fiber))
  return entry
})

/** Removes an entry from the map. Does nothing when the key has another entry by now. */
const take = <K, A, E>({ entries }: Self<K, A, E>, entry: Entry<K, A, E>): void => {
  if (isCurrent(entries, entry)) MutableHashMap.remove(entries, entry.key)
}

const isCurrent = <K, A, E>(entries: Self<K, A, E>["entries"], entry: Entry<K, A, E>): boolean =>
  Option.getOrUndefined(MutableHashMap.get(entries, entry.key)) === entry

const end = <K, A, E>(self: Self<K, A, E>, entry: Entry<K, A, E>): void => {
  take(self, entry)
  if (entry.callers === 0) close(self, entry)
}

const close = <K, A, E>({ run }: Self<K, A, E>, { scope }: Entry<K, A, E>): void =>
  run(Effect.uninterruptible(Scope.close(scope, Exit.void)))

const leave = <K, A, E>(self: Self<K, A, E>, entry: Entry<K, A, E>): void => {
  if (--entry.callers > 0) return
  if (!isCurrent(self.entries, entry)) return close(self, entry)
  const idle = Duration.toMillis(self.idle(entry.key))
  if (idle === Infinity) return
  self.run(Effect.flatMap(Clock.currentTimeMillis, (now) => {
    entry.idleSince = now
    if (entry.isWatched) return Effect.void
    entry.isWatched = true
    return closeWhenIdle(self, entry, idle)
  }))
}

const closeWhenIdle = <K, A, E>(self: Self<K, A, E>, entry: Entry<K, A, E>, idle: number): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const rest = entry.idleSince + idle - now
    const isIdle = entry.callers === 0 && isCurrent(self.entries, entry)
    if (isIdle && rest > 0) return Effect.zipRight(Effect.sleep(rest), closeWhenIdle(self, entry, idle))
    entry.isWatched = false
    if (isIdle) end(self, entry)
    return Effect.void
  })

/**
 * Reads the status of a task again and again, until the task has ended, at the pace that the peer wants. All callers that wait for a task
 * share one poll: the first caller requests the next state, and the others wait for it. `result` fetches the result of a task, and
 * `cancel` cancels a task.
 *
 * This module knows no method: the side whose request became the task passes the effects that send requests. That side is a client
 * (`client/legacy/Connect`, `client/modern/TaskExtension`, `UpstreamTask` of package `proxy`) or a server that asked a question
 * (`server/legacy/Questions`).
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import { RequestTimeout, SessionExpired, TransportError } from "../../jsonrpc/LocalError.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Race from "../../kit/Race.js"
import * as Semaphore from "../../kit/Semaphore.js"
import * as StreamArrays from "../../kit/StreamArrays.js"
import * as Tasks from "../Tasks.js"

/** The wait between two reads, in milliseconds: without a `pollInterval`, the shortest, and the longest. */
export const DEFAULT_INTERVAL = 1000
export const MIN_INTERVAL = 50
export const MAX_INTERVAL = 60_000

/** How often a request about a task that was lost is sent again. */
export const MAX_LOST = 5

/** For how long reads in a row may be lost before the poll fails, in milliseconds: a server may start again meanwhile. */
export const LOST = 30_000

/** What a poll needs to know of a state. */
export interface Polled {
  readonly status: Tasks.TaskStatus
  readonly pollInterval?: number | undefined
}

export interface TaskPoll<out S, out E> {
  /**
   * The newest state, with its number, as soon as there is one after the state with the number `seen`; 0 for the first. The
   * state of a task that has ended is the newest for ever.
   */
  readonly next: (seen: number) => Effect.Effect<readonly [state: S, number: number], E>
  /** The states from now on, without the states that a slow reader has missed. Ends with the state of the task that has ended. */
  readonly states: Stream.Stream<S, E>
  /** The state of the task that has ended. */
  readonly ended: Effect.Effect<S, E>
  /** The newest state that is known. */
  readonly latest: () => S | undefined
  /** Makes the poll read the next state soon, because the peer has notified of a change. */
  readonly wake: () => void
}

/** How long to wait between two reads when the peer wants `pollInterval`, in milliseconds. */
export const interval = (pollInterval: number | undefined): number =>
  Math.min(Math.max(pollInterval ?? DEFAULT_INTERVAL, MIN_INTERVAL), MAX_INTERVAL)

/** Whether a request that only reads may be sent again after this error: its answer was lost, and the peer may be there. */
export const isLost = (error: unknown): boolean =>
  error instanceof RequestTimeout || error instanceof SessionExpired ||
  (error instanceof TransportError && error.reason !== "Decode" && error.reason !== "Encode")

/** The fields that change say who writes them. */
interface Self<S, E> {
  readonly read: Effect.Effect<S, E>
  /** One caller reads at a time. */
  readonly turns: Semaphore.Semaphore
  /** The newest state, and how many states were read. `reading` writes both. */
  latest: S | undefined
  count: number
  /** When the last read ended, in milliseconds, and since when each read was lost. `reading` writes both. */
  readAt: number
  lostAt: number | undefined
  /** Whether the next read is due soon. `wake` sets it, and `reading` clears it. */
  isWoken: boolean
  /** Done to end a pause early. `pause` sets it, and `reading` clears it. */
  sleeping: Deferred.Deferred<void> | undefined
}

/** A poll that reads with `read`. `first` is the state that is known already. */
export const make = <S extends Polled, E>(read: Effect.Effect<S, E>, first?: S): Effect.Effect<TaskPoll<S, E>> =>
  Effect.map(Clock.currentTimeMillis, (now): TaskPoll<S, E> => {
    const self: Self<S, E> = {
      read,
      turns: Semaphore.make(),
      latest: first,
      count: first === undefined ? 0 : 1,
      readAt: first === undefined ? -Infinity : now,
      lostAt: undefined,
      isWoken: false,
      sleeping: undefined
    }
    return {
      next: (seen) => next(self, seen),
      ended: ended(self, 0),
      states: states(self),
      latest: () => self.latest,
      wake: () => wake(self)
    }
  })

const sleepUntil = (at: number): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => at > now ? Effect.sleep(at - now) : Effect.void)

/** Waits until the next read is due. */
const pause = <S extends Polled, E>(self: Self<S, E>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { isWoken, latest, readAt } = self
    const soon = readAt + MIN_INTERVAL
    if (isWoken) return sleepUntil(soon)
    const woken = self.sleeping = EffectInternals.deferred<void>()
    return Race.raceFirst(
      sleepUntil(readAt + interval(latest?.pollInterval)),
      Effect.zipRight(Deferred.await(woken), sleepUntil(soon))
    )
  })

const wake = <S, E>(self: Self<S, E>): void => {
  self.isWoken = true
  if (self.sleeping !== undefined) EffectInternals.done(self.sleeping, Effect.void)
}

/** Reads the next state, when it is due. */
const reading = <S extends Polled, E>(self: Self<S, E>): Effect.Effect<void, E> =>
  Effect.zipRight(
    pause(self),
    Effect.suspend(() => {
      self.isWoken = false
      self.sleeping = undefined
      return Effect.matchEffect(self.read, {
        onFailure: (error) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            self.readAt = now
            self.lostAt ??= now
            return isLost(error) && now - self.lostAt < LOST ? reading(self) : Effect.fail(error)
          }),
        onSuccess: (state) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            self.readAt = now
            self.lostAt = undefined
            self.count++
            self.latest = state
          })
      })
    })
  )

/** What is known after the state with the number `seen`. */
const known = <S extends Polled, E>({ count, latest }: Self<S, E>, seen: number): readonly [S, number] | undefined =>
  latest !== undefined && (count > seen || Tasks.isTerminal(latest.status)) ? [latest, count] : undefined

const next = <S extends Polled, E>(self: Self<S, E>, seen: number): Effect.Effect<readonly [S, number], E> =>
  Effect.suspend(() => {
    const now = known(self, seen)
    return now !== undefined ? Effect.succeed(now) : Effect.zipRight(
      self.turns.run(Effect.suspend(() => known(self, seen) === undefined ? reading(self) : Effect.void)),
      Effect.suspend(() => Effect.succeed(known(self, seen)!))
    )
  })

const ended = <S extends Polled, E>(self: Self<S, E>, seen: number): Effect.Effect<S, E> =>
  Effect.flatMap(
    next(self, seen),
    ([state, number]) => Tasks.isTerminal(state.status) ? Effect.succeed(state) : ended(self, number)
  )

const states = <S extends Polled, E>(self: Self<S, E>): Stream.Stream<S, E> =>
  StreamArrays.paginate(
    0 as number,
    (seen) =>
      Effect.map(
        next(self, seen),
        ([state, number]) =>
          [[state], Tasks.isTerminal(state.status) ? Option.none<number>() : Option.some(number)] as const
      )
  )

/**
 * The result of a task of 2025-11-25. `fetch` requests it with `tasks/result`, which waits as long as the task runs: without a limit of
 * time when `isWaiting` is true. The result is requested early when the task is `input_required`, because the peer then sends its
 * questions. Fails with `cancelled` when the task was cancelled.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#input-required-status
 */
export const result = <S extends Polled, A, E>(
  poll: TaskPoll<S, E>,
  fetch: (isWaiting: boolean) => Effect.Effect<A, E>,
  cancelled: (state: S) => E
): Effect.Effect<A, E> => {
  const ofEnded = (state: S) => state.status === "cancelled" ? Effect.fail(cancelled(state)) : fetch(false)
  const waiting = Effect.matchEffect(fetch(true), {
    onFailure: (error) => isLost(error) ? Effect.succeed(Option.none<A>()) : Effect.fail(error),
    onSuccess: Effect.succeedSome
  })
  const loop = (seen: number): Effect.Effect<A, E> =>
    Effect.flatMap(poll.next(seen), ([state, number]) => {
      if (Tasks.isTerminal(state.status)) return ofEnded(state)
      if (state.status === "working") return loop(number)
      return Effect.flatMap(
        Race.raceFirst(waiting, Effect.asSome(Effect.flatMap(poll.ended, ofEnded))),
        Option.match({ onNone: () => loop(number), onSome: (found) => Effect.succeed(found) })
      )
    })
  return loop(0)
}

/** Cancels a task of 2025-11-25 with this request. The peer refuses to cancel a task that has ended: that is not an error. */
export const cancel = <E extends { readonly _tag: string }>(
  { wake }: TaskPoll<Polled, E>,
  get: Effect.Effect<Polled, E>,
  request: Effect.Effect<unknown, E>
): Effect.Effect<void, E> =>
  Effect.catchIf(
    request,
    ({ _tag }) => _tag === "InvalidParams",
    (error) => Effect.filterOrFail(get, ({ status }) => Tasks.isTerminal(status), () => error)
  ).pipe(
    Effect.ensuring(Effect.sync(wake)),
    Effect.asVoid
  )

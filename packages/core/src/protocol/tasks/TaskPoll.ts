/**
 * Polls the status of a task until the task has ended. The peer chooses the interval between two requests. All callers that wait for the
 * same task share one poll: the first caller requests the next state, and the other callers wait for the response. `result` fetches the
 * result of a task, and `cancel` cancels a task.
 *
 * This module contains no names of methods. The side whose request became the task passes the effects that send the requests. This side is
 * a client (`client/legacy/Connect`, `client/modern/TaskExtension`, `UpstreamTask` of package `proxy`), or a server that asked a question
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

/**
 * How long the poll waits between two requests, in milliseconds. `DEFAULT_INTERVAL` is used when the peer sends no `pollInterval`. The
 * other two constants are the shortest and the longest wait.
 */
export const DEFAULT_INTERVAL = 1000
export const MIN_INTERVAL = 50
export const MAX_INTERVAL = 60_000

/** How many times a request about a task is sent again after its response was lost. */
export const MAX_LOST = 5

/**
 * The longest time, in milliseconds, for which the poll continues when the responses to all requests are lost. In this time a server may
 * restart.
 */
export const LOST = 30_000

/** The part of the state of a task that the poll reads. */
export interface Polled {
  readonly status: Tasks.TaskStatus
  readonly pollInterval?: number | undefined
}

export interface TaskPoll<out S, out E> {
  /**
   * Waits for a state that is newer than state number `seen`, and returns the newest state and its number. The first state has the number
   * 1, so the first call passes 0 as `seen`. When the task has ended, returns the last state at once, whatever `seen` is.
   */
  readonly next: (seen: number) => Effect.Effect<readonly [state: S, number: number], E>
  /**
   * The states from now on. A slow reader may miss states, but gets the last state. The stream ends with the state in which the task has
   * ended.
   */
  readonly states: Stream.Stream<S, E>
  /** Waits until the task has ended, and returns its last state. */
  readonly ended: Effect.Effect<S, E>
  /** The newest state that is known; `undefined` before the first read. */
  readonly latest: () => S | undefined
  /** Makes the poll request the next state soon. Call this function when the peer has sent a notification about the task. */
  readonly wake: () => void
}

/**
 * Returns how many milliseconds the poll waits between two requests. `pollInterval` is the value that the peer has sent, in milliseconds.
 */
export const interval = (pollInterval: number | undefined): number =>
  Math.min(Math.max(pollInterval ?? DEFAULT_INTERVAL, MIN_INTERVAL), MAX_INTERVAL)

/** Whether a request that only reads may be sent again after this error: the response was lost, and the peer may still exist. */
export const isLost = (error: unknown): boolean =>
  error instanceof RequestTimeout || error instanceof SessionExpired ||
  (error instanceof TransportError && error.reason !== "Decode" && error.reason !== "Encode")

/** The state of a poll. The comments of the mutable fields say which function sets them. */
interface Self<S, E> {
  readonly read: Effect.Effect<S, E>
  /** Lets only one caller read at a time. */
  readonly turns: Semaphore.Semaphore
  /** The newest state, and how many states were read. `reading` sets both. */
  latest: S | undefined
  count: number
  /**
   * `readAt` is the time at which the last request ended. `lostAt` is the time since which the responses to all requests were lost. Both
   * are in milliseconds since 1970. `reading` sets both.
   */
  readAt: number
  lostAt: number | undefined
  /** Whether the next read is due soon. `wake` sets `true`, and `reading` sets `false`. */
  isWoken: boolean
  /** The deferred that ends a pause early. `pause` sets it, and `reading` removes it. */
  sleeping: Deferred.Deferred<void> | undefined
}

/** Makes a poll that requests states with `read`. `first` is a state that the caller already has. */
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

/** Waits until the next request is due. */
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

/** Waits until the next request is due, and requests the next state. Sends the request again after its response was lost. */
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

/** Returns the newest state and its number, if the state is newer than state number `seen` or the task has ended; otherwise `undefined`. */
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
 * Fetches the result of a task of revision 2025-11-25. `fetch` requests the result with `tasks/result`. When the status of the task is
 * `input_required`, `result` calls `fetch` before the task has ended, with `isWaiting` set to `true`. The peer sends its questions to the
 * user only after this request, and answers the request when the task has ended. Therefore this request should have no time limit. Fails
 * with the error that `cancelled` returns when the task was cancelled.
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

/**
 * Cancels a task of revision 2025-11-25 with `request`. The peer refuses to cancel a task that has already ended. This refusal is not an
 * error: `get` then reads the status.
 */
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

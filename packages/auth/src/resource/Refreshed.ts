/**
 * A value of an authorization server that is requested when it is needed, kept, and requested again when it is old. While it
 * cannot be requested the old value serves on, for a bounded time. One request is under way at most.
 *
 * `since` is when `current` was requested last; `attempted` is when the last request began, successful or not.
 */
import * as SingleFlight from "@effect-mcp/core/unstable/kit/SingleFlight"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AuthorizationError } from "../AuthorizationError.js"
import { failure } from "../discovery/Failure.js"

export interface Refreshed<A> {
  readonly get: Effect.Effect<A, AuthorizationError>
  /**
   * Another value than this one; `undefined` when there is none, or when it was requested a short time ago. Fails when the last
   * request has failed: there may be one.
   */
  readonly newer: (seen: A) => Effect.Effect<A | undefined, AuthorizationError>
  /** Whether this is the value now, and not an old one. */
  readonly isFresh: (value: A, millis: number) => boolean
}

export interface Options<A> {
  /** Names the value in the log: `the key set of https://login.example`. */
  readonly what: string
  readonly request: Effect.Effect<A, AuthorizationError>
  /** Whether a value that was requested again says the same. Then the one before stays the value. */
  readonly isSame: (before: A, after: A) => boolean
  readonly timeout: Duration.DurationInput
  /** These are in milliseconds. */
  readonly maxAge: number
  readonly staleFor: number
  readonly interval: number
}

/** How long a problem is the answer, before the next request. */
const RETRY = 5000

export const make = <A>(options: Options<A>, scope: Scope.Scope): Refreshed<A> => {
  const { interval, maxAge, staleFor } = options
  const flight = SingleFlight.make<A, AuthorizationError>(scope)
  let current: { readonly value: A; readonly since: number } | undefined
  let problem: { readonly error: AuthorizationError; readonly at: number } | undefined
  let attempted = -Infinity

  const request = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    attempted = now
    return options.request.pipe(
      TimeLimit.call(
        options.timeout,
        () =>
          Effect.fail(failure(
            "Unreachable",
            `There was no answer in time for ${options.what}; the option \`requestTimeout\` has the limit`
          ))
      ),
      Effect.matchEffect({
        onFailure: (error) =>
          Effect.flatMap(Clock.currentTimeMillis, (at) => {
            problem = { error, at }
            return Effect.zipRight(
              Effect.logWarning(`The server has not got ${options.what}: ${error.message}`),
              Effect.fail(error)
            )
          }),
        onSuccess: (after) =>
          Effect.sync(() => {
            const value = current !== undefined && options.isSame(current.value, after) ? current.value : after
            problem = undefined
            current = { value, since: now }
            return value
          })
      })
    )
  })

  const join = flight.join(request)

  const get = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const age = current === undefined ? Infinity : now - current.since
    if (current !== undefined && age < maxAge) return Effect.succeed(current.value)
    const failed = problem !== undefined && now - problem.at < RETRY && !flight.isRunning() ? problem : undefined
    if (current === undefined || age >= maxAge + staleFor) {
      return failed === undefined
        ? join
        : Effect.fail(failed.error)
    }
    const { value } = current
    return failed !== undefined || flight.isRunning()
      ? Effect.succeed(value)
      : Effect.as(Effect.forkIn(Effect.ignore(join), scope), value)
  })

  return {
    get,
    newer: (seen) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (current !== undefined && current.value !== seen) return Effect.succeed(current.value)
        if (flight.isRunning() || now - attempted >= interval) {
          return Effect.map(join, (value) => value === seen ? undefined : value)
        }
        return problem === undefined ? Effect.succeed(undefined) : Effect.fail(problem.error)
      }),
    isFresh: (value, millis) => current?.value === value && millis - current.since < maxAge
  }
}

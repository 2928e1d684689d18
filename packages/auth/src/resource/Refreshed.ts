/**
 * A value of an authorization server that is requested when it is needed, kept, and requested again when it is old. While it
 * cannot be requested the old value serves on, for a bounded time. One request is under way at most.
 *
 * `since` is when `current` was requested last; `attempted` is when the last request began, successful or not.
 */
import * as SingleFlight from "@effect-mcp/jsonrpc/unstable/kit/SingleFlight"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { AuthorizationError } from "../AuthorizationError.js"

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
  readonly maxAge: Duration.DurationInput
  readonly staleFor: Duration.DurationInput
  readonly interval: Duration.DurationInput
}

/** How long a failure is the answer, before the next request. */
const RETRY = Duration.toMillis("5 seconds")

export const make = <A>(options: Options<A>, scope: Scope.Scope): Refreshed<A> => {
  const [maxAge, staleFor, interval] = [options.maxAge, options.staleFor, options.interval].map(Duration.toMillis) as [
    number,
    number,
    number
  ]
  const flight = SingleFlight.make<A, AuthorizationError>(scope)
  let current: { readonly value: A; readonly since: number } | undefined
  let failure: { readonly error: AuthorizationError; readonly at: number } | undefined
  let attempted = -Infinity

  const request = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    attempted = now
    return options.request.pipe(
      Effect.timeoutFail({
        duration: options.timeout,
        onTimeout: () =>
          new AuthorizationError({
            reason: "Unreachable",
            message: `There was no answer in time for ${options.what}; the option \`requestTimeout\` has the limit`
          })
      }),
      Effect.matchEffect({
        onFailure: (error) =>
          Effect.flatMap(Clock.currentTimeMillis, (at) => {
            failure = { error, at }
            return Effect.zipRight(
              Effect.logWarning(`The server has not got ${options.what}: ${error.message}`),
              Effect.fail(error)
            )
          }),
        onSuccess: (after) =>
          Effect.sync(() => {
            const value = current !== undefined && options.isSame(current.value, after) ? current.value : after
            failure = undefined
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
    const failed = failure !== undefined && now - failure.at < RETRY && !flight.isRunning() ? failure : undefined
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
        return failure === undefined ? Effect.succeed(undefined) : Effect.fail(failure.error)
      }),
    isFresh: (value, millis) => current?.value === value && millis - current.since < maxAge
  }
}

/**
 * A value of an authorization server that is requested when it is needed, kept, and requested again when it is old. `KeySet` and
 * `IntrospectionVerifier` keep what an authorization server publishes; `JwtVerifier` reads key sets. While requests for the value fail, the
 * old value is used for a limited time. At most one request is under way.
 *
 * Only the request that is under way writes these two fields:
 * - `current`: the value, and when it was requested last.
 * - `problem`: why the last request failed, and when; a request that succeeds removes it.
 *
 * Only `newer` changes `sought`: what the value lacked, and when that caused a request. An entry is removed after `interval`.
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
  /**
   * The value. An old value is given at once, while a request for the next value runs. When there is no value, or it is too old to be used,
   * this waits for a request, and fails when the request fails.
   */
  readonly get: Effect.Effect<A, AuthorizationError>
  /**
   * Another value than `seen`, which lacks `sought`. Gives `undefined` when there is no other value, when the same `sought` has caused a
   * request within `interval`, or when too many others have. Fails when the last request has failed, because then it is not known whether
   * there is another value.
   */
  readonly newer: (seen: A, sought: string) => Effect.Effect<A | undefined, AuthorizationError>
  /** Whether `value` is the present value and younger than `maxAge`, at the time `millis`. */
  readonly isFresh: (value: A, millis: number) => boolean
}

export interface Options<A> {
  /** The name of the value in the log, for example `the key set of https://login.example`. */
  readonly what: string
  readonly request: Effect.Effect<A, AuthorizationError>
  /** Whether two values are the same. If so, the value from before is kept. */
  readonly isSame: (before: A, after: A) => boolean
  readonly timeout: Duration.DurationInput
  /** How long a value is used before it is requested again, in milliseconds. */
  readonly maxAge: number
  /** How long an old value is used after `maxAge` while requests fail, in milliseconds. */
  readonly staleFor: number
  /** How long `newer` makes no second request for the same `sought`, in milliseconds. */
  readonly interval: number
}

/** In milliseconds: how long `get` answers with the last problem, before it makes the next request. */
const RETRY = 5000

/**
 * How many different `sought` may cause a request in one interval. A few invented values of one client then do not keep other clients from
 * finding a new value.
 */
const MAX_SOUGHT = 4

export const make = <A>(options: Options<A>, scope: Scope.Scope): Refreshed<A> => {
  const self: Self<A> = {
    options,
    scope,
    flight: SingleFlight.make<A, AuthorizationError>(scope),
    current: undefined,
    problem: undefined,
    sought: new Map()
  }
  return {
    get: get(self),
    newer: (seen, sought) => newer(self, seen, sought),
    isFresh: (value, millis) => self.current?.value === value && millis - self.current.since < options.maxAge
  }
}

/** What the functions of this module share. */
interface Self<A> {
  readonly options: Options<A>
  readonly scope: Scope.Scope
  readonly flight: SingleFlight.SingleFlight<A, AuthorizationError>
  current: { readonly value: A; readonly since: number } | undefined
  problem: { readonly error: AuthorizationError; readonly at: number } | undefined
  readonly sought: Map<string, number>
}

const get = <A>(self: Self<A>): Effect.Effect<A, AuthorizationError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { current, flight, options: { maxAge, staleFor }, problem, scope } = self
    const age = current === undefined ? Infinity : now - current.since
    if (current !== undefined && age < maxAge) return Effect.succeed(current.value)
    const failed = problem !== undefined && now - problem.at < RETRY && !flight.isRunning() ? problem : undefined
    if (current === undefined || age >= maxAge + staleFor) {
      return failed === undefined ? join(self) : Effect.fail(failed.error)
    }
    const { value } = current
    return failed !== undefined || flight.isRunning()
      ? Effect.succeed(value)
      : Effect.as(Effect.forkIn(Effect.ignore(join(self)), scope), value)
  })

const newer = <A>(self: Self<A>, seen: A, wanted: string): Effect.Effect<A | undefined, AuthorizationError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { current, flight, options: { interval }, problem, sought } = self
    if (current !== undefined && current.value !== seen) return Effect.succeed(current.value)
    for (const [one, at] of sought) if (now - at >= interval) sought.delete(one)
    if (flight.isRunning() || (sought.size < MAX_SOUGHT && !sought.has(wanted))) {
      if (!flight.isRunning()) sought.set(wanted, now)
      return Effect.map(join(self), (value) => value === seen ? undefined : value)
    }
    return problem === undefined ? Effect.succeed(undefined) : Effect.fail(problem.error)
  })

const join = <A>(self: Self<A>): Effect.Effect<A, AuthorizationError> => self.flight.join(request(self))

const request = <A>(self: Self<A>): Effect.Effect<A, AuthorizationError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { options } = self
    return options.request.pipe(
      TimeLimit.call(options.timeout, () => Effect.fail(noAnswer(options.what))),
      Effect.matchEffect({
        onFailure: (error) => failed(self, error),
        onSuccess: (after) => succeeded(self, after, now)
      })
    )
  })

const succeeded = <A>(self: Self<A>, after: A, now: number): Effect.Effect<A> =>
  Effect.sync(() => {
    const { current, options } = self
    const value = current !== undefined && options.isSame(current.value, after) ? current.value : after
    self.problem = undefined
    self.current = { value, since: now }
    return value
  })

const failed = <A>(self: Self<A>, error: AuthorizationError): Effect.Effect<never, AuthorizationError> =>
  Effect.flatMap(Clock.currentTimeMillis, (at) => {
    self.problem = { error, at }
    return Effect.zipRight(
      Effect.logWarning(`The server has not got ${self.options.what}: ${error.message}`),
      Effect.fail(error)
    )
  })

const noAnswer = (what: string): AuthorizationError =>
  failure(
    "Unreachable",
    `There was no answer in time for ${what}; the option \`requestTimeout\` has the limit`
  )

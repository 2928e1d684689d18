/**
 * Caches a value that an authorization server publishes, such as a key set. `get` requests the value when there is none, or when the value
 * is older than `maxAge`. `KeySet` and `IntrospectionVerifier` cache values with this module, and `JwtVerifier` reads the cached key sets.
 * When the requests for the value fail, `get` returns the old value for a limited time (`staleFor`). At most one request runs at a time.
 *
 * Only the running request writes these two fields:
 * - `current`: the value, and when it was requested last.
 * - `problem`: the error and the time of the last failed request. A successful request removes it.
 *
 * Only `newer` changes `sought`. A caller passes to `newer` the name of something that the value does not contain, such as a new key, and
 * `newer` requests the value again. `sought` has these names, each with the time of the request. `newer` removes a name after `interval`.
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
   * Returns the value. When the value is older than `maxAge`, returns the old value at once and starts a request for a new value. When
   * there is no value, or the value is older than `maxAge` and `staleFor` together, waits for a request, and fails when the request fails.
   */
  readonly get: Effect.Effect<A, AuthorizationError>
  /**
   * Requests another value, because the value `seen` does not contain `sought`. Returns `undefined` when there is no other value, when the
   * same `sought` has caused a request within `interval`, or when too many other things have caused requests. Fails when the last request
   * has failed, because then it is not known whether there is another value.
   */
  readonly newer: (seen: A, sought: string) => Effect.Effect<A | undefined, AuthorizationError>
  /** Whether `value` is the present value and younger than `maxAge`, at the time `millis`. */
  readonly isFresh: (value: A, millis: number) => boolean
}

export interface Options<A> {
  /** The name of the value in the log, for example `the key set of https://login.example`. */
  readonly what: string
  readonly request: Effect.Effect<A, AuthorizationError>
  /** Whether two values are the same. If they are the same, the earlier value is kept. */
  readonly isSame: (before: A, after: A) => boolean
  readonly timeout: Duration.DurationInput
  /** How long a value is used before it is requested again, in milliseconds. */
  readonly maxAge: number
  /** How long an old value is used after `maxAge` when the requests fail, in milliseconds. */
  readonly staleFor: number
  /** The shortest time between two requests of `newer` for the same `sought`, in milliseconds. */
  readonly interval: number
}

/** How long `get` answers with the last problem before it sends the next request, in milliseconds. */
const RETRY = 5000

/**
 * How many different `sought` may each cause a request in one interval. The number is larger than one so that a few invented values of one
 * client do not block other clients.
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

/** The data that the functions of this module share. */
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
      Effect.logWarning(`The server could not get ${self.options.what}: ${error.message}`),
      Effect.fail(error)
    )
  })

const noAnswer = (what: string): AuthorizationError =>
  failure(
    "Unreachable",
    `There was no answer in time for ${what}; the option \`requestTimeout\` sets the limit`
  )

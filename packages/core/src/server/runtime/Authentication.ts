/**
 * Runs the `Authenticator` of a server, in the same way for all transports (`dispatch/Conversations`, `dispatch/Dispatch`,
 * `dispatch/Stages`). `dispatch/Build` calls `make`. When the application has passed a user with the message, this module uses that user.
 * Otherwise the authenticator searches for the user, with the facts from the transport. A search has a time limit, and only a limited
 * number of searches run at the same time. `watch` searches for the user of an HTTP request again while a stream of the request is open.
 *
 * The functions use callbacks instead of effects, because an HTTP endpoint has no fiber before the fiber of the handler. The mutable set
 * `running` contains the fibers that have not ended, also uninterruptible fibers after their time limit. Effect's `FiberSet` does not fit,
 * because only an effect can read its size.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import type { Deadlines } from "../../kit/Deadlines.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as McpError from "../../protocol/McpError.js"
import type { Authenticator, Caller, Found, Options, Refuses } from "../Authenticator.js"
import { HttpRefusal } from "../HttpRefusal.js"
import * as HandlerResult from "./HandlerResult.js"
import * as Permission from "./Permission.js"
import { Validity } from "./Validity.js"

/**
 * Searches for the user, and calls `then` once with the result, before or after this function returns. Returns a function that interrupts
 * the search. If the caller interrupts the search before its end, the search never calls `then`.
 */
export type Authenticate = (caller: Caller, then: (found: Either.Either<Found, Refuses>) => void) => () => void

/** `Authenticate` as an effect. */
export const find = (authenticate: Authenticate, caller: Caller): Effect.Effect<Found, Refuses> =>
  Effect.async((resume) => Effect.sync(authenticate(caller, (found) => resume(EffectInternals.fromEither(found)))))

/** The default of the option `timeout`. */
const TIMEOUT: Duration.DurationInput = "10 seconds"

/** The default of the option `concurrency`. */
const CONCURRENCY = 1024

/** Whether rate limits have already counted this request, because another node or an earlier search has found its user. */
export class IsCounted extends Context.Reference<IsCounted>()("@effect-mcp/core/server/Authenticator/IsCounted", {
  defaultValue: () => false
}) {}

export interface Authentication {
  readonly authenticate: Authenticate
  /** See `Authenticator.Options`. */
  readonly documents: Options<unknown>["documents"]
}

/** Makes the authentication of a server. Closing the scope interrupts running searches. */
export const make = <R>(
  { options, tag }: Authenticator<unknown, R>
): Effect.Effect<Authentication, never, R | Scope.Scope> =>
  Effect.gen(function*() {
    const acquired = yield* options
    const runtime = yield* EffectInternals.currentServices<R>()
    const running = yield* Effect.acquireRelease(
      Effect.sync(() => new Set<Fiber.RuntimeFiber<Found, Refuses>>()),
      (running) => Effect.sync(() => running.forEach((fiber) => EffectInternals.interrupt(fiber)))
    )
    const self: Self<R> = {
      tag,
      options: acquired,
      runtime,
      rest: EffectInternals.restOf(runtime),
      running,
      reported: new Set()
    }
    return { authenticate: (caller, then) => authenticate(self, caller, then), documents: acquired.documents }
  })

interface Self<R> {
  readonly tag: Context.Tag<any, any>
  readonly options: Options<any, R, R, R>
  readonly runtime: EffectInternals.Services<R>
  /** The runtime without its context, because each search has its own context. */
  readonly rest: EffectInternals.Rest
  /** The searches that run. */
  readonly running: Set<Fiber.RuntimeFiber<Found, Refuses>>
  /** The transports for which the server has already logged that the authenticator has no option for them. */
  readonly reported: Set<Caller["_tag"]>
}

const authenticate = <R>(
  self: Self<R>,
  caller: Caller,
  then: (found: Either.Either<Found, Refuses>) => void
): () => void => {
  const { options: { concurrency = CONCURRENCY, timeout = TIMEOUT }, running, runtime } = self
  if (running.size >= concurrency) {
    then(Either.left(busy))
    return () => {}
  }
  let waiting = true
  const settle = (result: Either.Either<Found, Refuses>): void => {
    if (!waiting) return
    waiting = false
    then(result)
  }
  const validity = caller._tag === "Http" ? { life: Infinity, recheckAfter: Infinity } : undefined
  const fiber = EffectInternals.runFork(
    servicesFor(self, caller, validity),
    Effect.tapErrorCause(Effect.suspend(() => search(self, caller, validity)), logDefect)
  )
  running.add(fiber)
  fiber.addObserver((exit) => {
    running.delete(fiber)
    settle(Exit.isSuccess(exit) ? Either.right(exit.value) : Either.left(refusalOf(exit.cause)))
  })
  if (!waiting) return () => {}
  const stop = (): void => {
    waiting = false
    EffectInternals.interrupt(fiber)
  }
  const deadline = EffectInternals.runFork(runtime, Effect.sleep(timeout))
  deadline.addObserver((exit) => {
    if (!waiting || Exit.isFailure(exit)) return
    EffectInternals.runFork(
      runtime,
      Effect.logError(`The Authenticator has found no user within ${Duration.format(timeout)}`)
    )
    settle(Either.left(late))
    stop()
  })
  fiber.addObserver(() => EffectInternals.interrupt(deadline))
  return stop
}

/**
 * Makes the services of a search: the services of the server, the services of the caller, and the objects into which the search writes. A
 * later service replaces an earlier service with the same key.
 */
const servicesFor = <R>(
  { rest, runtime }: Self<R>,
  caller: Caller,
  validity: Found["validity"]
): EffectInternals.Services<R> => {
  const { services } = caller
  if (services === undefined && validity === undefined) return runtime
  const all = new Map(EffectInternals.entries(EffectInternals.contextOfServices(runtime)))
  if (services !== undefined) { for (const [key, service] of EffectInternals.entries(services)) all.set(key, service) }
  if (validity !== undefined) all.set(Validity.key, validity)
  if (caller._tag === "Http" && caller.request.isForwarded === true) all.set(IsCounted.key, true)
  return EffectInternals.makeServices(EffectInternals.contextOf(all), rest)
}

const search = <R>(self: Self<R>, caller: Caller, validity: Found["validity"]): Effect.Effect<Found, Refuses, R> => {
  const { services } = caller
  const { key } = self.tag
  const user = services !== undefined && EffectInternals.entries(services).has(key)
    ? Effect.succeed(EffectInternals.entries(services).get(key))
    : byTransport(self, caller)
  return user === undefined ? noAnswer(self, caller._tag) : Effect.map(user, (user) => foundOf(self, user, validity))
}

const byTransport = <R>({ options }: Self<R>, caller: Caller): Effect.Effect<unknown, Refuses, R> | undefined => {
  switch (caller._tag) {
    case "Http":
      return options.http && called("http", options.http, caller.request)
    case "Stdio":
      return options.stdio && called("stdio", options.stdio, caller.environment)
    case "InProcess":
      return options.inProcess
    case "Other":
      return undefined
  }
}

const noAnswer = <R>({ reported }: Self<R>, transport: Caller["_tag"]): Effect.Effect<never, Refuses> => {
  const refused = Effect.fail(
    new HttpRefusal({ status: 403, error: { code: JsonRpcError.INVALID_REQUEST, message: UNANSWERED[transport] } })
  )
  if (reported.has(transport)) return refused
  reported.add(transport)
  return Effect.zipRight(Effect.logError(UNANSWERED[transport]), refused)
}

const foundOf = <R>(self: Self<R>, user: unknown, validity: Found["validity"]): Found => {
  const { options: { id, permit }, tag } = self
  const principal = id(user)
  if (principal !== undefined && (typeof principal !== "string" || principal === "")) {
    throw new Error(
      "The option id of the Authenticator must give a text that identifies the user, or undefined for an anonymous user"
    )
  }
  const services = Context.make(tag, user)
  return {
    principal: principal === undefined ? undefined : { id: principal },
    user: permit === undefined ? services : Permission.add(services, permitted(self, permit, user)),
    validity: validity === undefined || validity.life === Infinity && validity.recheckAfter === Infinity
      ? undefined
      : validity
  }
}

const permitted = <R>(
  { runtime }: Self<R>,
  permit: NonNullable<Options<any>["permit"]>,
  user: unknown
): Permission.Permit =>
(scopes) =>
  Either.getOrElse(Either.try(() => permit(user, scopes)), (defect) => {
    EffectInternals.runFork(
      runtime,
      Effect.logError(
        "The function `permit` of the Authenticator threw an error: the request was refused",
        Cause.die(defect)
      )
    )
    return internal
  })

/** Checks the user of a request again and again, from now on. `undefined` when the authenticator has not called `validFor`. */
export const watch = (
  authenticate: Authenticate,
  caller: Extract<Caller, { readonly _tag: "Http" }>,
  { principal, validity }: Found,
  sweeper: Deadlines
): ((onEnd: () => void) => () => void) | undefined => {
  if (validity === undefined) return undefined
  const found = sweeper.now()
  return (onEnd) => {
    let end = found + validity.life
    let stop = () => {}

    const wait = (recheckAt: number): void => {
      const isLast = end <= recheckAt
      const scheduled = sweeper.schedule(Math.min(end, recheckAt) - sweeper.now(), isLast ? onEnd : recheck)
      stop = () => void sweeper.unwatch(scheduled)
    }

    const isOther = (next: Either.Either<Found, Refuses>) =>
      Either.isRight(next) && next.right.principal?.id !== principal?.id

    const recheck = (): void => {
      let isWaiting = true
      const again = { ...caller, request: { ...caller.request, isForwarded: true } }
      const interrupt = authenticate(again, (next) => {
        isWaiting = false
        const now = sweeper.now()
        if (isRefused(next) || isOther(next)) return onEnd()
        const { life, recheckAfter } = Either.getOrUndefined(next)?.validity ?? { ...validity, life: Infinity }
        end = Math.min(end, now + life)
        wait(now + recheckAfter)
      })
      if (isWaiting) stop = interrupt
    }

    wait(found + validity.recheckAfter)
    return () => stop()
  }
}

/**
 * Whether the result of a search must end the stream. The stream goes on when the server is too busy for the search, or cannot find out
 * whether the user is valid.
 */
const isRefused = (found: Either.Either<Found, Refuses>): boolean => {
  const refused = Either.isLeft(found) ? found.left : Permission.refusal(found.right.user, [])
  if (refused === undefined) return false
  return refused._tag === "HttpRefusal"
    ? refused.status < 500 && refused.status !== 429
    : refused._tag !== "InternalError"
}

const called = <A, E, R>(
  option: string,
  f: (facts: A) => Effect.Effect<unknown, E, R>,
  facts: A
): Effect.Effect<unknown, E, R> => HandlerResult.effect(f(facts), `The option ${option} of the Authenticator`)

const UNANSWERED: Readonly<Record<Caller["_tag"], string>> = {
  Http: "This server cannot find the user of this HTTP request: its Authenticator needs the option http, or the " +
    "application that serves the endpoint must pass the user",
  Stdio: "This server cannot find the user on stdio: its Authenticator needs the option stdio",
  InProcess:
    "This server cannot find the user of a client in its process: its Authenticator needs the option inProcess, or " +
    "the connector must pass the user",
  Other:
    "This server cannot find the user on this transport: the caller of Dispatcher.accept, listen or serve must pass " +
    "the user"
}

const unavailable = (message: string): HttpRefusal =>
  new HttpRefusal({
    status: 503,
    headers: { "retry-after": "1" },
    error: { code: JsonRpcError.UNAVAILABLE, message: `Service Unavailable: ${message}` }
  })

const busy = unavailable("the server is authenticating too many clients at the moment")

const late = unavailable("the server could not authenticate the client in time")

const refusalOf = (cause: Cause.Cause<Refuses>): Refuses =>
  Option.getOrElse(
    Option.filter(Cause.failureOption(cause), isRefusal),
    () => internal
  )

const internal = new McpError.InternalError({ message: JsonRpcError.internal.message })

/** Whether a failure is a refusal of a message. An application without types may fail with any value. */
const isRefusal = (failure: unknown): failure is Refuses =>
  failure instanceof HttpRefusal || McpError.isMcpError(failure)

const logDefect = (cause: Cause.Cause<Refuses>): Effect.Effect<void> =>
  Option.exists(Cause.failureOption(cause), isRefusal) || Cause.isInterruptedOnly(cause)
    ? Effect.void
    : Effect.logError("The Authenticator died", cause)

/**
 * One server of a group: what it offers, read from all pages; how its lists are kept true; and how it comes back when it has
 * gone.
 *
 * @since 0.1.0
 */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"
import type { ClientSessionService } from "../ClientSession.js"
import type { Offer } from "./Entries.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Member {
  /** Closing it disconnects the server. */
  readonly scope: Scope.CloseableScope
  /** None while the server is gone. */
  session: ClientSessionService | undefined
}

/**
 * All that a server offers. What it has not said that it has is not asked for; a list that it refuses is empty, and logged.
 *
 * @since 0.1.0
 * @category running
 */
export const offer = (session: ClientSessionService): Effect.Effect<Offer, ClientError> => {
  const { prompts, resources, tools } = session.serverCapabilities
  const all = <A>(
    has: unknown,
    name: string,
    list: Stream.Stream<A, ClientError>
  ): Effect.Effect<ReadonlyArray<A>, ClientError> =>
    has === undefined ? Effect.succeed([]) : Effect.catchIf(
      Effect.map(Stream.runCollect(list), Chunk.toReadonlyArray),
      refused,
      (error) =>
        Effect.as(Effect.logWarning(`"${session.serverInfo.name}" refused to list its ${name}: ${error.message}`), [])
    )
  return Effect.all({
    tools: all(tools, "tools", session.tools),
    resources: all(resources, "resources", session.resources),
    templates: all(resources, "resource templates", session.resourceTemplates),
    prompts: all(prompts, "prompts", session.prompts)
  }, { concurrency: "unbounded" })
}

// The server's own word; anything else is trouble on the way, and says nothing of what it offers.
const refused = (error: ClientError): boolean =>
  error._tag !== "TransportError" && error._tag !== "ConnectionClosed" && error._tag !== "RequestTimeout" &&
  error._tag !== "NoBackChannel" && error._tag !== "SessionExpired"

/**
 * Waits until the server has said that a list has changed, since this was made or since it was last run: many changes are
 * one.
 *
 * @since 0.1.0
 * @category running
 */
export const changed = (session: ClientSessionService): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const news = yield* Queue.sliding<void>(1)
    yield* Effect.forkScoped(Effect.interruptible(Stream.runForEach(session.listChanges, () => news.offer())))
    // Listening has begun when this returns.
    yield* Effect.yieldNow()
    return news.take
  })

/**
 * Refreshes after each change, until the conversation ends.
 *
 * @since 0.1.0
 * @category running
 */
export const watch = (
  session: ClientSessionService,
  change: Effect.Effect<void>,
  refresh: Effect.Effect<unknown, ClientError>
): Effect.Effect<void> => {
  const following = Effect.forever(
    Effect.zipRight(
      change,
      Effect.catchAll(
        refresh,
        (error) => Effect.logWarning(`The lists of "${session.serverInfo.name}" could not be read: ${error.message}`)
      )
    )
  )
  return Effect.raceFirst(Effect.ignore(session.ended), following)
}

/**
 * Runs `session`, which ends with the server, and again as a schedule says, as long as the scope is open. The first time
 * decides: this gives what `session` has told of, or fails as it does. `left` runs when there is no more trying.
 *
 * @since 0.1.0
 * @category running
 */
export const live = <A, E, R>(
  session: (entered: (value: A) => Effect.Effect<void>) => Effect.Effect<void, E, R>,
  again: Schedule.Schedule<unknown, unknown> | undefined,
  left: Effect.Effect<void>
): Effect.Effect<A, E, Exclude<R, Scope.Scope> | Scope.Scope> =>
  Effect.gen(function*() {
    const first = yield* Deferred.make<A, E>()
    const driver = again === undefined ? undefined : yield* Schedule.driver(again)
    // Each time in a scope of its own, which is closed before the next. Who got in begins the schedule anew.
    const once = Effect.scoped(session((value) =>
      Effect.zipRight(Deferred.succeed(first, value), driver === undefined ? Effect.void : driver.reset)
    ))
    const retrying = driver === undefined ? Effect.void : Effect.ignore(Effect.forever(
      Effect.zipRight(
        driver.next(undefined),
        Effect.catchAll(once, (error) =>
          Effect.logWarning("A server of the group does not come back yet", error))
      )
    ))
    const living = Effect.gen(function*() {
      const exit = yield* Effect.exit(once)
      if (!(yield* Deferred.isDone(first))) return yield* Deferred.done(first, exit as Exit.Exit<never, E>)
      yield* retrying
      // From outside of the scope that this fiber lives in.
      return yield* Effect.forkDaemon(left)
    })
    const fiber = yield* Effect.forkScoped(Effect.interruptible(living))
    return yield* Effect.onInterrupt(Deferred.await(first), () => Fiber.interrupt(fiber))
  })

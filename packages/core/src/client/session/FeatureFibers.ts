/**
 * Runs two features while the client is connected. `logging` handles log messages of the server; `Opening` starts it. `roots` notifies the
 * server when its list changes; `Client` starts it. `FeatureAnswers` has the features that answer the server.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Listening from "../../kit/Listening.js"
import * as Release from "../../kit/Release.js"
import * as ScopeEnd from "../../kit/ScopeEnd.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { LoggingMessage } from "../../protocol/Logging.js"
import type { FeaturesService } from "../ClientFeatures.js"
import type { NotificationHub } from "./NotificationHub.js"

/**
 * Runs the feature `logging`, if the client has it. The feature listens before this effect ends, so it misses no later message. When the
 * client closes after a success, the messages that have arrived are handled first, at most for `closeTimeout`.
 */
export const handleLogs = (
  { logging }: FeaturesService,
  { end, streams }: Pick<NotificationHub, "end" | "streams">,
  closeTimeout: Duration.DurationInput | undefined
): Effect.Effect<void, never, Scope.Scope> => {
  if (logging === undefined) return Effect.void
  const handle = (message: LoggingMessage) =>
    Effect.catchAllCause(
      ScopeEnd.scoped(Effect.mapInputContext(
        Effect.suspend(() => logging.handler(message) as Effect.Effect<void>),
        (own: Context.Context<never>) => Context.merge(own, logging.context)
      )),
      // Only this message is lost.
      (cause) => Effect.logError("The handler of the server's log messages died", cause)
    )
  return Effect.flatMap(
    Release.scope("A handler of the server's log messages", closeTimeout),
    (scope) =>
      Effect.flatMap(
        Scope.extend(Listening.fork(streams.logs, handle), scope),
        (fiber) =>
          Effect.addFinalizer((exit) =>
            Exit.isSuccess(exit) ? Effect.zipRight(end, TimeLimit.exit(fiber, closeTimeout)) : Effect.void
          )
      )
  )
}

/** Runs `notify` for each change of the roots, if the feature `roots` has the option `changes`. */
export const announceRootChanges = (
  { roots }: FeaturesService,
  notify: Effect.Effect<void>,
  closeTimeout: Duration.DurationInput | undefined
): Effect.Effect<unknown, never, Scope.Scope> =>
  roots?.changes === undefined
    ? Effect.void
    : Release.fork(Stream.runForEach(roots.changes, () => notify), "The changes of a client's roots", closeTimeout)

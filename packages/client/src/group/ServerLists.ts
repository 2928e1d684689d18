/**
 * Reads the lists of one server, all pages of them, and waits for their changes. `CurrentEntries` puts them among the
 * entries of a group.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"
import type { ClientSessionService } from "../ClientSession.js"
import type { ServerLists } from "./Entries.js"

/**
 * Everything that a server lists. Lists whose capability it does not declare are not requested. A list that it answers with
 * an error is empty, and the error is logged.
 */
export const read = (session: ClientSessionService): Effect.Effect<ServerLists, ClientError> => {
  const { prompts, resources, tools } = session.serverCapabilities
  const all = <A>(
    capability: unknown,
    name: string,
    list: Stream.Stream<A, ClientError>
  ): Effect.Effect<ReadonlyArray<A>, ClientError> =>
    capability === undefined ? Effect.succeed([]) : Effect.catchIf(
      Effect.map(Stream.runCollect(list), Chunk.toReadonlyArray),
      isAnswer,
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

/** Whether the server sent this error. Other errors do not tell what the server offers. */
const isAnswer = (error: ClientError): boolean =>
  error._tag !== "TransportError" && error._tag !== "ConnectionClosed" && error._tag !== "RequestTimeout" &&
  error._tag !== "NoBackChannel" && error._tag !== "SessionExpired"

/**
 * Listens for changes of the lists. The effect that it gives waits for a change that came after this, or after the effect
 * was last run; several changes count as one.
 */
export const changes = (session: ClientSessionService): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const changed = yield* Queue.sliding<void>(1)
    yield* Effect.forkScoped(Effect.interruptible(Stream.runForEach(session.listChanges, () => changed.offer())))
    // The listener has started when this returns.
    yield* Effect.yieldNow()
    return changed.take
  })

/** Runs `refresh` after each change, until the session ends. */
export const follow = (
  session: ClientSessionService,
  change: Effect.Effect<void>,
  refresh: Effect.Effect<unknown, ClientError>
): Effect.Effect<void> => {
  const refreshing = Effect.forever(
    Effect.zipRight(
      change,
      Effect.catchAll(
        refresh,
        (error) => Effect.logWarning(`The lists of "${session.serverInfo.name}" could not be read: ${error.message}`)
      )
    )
  )
  return Effect.raceFirst(Effect.ignore(session.ended), refreshing)
}

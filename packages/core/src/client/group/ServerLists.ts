/**
 * Reads the lists of one server, all pages of them, and waits for their changes. `CurrentEntries` puts them among the
 * entries of a group.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { isLocalError } from "../../jsonrpc/LocalError.js"
import { all as concurrently, raceFirst } from "../../kit/Race.js"
import type { ClientError } from "../ClientError.js"
import type { ClientSessionService } from "../ClientSession.js"
import * as ListPages from "../session/ListPages.js"
import { noLists, type ServerLists } from "./Entries.js"

/**
 * Everything that a server lists. Lists whose capability it does not declare are not requested. A list whose method it does
 * not have is empty. One that it answers with another error is as it was before, the error is logged, and the lists are
 * not complete. Of a list that is too large, or does not end, the entries before the limit are taken, and a warning is logged.
 */
export const read = (
  session: ClientSessionService,
  before: ServerLists = noLists
): Effect.Effect<{ readonly lists: ServerLists; readonly isComplete: boolean }, ClientError> => {
  const { prompts, resources, tools } = session.serverCapabilities
  let isComplete = true
  const all = <A>(
    capability: unknown,
    name: string,
    list: Stream.Stream<A, ClientError>,
    before: ReadonlyArray<A>
  ): Effect.Effect<ReadonlyArray<A>, ClientError> =>
    capability === undefined ? Effect.succeed([]) : Effect.catchIf(
      collect(list, (error) =>
        Effect.logWarning(`"${session.serverInfo.name}" lists too many of its ${name}: ${error.message}`)),
      // Other errors do not tell what the server offers.
      (error) =>
        !isLocalError(error),
      (error) =>
        Effect.zipRight(
          Effect.logWarning(`"${session.serverInfo.name}" refused to list its ${name}: ${error.message}`),
          Effect.sync(() => {
            if (error._tag === "MethodNotFound") return []
            isComplete = false
            return before
          })
        )
    )
  return Effect.gen(function*() {
    const lists: { -readonly [K in keyof ServerLists]: ServerLists[K] } = { ...noLists }
    const set = <K extends keyof ServerLists>(key: K, reading: Effect.Effect<ServerLists[K], ClientError>) =>
      Effect.map(reading, (entries) => void (lists[key] = entries))
    yield* concurrently([
      set("tools", all(tools, "tools", session.tools, before.tools)),
      set("resources", all(resources, "resources", session.resources, before.resources)),
      set("templates", all(resources, "resource templates", session.resourceTemplates, before.templates)),
      set("prompts", all(prompts, "prompts", session.prompts, before.prompts))
    ])
    return { lists, isComplete }
  })
}

/** All entries; of a list that is cut, those before the cut. */
const collect = <A>(
  list: Stream.Stream<A, ClientError>,
  onCut: (error: ClientError) => Effect.Effect<void>
): Effect.Effect<ReadonlyArray<A>, ClientError> =>
  Effect.suspend(() => {
    const all: Array<A> = []
    const reading = Stream.runForEachChunk(list, (entries) =>
      Effect.sync(() => {
        for (const entry of entries) all.push(entry)
      }))
    return Effect.as(Effect.catchIf(reading, (error) => error instanceof ListPages.ListCut, onCut), all)
  })

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

/** How long to wait after each time that the lists could not be read. */
const backoff = Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("1 minute"))

/** The least time between the end of a refresh and the begin of the next, however often the server reports changes. */
const INTERVAL = "1 second"

/**
 * Runs `refresh` after each change, until the session ends. A refresh that fails or gives false runs again after a while, and so
 * do lists that are not complete at the start. The changes that the server reports within `INTERVAL` after a refresh are one
 * change: the next refresh reads them.
 */
export const follow = (
  session: ClientSessionService,
  isComplete: boolean,
  change: Effect.Effect<void>,
  refresh: Effect.Effect<boolean, ClientError>
): Effect.Effect<void> => {
  const warn = ({ message }: ClientError) =>
    Effect.logWarning(`The lists of "${session.serverInfo.name}" could not be read: ${message}`)
  const refreshed = Effect.catchAll(refresh, (error) => Effect.as(warn(error), false))
  const completed = Effect.repeat(refreshed, Schedule.whileInput(backoff, (isComplete: boolean) => !isComplete))
  const refreshing = Effect.zipRight(
    isComplete ? Effect.void : Effect.delay(completed, "1 second"),
    Effect.forever(Effect.zipRight(Effect.zipRight(change, completed), Effect.sleep(INTERVAL)))
  )
  return raceFirst(Effect.ignore(session.ended), refreshing)
}

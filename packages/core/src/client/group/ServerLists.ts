/**
 * Reads the lists of one server, all pages of them, and waits for their changes. `CurrentEntries` reads the lists of a server with `read`
 * and puts them among the entries of a group; `ClientSessionGroup` and the `ListFollower` of package `proxy` learn of changes by `follow`.
 * `ListPages` reads the pages.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { isLocalError } from "../../jsonrpc/LocalError.js"
import * as Listening from "../../kit/Listening.js"
import { all as concurrently, raceFirst } from "../../kit/Race.js"
import * as StreamArrays from "../../kit/StreamArrays.js"
import type { ClientError } from "../ClientError.js"
import type { ClientSessionService } from "../ClientSession.js"
import * as ListPace from "../session/ListPace.js"
import * as ListPages from "../session/ListPages.js"
import { noLists, type ServerLists } from "./Entries.js"

/**
 * Everything that a server lists. Lists whose capability it does not declare are not requested. A list whose method the server does not
 * have is empty. A list that the server answers with another error stays as it was before; the error is logged, and the lists are not
 * complete. When a list is too large, or does not end, the entries before the limit are taken, and a warning is logged.
 */
export const read = (
  session: ClientSessionService,
  before: ServerLists = noLists
): Effect.Effect<{ readonly lists: ServerLists } & Listing, ClientError> => {
  const { prompts, resources, tools } = session.serverCapabilities
  let isComplete = true
  let pages = 0
  const all = <A>(
    capability: unknown,
    name: string,
    list: Stream.Stream<A, ClientError>,
    before: ReadonlyArray<A>
  ): Effect.Effect<ReadonlyArray<A>, ClientError> =>
    capability === undefined ? Effect.succeed([]) : Effect.matchEffect(
      collect(list, (error) =>
        Effect.logWarning(`"${session.serverInfo.name}" lists too many of its ${name}: ${error.message}`)),
      {
        onFailure: (error) =>
          // A local error does not tell what the server offers.
          isLocalError(error) ? Effect.fail(error) : Effect.zipRight(
            Effect.logWarning(`"${session.serverInfo.name}" refused to list its ${name}: ${error.message}`),
            Effect.sync((): ReadonlyArray<A> => {
              if (error._tag === "MethodNotFound") {
                return []
              }
              isComplete = false
              return before
            })
          ),
        onSuccess: (collected) => {
          pages = Math.max(pages, collected.pages)
          return Effect.succeed(collected.entries)
        }
      }
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
    return { lists, isComplete, pages }
  })
}

/** A listing that has ended. */
export interface Listing {
  /** Whether the server gave all of its lists. */
  readonly isComplete: boolean
  /** The pages of the longest list. */
  readonly pages: number
}

/** All entries, and on how many pages they came. When the list is cut, the entries before the cut. */
export const collect = <A>(
  list: Stream.Stream<A, ClientError>,
  onCut: (error: ClientError) => Effect.Effect<void, ClientError> = Effect.fail
): Effect.Effect<{ readonly entries: ReadonlyArray<A>; readonly pages: number }, ClientError> =>
  Effect.suspend(() => {
    const entries: Array<A> = []
    let pages = 0
    const counted = StreamArrays.map(list, (page) => {
      pages++
      return page
    })
    const reading = StreamArrays.forEach(counted, (entry) => entries.push(entry))
    return Effect.map(
      Effect.catchIf(reading, (error) => error instanceof ListPages.ListCut, onCut),
      () => ({ entries, pages })
    )
  })

/**
 * Listens for changes of the lists. The effect that it gives waits for a change that came after this, or after the effect
 * was last run; several changes count as one.
 */
export const changes = (
  { listChanges }: Pick<ClientSessionService, "listChanges">
): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const changed = yield* Queue.sliding<void>(1)
    yield* Listening.fork(listChanges, () => Queue.offer(changed, undefined))
    return Queue.take(changed)
  })

/** How long to wait after each time that the lists could not be read. */
const backoff = Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("1 minute"))

/**
 * Runs `refresh` after each change, until the session ends. A refresh that fails or is not complete runs again after a while, and so do
 * lists that are not complete at the start. `ListPace` says how long the changes of the server wait after a refresh: all changes that come
 * meanwhile are one change, which the next refresh reads. A change does not wait after a call of `calls`.
 */
export const follow = (
  session: Pick<ClientSessionService, "ended" | "serverInfo">,
  isComplete: boolean,
  change: Effect.Effect<void>,
  refresh: Effect.Effect<Listing, ClientError>,
  calls: ListPace.OwnCalls = new ListPace.OwnCalls()
): Effect.Effect<void> => {
  const warn = ({ message }: ClientError) =>
    Effect.logWarning(`The lists of "${session.serverInfo.name}" could not be read: ${message}`)
  const refreshed = Effect.catchAll(refresh, (error) => Effect.as(warn(error), { isComplete: false, pages: 0 }))
  const complete = Effect.flatMap(
    refreshed,
    (listing) => listing.isComplete ? Effect.succeed(listing) : Effect.fail(listing)
  )
  const completed = Effect.catchAll(Effect.retry(complete, backoff), Effect.succeed)
  const refreshing = Effect.suspend(() => {
    const seen = calls.now
    return Effect.flatMap(completed, ({ pages }) => resting(calls, seen, pages))
  })
  const following = Effect.zipRight(
    isComplete ? Effect.void : Effect.delay(completed, "1 second"),
    Effect.forever(Effect.zipRight(change, refreshing))
  )
  return raceFirst(Effect.ignore(session.ended), following)
}

/** Rests after a refresh. `seen` is what `calls` had counted when the refresh began. */
const resting = (calls: ListPace.OwnCalls, seen: number, pages: number): Effect.Effect<void> => {
  const [short, long] = [ListPace.rest(pages, true), ListPace.rest(pages, false)]
  return short === long
    ? Effect.sleep(long)
    : Effect.zipRight(Effect.sleep(short), raceFirst(calls.since(seen), Effect.sleep(long - short)))
}

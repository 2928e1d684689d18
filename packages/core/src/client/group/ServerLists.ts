/**
 * Reads all pages of the lists of one server, and waits for changes of these lists. `CurrentEntries` reads the lists of a server with
 * `read` and adds them to the entries of a group. `ClientSessionGroup` and `ListFollower` of package `proxy` learn of changes with
 * `follow`. `ListPages` reads the pages.
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
 * Reads all lists of a server. Does not request a list when the server does not declare its capability. A list is empty when the server
 * does not have the method of the list. When a request fails with any other error of the server, the list stays as it is in `before`, the
 * error is logged, and `isComplete` is `false`. When a list is too large or does not end, the entries before the limit are taken, and a
 * warning is logged.
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
          // A failure on the side of the client does not show what the server offers.
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

/** The outcome of reading all lists of a server. */
export interface Listing {
  /** Whether the server gave all its lists. */
  readonly isComplete: boolean
  /** How many pages the longest list has. */
  readonly pages: number
}

/**
 * Reads all entries of a list, and counts the pages. When the list is cut at a limit, runs `onCut` and returns the entries before the
 * limit. Default for `onCut`: the effect fails.
 */
export const collect = <A>(
  list: Stream.Stream<A, ClientError>,
  onCut: (error: ClientError) => Effect.Effect<void, ClientError> = Effect.fail
): Effect.Effect<{ readonly entries: ReadonlyArray<A>; readonly pages: number }, ClientError> =>
  Effect.suspend(() => {
    const entries: Array<A> = []
    const count = { pages: 0 }
    const reading = ListPages.counted(StreamArrays.forEach(list, (entry) => entries.push(entry)), count)
    return Effect.map(
      Effect.catchIf(reading, (error) => error instanceof ListPages.ListCut, onCut),
      () => ({ entries, pages: count.pages })
    )
  })

/**
 * Starts to listen for changes of the lists. Returns an effect that waits for the next change. The effect does not wait if a change has
 * already come since `changes` was run, or since the effect was last run. Several changes count as one.
 */
export const changes = (
  { listChanges }: Pick<ClientSessionService, "listChanges">
): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const changed = yield* Queue.sliding<void>(1)
    yield* Listening.fork(listChanges, () => Queue.offer(changed, undefined))
    return Queue.take(changed)
  })

/** How long to wait before the lists are read again after they could not be read. */
const backoff = Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("1 minute"))

/**
 * Runs `refresh` after each change, until the session ends. When `refresh` fails or does not read all lists, it runs again after a wait. If
 * `isComplete` is `false`, `refresh` also runs one second after the beginning. After each refresh, the next refresh waits for the time that
 * `ListPace` gives. It then reads all changes of this time together. After a call of this client (`calls`), the wait is shorter.
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

/** Waits after a refresh. `seen` is the number of calls that `calls` had counted when the refresh began. */
const resting = (calls: ListPace.OwnCalls, seen: number, pages: number): Effect.Effect<void> => {
  const [short, long] = [ListPace.rest(pages, true), ListPace.rest(pages, false)]
  return short === long
    ? Effect.sleep(long)
    : Effect.zipRight(Effect.sleep(short), raceFirst(calls.since(seen), Effect.sleep(long - short)))
}

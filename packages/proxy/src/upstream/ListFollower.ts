/**
 * Reads the lists of tools, prompts and resources in one session with the upstream, and reads them again after each change that the
 * upstream reports. When a list cannot be read, this module keeps the old list, and tries again later. `ListingLink` uses this module for
 * the shared session. `Proxy` uses it for each session that belongs to one client. `ServerLists` of core reads a list, and limits how often
 * this module reads lists.
 */
import type { Change } from "@effect-mcp/core/ClientSession"
import type * as Entries from "@effect-mcp/core/unstable/client/Entries"
import * as ServerLists from "@effect-mcp/core/unstable/client/ServerLists"
import * as Listening from "@effect-mcp/core/unstable/kit/Listening"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Link } from "./Link.js"
import type { ListedHints } from "./ListedHints.js"

/** The lists of one session with the upstream. */
export interface UpstreamLists extends Entries.ServerLists {
  readonly hints: ListedHints
}

/** How long the first read waits for the subscription that reports changes. */
const SUBSCRIPTION_WAIT = "5 seconds"

/**
 * Begins to listen for changes. The result is an effect that reads the lists, and reads them again after changes, until the session ends.
 * `onLists` gets the lists after each reading. `onFirst` runs once, after the first attempt to read the lists.
 */
export const make = (
  name: string,
  { calls, hints, session }: Pick<Link, "calls" | "hints" | "session">,
  onLists: (lists: UpstreamLists, reported: ReadonlyArray<Change>) => Effect.Effect<void>,
  onFirst: Effect.Effect<unknown>
): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const reported = new Set<Change>()
    yield* Listening.fork(session.listChanges, (change) => Effect.sync(() => reported.add(change)))
    const changed = yield* ServerLists.changes(session)
    let lists: Entries.ServerLists | undefined
    const refresh = Effect.suspend(() => {
      const about = [...reported]
      reported.clear()
      // Removes hints that calls of clients have collected before, because these hints do not belong to the lists.
      hints.take()
      return Effect.flatMap(ServerLists.read(session, lists), (read) => {
        lists = read.lists
        return Effect.as(onLists({ ...read.lists, hints: hints.take() }, about), read)
      })
    })
    const first = Effect.zipRight(
      raceFirst(session.awaitSubscription, Effect.sleep(SUBSCRIPTION_WAIT)),
      Effect.matchEffect(refresh, {
        onFailure: (error) =>
          Effect.as(Effect.logWarning(`The upstream "${name}" could not list its entries: ${error.message}`), false),
        onSuccess: ({ isComplete }) => Effect.succeed(isComplete)
      })
    )
    const following = Effect.flatMap(first, (isComplete) =>
      Effect.zipRight(onFirst, ServerLists.follow(session, isComplete, changed, refresh, calls)))
    return raceFirst(Effect.ignore(session.ended), following)
  })

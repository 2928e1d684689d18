/**
 * Follows the lists of one session with the upstream: reads the lists once, and again after each change that the upstream reports. A
 * list that cannot be read stays as it was, and is read again later. `ServerLists` of the client reads a list and bounds how
 * often lists are read.
 */
import type { Change, ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { ServerLists } from "@effect-mcp/core/unstable/client/Entries"
import * as Lists from "@effect-mcp/core/unstable/client/ServerLists"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** How long the lists wait for the subscription that reports their changes. */
const SUBSCRIPTION_WAIT = "5 seconds"

/**
 * Begins to listen for changes, and gives an effect that follows the lists until the session ends. `onFirst` runs once, after the
 * first attempt to read the lists.
 */
export const make = (
  name: string,
  session: ClientSessionService,
  onLists: (lists: ServerLists, reported: ReadonlyArray<Change>) => Effect.Effect<void>,
  onFirst: Effect.Effect<unknown>
): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const reported = new Set<Change>()
    yield* Effect.forkScoped(Effect.interruptible(
      Stream.runForEach(session.listChanges, (change) => Effect.sync(() => reported.add(change)))
    ))
    const changed = yield* Lists.changes(session)
    let lists: ServerLists | undefined
    const refresh = Effect.suspend(() => {
      const about = [...reported]
      reported.clear()
      return Effect.flatMap(Lists.read(session, lists), (read) => {
        lists = read.lists
        return Effect.as(onLists(read.lists, about), read.isComplete)
      })
    })
    const first = Effect.zipRight(
      raceFirst(session.awaitSubscription, Effect.sleep(SUBSCRIPTION_WAIT)),
      Effect.catchAll(refresh, (error) =>
        Effect.as(Effect.logWarning(`The upstream "${name}" could not list what it has: ${error.message}`), false))
    )
    const following = Effect.flatMap(first, (isComplete) =>
      Effect.zipRight(onFirst, Lists.follow(session, isComplete, changed, refresh)))
    return raceFirst(Effect.ignore(session.ended), following)
  })

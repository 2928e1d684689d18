/**
 * The current entries of a group, and how those of one server get in and out. A change of the entries is atomic; reading a
 * server's lists for it is not part of the change.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { ClientError } from "../ClientError.js"
import type { ClientSessionService } from "../ClientSession.js"
import type { NameHook } from "../GroupEntries.js"
import type * as GroupEntries from "../GroupEntries.js"
import { DuplicateEntry } from "../GroupError.js"
import * as Entries from "./Entries.js"
import * as ServerLists from "./ServerLists.js"

export interface CurrentEntries {
  readonly current: SubscriptionRef.SubscriptionRef<GroupEntries.Entries>
  /** Adds all entries of a server, or none when another server has one of the names. */
  readonly add: (
    server: string,
    session: ClientSessionService
  ) => Effect.Effect<void, ClientError | DuplicateEntry>
  /** Reads the entries of a server again. Names that another server has by now stay with that server. */
  readonly refresh: (server: string, session: ClientSessionService) => Effect.Effect<void, ClientError>
  readonly remove: (server: string) => Effect.Effect<void>
}

export const make = (hook: NameHook): Effect.Effect<CurrentEntries> =>
  Effect.map(SubscriptionRef.make(Entries.empty), (current) => {
    const read = (name: string, session: ClientSessionService) =>
      Effect.map(ServerLists.read(session), (lists) => Entries.of(lists, { name, info: session.serverInfo }, hook))
    return {
      current,
      add: (server, session) =>
        Effect.flatMap(
          read(server, session),
          (added) =>
            SubscriptionRef.updateEffect(current, (entries) =>
              Either.mapLeft(
                Entries.merge(entries, added),
                (collision) => new DuplicateEntry({ server, ...collision })
              ))
        ),
      refresh: (server, session) =>
        Effect.flatMap(read(server, session), (added) =>
          Effect.flatMap(
            SubscriptionRef.modify(current, (entries) => {
              const [next, collisions] = Entries.add(Entries.without(entries, server), added)
              return [collisions, next]
            }),
            Effect.forEach(
              (collision) => Effect.logWarning(new DuplicateEntry({ server, ...collision }).message),
              { discard: true }
            )
          )),
      remove: (server) => SubscriptionRef.update(current, (entries) => Entries.without(entries, server))
    }
  })

/**
 * The current entries of a group, and how those of one server get in and out. A change of the entries is atomic; reading a
 * server's lists for it is not part of the change.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { ClientError } from "../ClientError.js"
import type { ClientSessionService } from "../ClientSession.js"
import type * as GroupEntries from "../GroupEntries.js"
import { DuplicateEntry } from "../GroupError.js"
import * as Entries from "./Entries.js"
import type { Naming } from "./Names.js"
import * as Names from "./Names.js"
import * as ServerLists from "./ServerLists.js"

/** A server's place in the group. */
export interface Place {
  readonly name: string
  /** Of two servers with an entry of the same name, the one with the lower number keeps it. */
  readonly order: number
}

export interface Options extends Naming {
  /** Whether a server is refused when it has a name of another server, instead of renaming the entry. */
  readonly refuseCollisions: boolean
}

export interface CurrentEntries {
  readonly entries: Effect.Effect<GroupEntries.Entries>
  /** The entries now, and after each change. */
  readonly changes: Stream.Stream<GroupEntries.Entries>
  /** Reads the lists of a server and adds its entries. Gives whether the server gave all of its lists. */
  readonly add: (place: Place, session: ClientSessionService) => Effect.Effect<boolean, ClientError | DuplicateEntry>
  /** Reads the lists of a server again. A list that the server does not give stays as it was. */
  readonly refresh: (place: Place, session: ClientSessionService) => Effect.Effect<boolean, ClientError>
  /** Takes the entries away while the server is not connected. Their names stay reserved for it. */
  readonly hide: (place: Place) => Effect.Effect<void>
  readonly remove: (place: Place) => Effect.Effect<void>
}

type Servers = ReadonlyMap<Place, Entries.Server>

interface State {
  readonly servers: Servers
  readonly entries: GroupEntries.Entries
}

export const make = (options: Options): Effect.Effect<CurrentEntries> =>
  Effect.map(SubscriptionRef.make<State>({ servers: new Map(), entries: Entries.empty }), (current) => {
    /** Sets what is known of a server, and logs which entries were renamed for it. */
    const set = <E>(
      place: Place,
      server: Entries.Server,
      accept: (entries: GroupEntries.Entries) => Effect.Effect<unknown, E>
    ) =>
      Effect.flatMap(
        SubscriptionRef.modifyEffect(current, (state) => {
          const next = stateOf(new Map(state.servers).set(place, server), options)
          return Effect.as(accept(next.entries), [Entries.renamed(state.entries, next.entries), next] as const)
        }),
        Effect.forEach((renamed) => Effect.logWarning(sentence(renamed)), { discard: true })
      )
    const update = (place: Place, change: (server: Entries.Server) => Entries.Server | undefined) =>
      SubscriptionRef.update(current, (state) => {
        const server = state.servers.get(place)
        if (server === undefined) return state
        const changed = change(server)
        const others = new Map(state.servers)
        others.delete(place)
        return stateOf(changed === undefined ? others : others.set(place, changed), options)
      })
    const read = <E>(
      place: Place,
      session: ClientSessionService,
      accept: (entries: GroupEntries.Entries) => Effect.Effect<unknown, E>
    ) =>
      Effect.gen(function*() {
        const { servers } = yield* SubscriptionRef.get(current)
        const { isComplete, lists } = yield* ServerLists.read(session, servers.get(place)?.lists)
        yield* set(place, { name: place.name, info: session.serverInfo, lists, isAway: false }, accept)
        return isComplete
      })
    return {
      entries: Effect.map(SubscriptionRef.get(current), ({ entries }) => entries),
      changes: Stream.changesWith(Stream.map(current.changes, ({ entries }) => entries), (a, b) => a === b),
      add: (place, session) =>
        read(place, session, (entries): Effect.Effect<void, DuplicateEntry> => {
          const collision = options.refuseCollisions ? Entries.collisions(entries, place.name) : undefined
          return collision === undefined
            ? Effect.void
            : Effect.fail(new DuplicateEntry({ server: place.name, ...collision }))
        }),
      refresh: (place, session) => read(place, session, () => Effect.void),
      hide: (place) => update(place, (server) => ({ ...server, isAway: true })),
      remove: (place) => update(place, () => undefined)
    }
  })

const stateOf = (servers: Servers, naming: Naming): State => ({
  servers,
  entries: Entries.of([...servers].sort(([a], [b]) => a.order - b.order).map(([, server]) => server), naming)
})

const sentence = ({ kind, names, server }: Entries.Renamed): string =>
  `The server "${server}" has ${Names.nouns[kind]} whose names other servers of the group have. They are renamed: ${
    Names.listed([...names].map(([name, taken]) => `${taken} is ${name}`))
  }. ${Names.advice(kind)}`

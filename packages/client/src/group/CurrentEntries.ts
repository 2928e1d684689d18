/**
 * The current entries of a group: the entries of one server are added, read again, hidden and removed. Each of these is one
 * change; a server's lists are read before it.
 */
import * as Outbox from "@effect-mcp/jsonrpc/unstable/kit/Outbox"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
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
  /** The entries now, and after each change. A slow listener misses older ones. */
  readonly changes: Stream.Stream<GroupEntries.Entries>
  /** Reads the lists of a server and adds its entries. Gives whether the server gave all of its lists. */
  readonly add: (place: Place, session: ClientSessionService) => Effect.Effect<boolean, ClientError | DuplicateEntry>
  /** Reads the lists of a server again. A list that the server does not give stays as it was. */
  readonly refresh: (place: Place, session: ClientSessionService) => Effect.Effect<boolean, ClientError>
  /** Takes the entries away while the server is not connected. Their names stay reserved for it. */
  readonly hide: (place: Place) => Effect.Effect<void>
  readonly remove: (place: Place) => Effect.Effect<void>
}

/** How many changes wait for a slow listener before it loses the oldest. The newest is never lost. */
const CAPACITY = 16

type Listener = Outbox.Outbox<GroupEntries.Entries>

type Servers = ReadonlyMap<Place, Entries.Server>

interface State {
  readonly servers: Servers
  readonly entries: GroupEntries.Entries
}

/**
 * Each change is one synchronous step: a lock would be lost when a server that has just taken it is interrupted. `state` is
 * what was published last.
 */
export const make = (options: Options): Effect.Effect<CurrentEntries> =>
  Effect.sync(() => {
    let state: State = { servers: new Map(), entries: Entries.empty }
    const listeners = new Set<Listener>()
    const publish = (next: State): void => {
      state = next
      for (const listener of listeners) listener.unsafeSlide(next.entries)
    }
    const listener: Effect.Effect<Listener, never, Scope.Scope> = Effect.acquireRelease(
      Effect.sync(() => {
        const listener = Outbox.make<GroupEntries.Entries>(CAPACITY)
        listeners.add(listener)
        listener.unsafeOffer(state.entries)
        return listener
      }),
      (listener) =>
        Effect.sync(() => {
          listeners.delete(listener)
          listener.end(Exit.void)
        })
    )
    /** Sets what is known of a server, and logs which entries were renamed for it. */
    const set = <E>(
      place: Place,
      server: Entries.Server,
      accept: (entries: GroupEntries.Entries) => Exit.Exit<void, E>
    ): Effect.Effect<void, E> =>
      Effect.suspend(() => {
        const before = state.entries
        const next = stateOf(new Map(state.servers).set(place, server), options)
        const accepted = accept(next.entries)
        if (Exit.isFailure(accepted)) return accepted
        publish(next)
        return Effect.forEach(
          Entries.renamed(before, next.entries),
          (renamed) => Effect.logWarning(sentence(renamed)),
          { discard: true }
        )
      })
    const update = (place: Place, change: (server: Entries.Server) => Entries.Server | undefined) =>
      Effect.sync(() => {
        const server = state.servers.get(place)
        if (server === undefined) return
        const changed = change(server)
        const others = new Map(state.servers)
        others.delete(place)
        publish(stateOf(changed === undefined ? others : others.set(place, changed), options))
      })
    const read = <E>(
      place: Place,
      session: ClientSessionService,
      accept: (entries: GroupEntries.Entries) => Exit.Exit<void, E>
    ) =>
      Effect.gen(function*() {
        const { isComplete, lists } = yield* ServerLists.read(session, state.servers.get(place)?.lists)
        yield* set(place, { name: place.name, info: session.serverInfo, lists, isAway: false }, accept)
        return isComplete
      })
    return {
      entries: Effect.sync(() => state.entries),
      changes: Stream.unwrapScoped(Effect.map(listener, ({ stream }) => stream)),
      add: (place, session) =>
        read(place, session, (entries): Exit.Exit<void, DuplicateEntry> => {
          const collision = options.refuseCollisions ? Entries.collisions(entries, place.name) : undefined
          return collision === undefined
            ? Exit.void
            : Exit.fail(new DuplicateEntry({ server: place.name, ...collision }))
        }),
      refresh: (place, session) => read(place, session, () => Exit.void),
      hide: (place) => update(place, (server) => ({ ...server, isAway: true })),
      remove: (place) => update(place, () => undefined)
    }
  })

const stateOf = (servers: Servers, naming: Naming): State => ({
  servers,
  entries: Entries.of([...servers].sort(([a], [b]) => a.order - b.order).map(([, server]) => server), naming)
})

const sentence = ({ kind, names, server }: Entries.Renamed): string =>
  `The server "${server}" has ${Names.noun[kind]}s whose names other servers of the group have. They are renamed: ${
    Names.listed([...names].map(([name, taken]) => `${taken} is ${name}`))
  }. ${Names.advice(kind)}`

/**
 * Knows which node of a server serves which session of clients of revision 2025-11-25 or earlier. A request of a session may arrive at any
 * node. That node looks up the node of the session here, and passes the request on to it (`nodes/Routing`). When the node of the session
 * has ended, another node takes the session over, with the facts that the directory has of the session.
 *
 * Provide a directory, together with an `Inbox`, to an HTTP endpoint that runs on several nodes. This module has the interface, for
 * directories of any kind, and a directory in memory, for several endpoints in one process.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { JsonObject } from "../protocol/Json.js"

/** @category models */
export interface SessionEntry {
  readonly id: string
  /** The node that serves the session, or that served the session last. */
  readonly node: string
  /**
   * Counts the nodes that have served the session: 1 for the node that opened the session; each node that takes the session over adds 1.
   */
  readonly epoch: number
  /** What another node needs to take the session over, such as the revision and the capabilities of its client. */
  readonly facts: JsonObject
  /** Whether `node` still serves the session: the node has not released the session, and the lease of the node has not expired. */
  readonly isServed: boolean
}

/**
 * The directory did not answer, or refused the operation.
 *
 * @category errors
 */
export class SessionDirectoryError extends Data.TaggedError("SessionDirectoryError")<{
  readonly message: string
  /**
   * Whether it is certain that nothing has changed, because the directory has refused the operation or has not received it. Default:
   * `false`.
   */
  readonly isRefused?: boolean | undefined
}> {}

/**
 * One node, as the directory knows it.
 *
 * @category models
 */
export interface Membership {
  /** Adds a session that this node serves, with epoch 1. When this effect has ended, every node finds the session. */
  readonly create: (id: string, facts: JsonObject) => Effect.Effect<void, SessionDirectoryError>
  readonly find: (id: string) => Effect.Effect<Option.Option<SessionEntry>, SessionDirectoryError>
  /**
   * Takes over a session that no node serves, and increments its epoch. `epoch` is the epoch that this node has read. `None` when a node
   * serves the session, or when the session has another epoch by now. When two nodes claim the same epoch, only one of them succeeds.
   */
  readonly claim: (id: string, epoch: number) => Effect.Effect<Option.Option<SessionEntry>, SessionDirectoryError>
  /**
   * Replaces the facts of a session of this node. When the session has another epoch by now, this gives `false` and changes nothing. When
   * the caller of this effect is interrupted, the facts may still be written, but they must not replace the facts of a later update.
   */
  readonly update: (
    id: string,
    epoch: number,
    facts: JsonObject
  ) => Effect.Effect<boolean, SessionDirectoryError>
  /** Keeps these sessions of this node for another `ttl`, counted from now. */
  readonly touch: (ids: ReadonlyArray<string>) => Effect.Effect<void, SessionDirectoryError>
  /**
   * Releases a session, so that the next node that gets a request of the session can claim it. Does nothing when the session has another
   * epoch.
   */
  readonly release: (id: string, epoch: number) => Effect.Effect<void, SessionDirectoryError>
  /** Removes a session that has ended. When the session has another epoch, this gives `false` and changes nothing. */
  readonly remove: (id: string, epoch: number) => Effect.Effect<boolean, SessionDirectoryError>
  /** Whether a node still has its lease. */
  readonly isAlive: (node: string) => Effect.Effect<boolean, SessionDirectoryError>
  /** Ends when this node has lost its lease. Other nodes may have taken its sessions over by then. */
  readonly lost: Effect.Effect<void>
}

/** @category models */
export interface SessionDirectoryService {
  /** Joins as the node with this id, which no node has had before, and renews the lease of the node until the scope closes. */
  readonly join: (node: string) => Effect.Effect<Membership, SessionDirectoryError, Scope.Scope>
}

/** @category tags */
export class SessionDirectory
  extends Context.Tag("@effect-mcp/core/SessionDirectory")<SessionDirectory, SessionDirectoryService>()
{}

/** @category models */
export interface MemoryOptions {
  /** How long a session is kept after a node has created, claimed, updated or touched it. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
}

/** A session. `claim`, `update`, `touch` and `release` write its fields. */
interface Stored {
  readonly id: string
  node: string
  epoch: number
  facts: JsonObject
  isReleased: boolean
  until: number
}

interface Self {
  /** Milliseconds. */
  readonly ttl: number
  /** The nodes whose scope is open; `join` writes them. */
  readonly nodes: Set<string>
  /** By their ids; `create`, `remove` and `find` write them. */
  readonly sessions: Map<string, Stored>
}

/**
 * A directory for the endpoints of one process that share this layer. The lease of a node ends when the scope of the node closes.
 *
 * @category constructors
 */
export const memory = (options: MemoryOptions = {}): Effect.Effect<SessionDirectoryService> =>
  Effect.sync(() => {
    const self: Self = {
      ttl: Duration.toMillis(options.ttl ?? "1 hour"),
      nodes: new Set(),
      sessions: new Map()
    }
    return { join: (node) => join(self, node) }
  })

const join = (self: Self, node: string): Effect.Effect<Membership, never, Scope.Scope> => {
  const { nodes } = self
  return Effect.as(
    Effect.acquireRelease(Effect.sync(() => nodes.add(node)), () => Effect.sync(() => nodes.delete(node))),
    {
      create: (id, facts) => at((now) => create(self, node, id, facts, now)),
      find: (id) => at((now) => Option.map(Option.fromNullable(find(self, id, now)), (found) => entry(self, found))),
      claim: (id, epoch) => at((now) => claim(self, node, id, epoch, now)),
      update: (id, epoch, facts) => at((now) => update(self, id, epoch, facts, now)),
      touch: (ids) => at((now) => touch(self, node, ids, now)),
      release: (id, epoch) => at((now) => release(self, id, epoch, now)),
      remove: (id, epoch) => at((now) => owned(self, id, epoch, now) !== undefined && self.sessions.delete(id)),
      isAlive: (other) => Effect.sync(() => nodes.has(other)),
      lost: Effect.never
    }
  )
}

const at = <A>(f: (now: number) => A): Effect.Effect<A> => Effect.map(Clock.currentTimeMillis, f)

const create = ({ sessions, ttl }: Self, node: string, id: string, facts: JsonObject, now: number): void => {
  sessions.set(id, { id, node, epoch: 1, facts, isReleased: false, until: now + ttl })
}

/** A session that has not expired. An expired session is removed. */
const find = ({ sessions }: Self, id: string, now: number): Stored | undefined => {
  const session = sessions.get(id)
  if (session === undefined || session.until > now) return session
  sessions.delete(id)
  return undefined
}

/** The session, if it has this epoch. */
const owned = (self: Self, id: string, epoch: number, now: number): Stored | undefined => {
  const session = find(self, id, now)
  return session?.epoch === epoch ? session : undefined
}

const isServed = ({ nodes }: Self, { isReleased, node }: Stored): boolean => !isReleased && nodes.has(node)

const entry = (self: Self, session: Stored): SessionEntry => ({
  id: session.id,
  node: session.node,
  epoch: session.epoch,
  facts: session.facts,
  isServed: isServed(self, session)
})

const claim = (self: Self, node: string, id: string, epoch: number, now: number): Option.Option<SessionEntry> => {
  const session = owned(self, id, epoch, now)
  if (session === undefined || isServed(self, session)) return Option.none()
  Object.assign(session, { node, epoch: epoch + 1, isReleased: false, until: now + self.ttl })
  return Option.some(entry(self, session))
}

const update = (self: Self, id: string, epoch: number, facts: JsonObject, now: number): boolean => {
  const session = owned(self, id, epoch, now)
  if (session === undefined) return false
  Object.assign(session, { facts, until: now + self.ttl })
  return true
}

const touch = (self: Self, node: string, ids: ReadonlyArray<string>, now: number): void => {
  for (const id of ids) {
    const session = find(self, id, now)
    if (session?.node === node) session.until = now + self.ttl
  }
}

const release = (self: Self, id: string, epoch: number, now: number): void => {
  const session = owned(self, id, epoch, now)
  if (session !== undefined) session.isReleased = true
}

/**
 * `layerMemory` with options.
 *
 * @category layers
 */
export const layerMemoryWith = (options?: MemoryOptions): Layer.Layer<SessionDirectory> =>
  Layer.effect(SessionDirectory, memory(options))

/** @category layers */
export const layerMemory: Layer.Layer<SessionDirectory> = layerMemoryWith()

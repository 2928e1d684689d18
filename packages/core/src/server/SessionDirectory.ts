/**
 * Stores which node of a server serves which session, for clients of revision 2025-11-25 or earlier. A request of a session may arrive at
 * any node. The node that receives the request finds the node of the session in the directory, and passes the request on (`nodes/Routing`).
 * When the session's node has ended, the receiving node takes the session over. For this, the directory also stores facts about the
 * session.
 *
 * Provide a directory, together with an `Inbox`, to an HTTP endpoint that runs on several nodes. This module contains the interface of a
 * directory, and a directory in memory, for several endpoints in one process.
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
  /** The node that serves the session, or the last node that served the session. */
  readonly node: string
  /**
   * A number that is 1 for the node that opened the session. Each node that takes the session over adds 1.
   */
  readonly epoch: number
  /** The facts that another node needs to take the session over, such as the revision and the capabilities of the client. */
  readonly facts: JsonObject
  /**
   * Whether `node` still serves the session: the node has not released the session, and the lease of the node has not expired. While a node
   * has its lease, no other node takes over the sessions of the node. The node renews its lease regularly.
   */
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
   * `true` when it is certain that nothing has changed, because the directory has refused the operation or has not received it. Default:
   * `false`, when something may have changed.
   */
  readonly isRefused?: boolean | undefined
}> {}

/**
 * The membership of one node in the directory.
 *
 * @category models
 */
export interface Membership {
  /** Adds a session that this node serves, with epoch 1. When this effect has ended, every node finds the session. */
  readonly create: (id: string, facts: JsonObject) => Effect.Effect<void, SessionDirectoryError>
  readonly find: (id: string) => Effect.Effect<Option.Option<SessionEntry>, SessionDirectoryError>
  /**
   * Takes over a session that no node serves, and increments the epoch of the session. `epoch` is the epoch that this node has read before.
   * Gives `None` when a node serves the session, or when the session now has another epoch. So when two nodes claim the session with the
   * same `epoch`, only one of them succeeds.
   */
  readonly claim: (id: string, epoch: number) => Effect.Effect<Option.Option<SessionEntry>, SessionDirectoryError>
  /**
   * Replaces the facts of a session of this node. When the session now has another epoch, this effect gives `false` and changes nothing.
   * When this effect is interrupted, the directory may still write these facts. But they must not overwrite the facts of a later `update`.
   */
  readonly update: (
    id: string,
    epoch: number,
    facts: JsonObject
  ) => Effect.Effect<boolean, SessionDirectoryError>
  /** Tells the directory to keep these sessions of this node for the whole time `ttl` from now on. */
  readonly touch: (ids: ReadonlyArray<string>) => Effect.Effect<void, SessionDirectoryError>
  /**
   * Ends the serving of a session by this node. The next node that gets a request of the session can then claim the session. Does nothing
   * when the session has another epoch.
   */
  readonly release: (id: string, epoch: number) => Effect.Effect<void, SessionDirectoryError>
  /** Removes a session that has ended. When the session has another epoch, this effect gives `false` and changes nothing. */
  readonly remove: (id: string, epoch: number) => Effect.Effect<boolean, SessionDirectoryError>
  /** Whether a node still has its lease. */
  readonly isAlive: (node: string) => Effect.Effect<boolean, SessionDirectoryError>
  /** Waits until this node has lost its lease. Other nodes may already have taken over the sessions of this node. */
  readonly lost: Effect.Effect<void>
}

/** @category models */
export interface SessionDirectoryService {
  /**
   * Joins as the node with this id. Each start of a node needs a new id. Renews the lease of the node until the scope closes. While a node
   * renews its lease, the other nodes do not take over its sessions.
   */
  readonly join: (node: string) => Effect.Effect<Membership, SessionDirectoryError, Scope.Scope>
}

/** @category tags */
export class SessionDirectory
  extends Context.Tag("@effect-mcp/core/SessionDirectory")<SessionDirectory, SessionDirectoryService>()
{}

/** @category models */
export interface MemoryOptions {
  /** How long the directory keeps a session after a node has created, claimed, updated or touched the session. Default: 1 hour. */
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
 * Makes a directory in memory, for the endpoints of one process that share it. The lease of a node ends when the scope of the node closes.
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

/** Finds a session that has not expired. Removes an expired session. */
const find = ({ sessions }: Self, id: string, now: number): Stored | undefined => {
  const session = sessions.get(id)
  if (session === undefined || session.until > now) return session
  sessions.delete(id)
  return undefined
}

/** Finds the session, if it has this epoch. */
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
 * Makes the layer of `memory` with options.
 *
 * @category layers
 */
export const layerMemoryWith = (options?: MemoryOptions): Layer.Layer<SessionDirectory> =>
  Layer.effect(SessionDirectory, memory(options))

/** @category layers */
export const layerMemory: Layer.Layer<SessionDirectory> = layerMemoryWith()

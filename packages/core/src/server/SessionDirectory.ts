/**
 * Which node of a server serves which session, of clients up to 2025-11-25. A request of a session may arrive at any node: that
 * node finds the one that serves the session, and passes the request on. When that node has ended, another one takes the
 * session over, with what the directory knows of it.
 *
 * Provide one, with an `Inbox`, to an HTTP endpoint that runs on several nodes. This module has the interface, for directories
 * of any kind, and a directory in memory, for several endpoints in one process.
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
  /** The node that serves the session, or has served the session last. */
  readonly node: string
  /** 1 for the node that has opened the session, one more for each node that takes it over. */
  readonly epoch: number
  /** What another node needs to take the session over. */
  readonly facts: JsonObject
  /** Whether the node still serves the session: the node has not released the session, and its lease has not expired. */
  readonly isServed: boolean
}

/**
 * The directory did not answer, or refused the operation.
 *
 * @category errors
 */
export class SessionDirectoryError extends Data.TaggedError("SessionDirectoryError")<{
  readonly message: string
  /** Whether it is certain that nothing has changed: the directory has refused the operation, or never got it. Default: false. */
  readonly isRefused?: boolean | undefined
}> {}

/**
 * One node, as the directory knows it.
 *
 * @category models
 */
export interface Membership {
  /** Adds a session that this node serves, with epoch 1. Every node finds it when this has ended. */
  readonly create: (id: string, facts: JsonObject) => Effect.Effect<void, SessionDirectoryError>
  readonly find: (id: string) => Effect.Effect<Option.Option<SessionEntry>, SessionDirectoryError>
  /**
   * Takes a session over that is not served, with the next epoch. `None` when it is served, or when its epoch is another one: of
   * two nodes that claim one epoch, one succeeds.
   */
  readonly claim: (id: string, epoch: number) => Effect.Effect<Option.Option<SessionEntry>, SessionDirectoryError>
  /**
   * Replaces the facts of a session of this node. `false`, and nothing changes, when its epoch is another one. When
   * its caller is interrupted, the facts may still be written; they must not replace those of a later update.
   */
  readonly update: (
    id: string,
    epoch: number,
    facts: JsonObject
  ) => Effect.Effect<boolean, SessionDirectoryError>
  /** Keeps sessions of this node for another `ttl`. */
  readonly touch: (ids: ReadonlyArray<string>) => Effect.Effect<void, SessionDirectoryError>
  /** Leaves a session to the next node that gets a request of the session. Does nothing when the session has another epoch. */
  readonly release: (id: string, epoch: number) => Effect.Effect<void, SessionDirectoryError>
  /** Removes a session that has ended. `false`, and nothing changes, when the session has another epoch. */
  readonly remove: (id: string, epoch: number) => Effect.Effect<boolean, SessionDirectoryError>
  /** Whether the lease of a node holds. */
  readonly isAlive: (node: string) => Effect.Effect<boolean, SessionDirectoryError>
  /** Waits until the lease of this node was lost: others may have taken its sessions over. */
  readonly lost: Effect.Effect<void>
}

/** @category models */
export interface SessionDirectoryService {
  /** Joins as a node, whose id no other node has had, and renews its lease until the scope closes. */
  readonly join: (node: string) => Effect.Effect<Membership, SessionDirectoryError, Scope.Scope>
}

/** @category tags */
export class SessionDirectory
  extends Context.Tag("@effect-mcp/core/SessionDirectory")<SessionDirectory, SessionDirectoryService>()
{}

/** @category models */
export interface MemoryOptions {
  /** How long a session is kept after it was created, claimed, updated or touched. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
}

/**
 * A directory for the endpoints of one process that share this layer. The lease of a node ends with its scope.
 *
 * @category constructors
 */
export const memory = (options: MemoryOptions = {}): Effect.Effect<SessionDirectoryService> =>
  Effect.sync(() => {
    const ttl = Duration.toMillis(options.ttl ?? "1 hour")
    const nodes = new Set<string>()
    const sessions = new Map<string, Stored>()
    const at = <A>(f: (now: number) => A): Effect.Effect<A> => Effect.map(Clock.currentTimeMillis, f)
    const find = (id: string, now: number): Stored | undefined => {
      const session = sessions.get(id)
      if (session === undefined || session.until > now) return session
      sessions.delete(id)
      return undefined
    }
    /** The session in this epoch. */
    const owned = (id: string, epoch: number, now: number): Stored | undefined => {
      const session = find(id, now)
      return session?.epoch === epoch ? session : undefined
    }
    const isServed = ({ isReleased, node }: Stored) => !isReleased && nodes.has(node)
    const entry = (session: Stored): SessionEntry => ({
      id: session.id,
      node: session.node,
      epoch: session.epoch,
      facts: session.facts,
      isServed: isServed(session)
    })
    return {
      join: (node) =>
        Effect.as(
          Effect.acquireRelease(Effect.sync(() => nodes.add(node)), () => Effect.sync(() => nodes.delete(node))),
          {
            create: (id, facts) =>
              at((now) => {
                sessions.set(id, { id, node, epoch: 1, facts, isReleased: false, until: now + ttl })
              }),
            find: (id) => at((now) => Option.map(Option.fromNullable(find(id, now)), entry)),
            claim: (id, epoch) =>
              at((now) => {
                const session = owned(id, epoch, now)
                if (session === undefined || isServed(session)) return Option.none()
                Object.assign(session, { node, epoch: epoch + 1, isReleased: false, until: now + ttl })
                return Option.some(entry(session))
              }),
            update: (id, epoch, facts) =>
              at((now) => {
                const session = owned(id, epoch, now)
                if (session === undefined) return false
                Object.assign(session, { facts, until: now + ttl })
                return true
              }),
            touch: (ids) =>
              at((now) => {
                for (const id of ids) {
                  const session = find(id, now)
                  if (session?.node === node) session.until = now + ttl
                }
              }),
            release: (id, epoch) =>
              at((now) => {
                const session = owned(id, epoch, now)
                if (session !== undefined) session.isReleased = true
              }),
            remove: (id, epoch) => at((now) => owned(id, epoch, now) !== undefined && sessions.delete(id)),
            isAlive: (other) => Effect.sync(() => nodes.has(other)),
            lost: Effect.never
          } satisfies Membership
        )
    }
  })

/**
 * `layerMemory` with options.
 *
 * @category layers
 */
export const layerMemoryWith = (options?: MemoryOptions): Layer.Layer<SessionDirectory> =>
  Layer.effect(SessionDirectory, memory(options))

/** @category layers */
export const layerMemory: Layer.Layer<SessionDirectory> = layerMemoryWith()

interface Stored {
  readonly id: string
  node: string
  epoch: number
  facts: JsonObject
  isReleased: boolean
  until: number
}

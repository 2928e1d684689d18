/**
 * Implements `SessionDirectory` with SQL, over a `SqlConnection`. The directory stores which node (process of the server) serves which
 * session. Each session is a row. Each node is a row, too, with the time at which the lease of the node ends, by the clock of the database.
 * A node keeps its sessions while it renews its lease. After the end of the lease, another node may claim the sessions. The claim also
 * deletes the row of the previous node, so that the previous node can no longer renew its lease. Each claim gives the session a higher
 * number, its epoch.
 *
 * With SQLite only one process uses the database. After a restart, the new process can take over the sessions at once.
 *
 * @since 0.1.0
 */
import type { Fragment, Identifier } from "@effect/sql/Statement"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import {
  type Membership,
  SessionDirectory,
  SessionDirectoryError,
  type SessionDirectoryService,
  type SessionEntry
} from "@effect-mcp/core/SessionDirectory"
import * as Lease from "@effect-mcp/core/unstable/server/Lease"
import * as Stored from "@effect-mcp/core/unstable/server/Stored"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as Attempt from "./connection/Attempt.js"
import * as Sweep from "./connection/Sweep.js"
import { SqlConnection, type SqlConnectionService } from "./SqlConnection.js"
import type { SqlStoreError } from "./SqlStoreError.js"

/**
 * The options of `make` and `layerWith`.
 *
 * @category models
 */
export interface Options {
  /**
   * How long a node keeps its sessions when it does not renew its lease. After this time the node ends its sessions, and other nodes may
   * take the sessions over. So the sessions of a crashed node are free after this time. A node that cannot reach the database, or whose
   * event loop is blocked, loses its sessions after this time. Default: 3 seconds.
   */
  readonly lease?: Duration.DurationInput | undefined
  /**
   * How often a node renews its lease. When a renewal fails, the node tries again before the next renewal is due. Default: a quarter of
   * `lease`, so that three renewals may fail.
   */
  readonly renewal?: Duration.DurationInput | undefined
  /**
   * How long the database stores a session after a node has created, claimed, updated or touched (`touch`) the session. Default: 1 hour.
   */
  readonly ttl?: Duration.DurationInput | undefined
}

interface Row {
  readonly node: string
  readonly epoch: number | string
  readonly facts: string
  readonly served: number | string
}

/** How many sessions one statement of `touch` changes at most. */
const TOUCHED = 1000

interface Self extends SqlConnectionService {
  readonly nodes: Identifier
  readonly sessions: Identifier
  /** Milliseconds. */
  readonly lease: number
  readonly renewal: Duration.DurationInput | undefined
  /** Milliseconds. */
  readonly ttl: number
  /** How many updates of sessions this node has made. */
  readonly updates: Ref.Ref<number>
}

/** @category constructors */
export const make = (
  options: Options = {}
): Effect.Effect<SessionDirectoryService, never, SqlConnection | Scope.Scope> =>
  Effect.gen(function*() {
    const connection = yield* SqlConnection
    const { run, sql, table } = connection
    const self: Self = {
      ...connection,
      nodes: table("nodes"),
      sessions: table("sessions"),
      lease: Duration.toMillis(options.lease ?? "3 seconds"),
      renewal: options.renewal,
      ttl: Duration.toMillis(options.ttl ?? "1 hour"),
      updates: yield* Ref.make(0)
    }
    yield* Sweep.every(connection, "nodes", "sessions")
    if (!Attempt.isPg(sql)) {
      // Only one process uses the file. So earlier processes have ended, and this process deletes their leases.
      yield* Effect.ignoreLogged(run("end the leases of the process before", sql`DELETE FROM ${self.nodes}`))
    }
    return { join: (node) => failing(join(self, node)) }
  })

const join = Effect.fnUntraced(function*(self: Self, node: string) {
  const lost = yield* hold(self, node)
  return {
    create: (id, facts) => failing(create(self, node, id, facts)),
    find: (id) => failing(find(self, id)),
    claim: (id, epoch) => failing(claim(self, node, id, epoch)),
    update: (id, epoch, facts) => failing(update(self, id, epoch, facts)),
    touch: (ids) => failing(touch(self, node, ids)),
    release: (id, epoch) => failing(Effect.asVoid(change(self, id, epoch, self.sql`released = 1`))),
    remove: (id, epoch) => failing(remove(self, id, epoch)),
    isAlive: (other) => failing(isAlive(self, other)),
    lost
  } satisfies Membership
})

const at = <A, E>({ now, run }: Self, what: string, statement: (now: Fragment) => Effect.Effect<A, E>) =>
  run(what, Effect.flatMap(now, statement))

/** Runs a statement about leases. */
const lasting = <A, E>({ now, upkeep }: Self, what: string, statement: (now: Fragment) => Effect.Effect<A, E>) =>
  upkeep(what, Effect.flatMap(now, statement))

/** Takes the lease of a node, and renews it until the scope closes. */
const hold = (self: Self, node: string) => {
  const { lease, nodes, renewal, sql, upkeep } = self
  return Lease.hold({
    length: lease,
    renewal,
    take: lasting(
      self,
      "add a node",
      (now) => sql`INSERT INTO ${nodes} (id, expires) VALUES (${node}, ${now} + ${lease})`
    ),
    renew: Effect.map(
      lasting(self, "renew a lease", (now) =>
        sql`
          UPDATE ${nodes} SET expires = ${now} + ${lease}
          WHERE id = ${node} AND expires > ${now} RETURNING id`),
      (renewed) => renewed.length > 0
    ),
    release: upkeep("remove a node", sql`DELETE FROM ${nodes} WHERE id = ${node}`)
  })
}

const isAlive = (self: Self, node: string) =>
  Effect.map(
    lasting(
      self,
      "find a node",
      (now) => self.sql`SELECT id FROM ${self.nodes} WHERE id = ${node} AND expires > ${now}`
    ),
    (found) => found.length > 0
  )

const create = (self: Self, node: string, id: string, facts: JsonObject) => {
  const { sessions, sql, ttl } = self
  return Effect.asVoid(at(self, "add a session", (now) =>
    sql`
      INSERT INTO ${sessions} (id, node, epoch, facts, released, expires)
      VALUES (${id}, ${node}, 1, ${JSON.stringify(facts)}, 0, ${now} + ${ttl})`))
}

const find = (self: Self, id: string) => {
  const { nodes, sessions, sql } = self
  return Effect.map(
    at(self, "find a session", (now) =>
      sql<Row>`
        SELECT node, epoch, facts, CASE WHEN released = 0 AND EXISTS (
          SELECT 1 FROM ${nodes} WHERE ${nodes}.id = ${sessions}.node AND ${nodes}.expires > ${now}
        ) THEN 1 ELSE 0 END AS served
        FROM ${sessions} WHERE id = ${id} AND expires > ${now}`),
    ([row]) =>
      Option.map(Option.fromNullable(row), ({ epoch, facts, node, served }): SessionEntry => ({
        id,
        node,
        epoch: Number(epoch),
        facts: Stored.facts(facts),
        isServed: Number(served) === 1
      }))
  )
}

const claim = (self: Self, node: string, id: string, epoch: number) =>
  Effect.map(
    self.transaction("claim a session", claiming(self, node, id, epoch)),
    ([row]) =>
      Option.map(Option.fromNullable(row), ({ facts }): SessionEntry => ({
        id,
        node,
        epoch: epoch + 1,
        facts: Stored.facts(facts),
        isServed: true
      }))
  )

const claiming = Effect.fnUntraced(function*(
  { nodes, now, sessions, sql, ttl }: Self,
  node: string,
  id: string,
  epoch: number
) {
  const at = yield* now
  yield* sql`
    DELETE FROM ${nodes} WHERE expires <= ${at} AND id = (SELECT node FROM ${sessions} WHERE id = ${id})`
  return yield* sql<Pick<Row, "facts">>`
    UPDATE ${sessions} SET node = ${node}, epoch = epoch + 1, written = 0, released = 0, expires = ${at} + ${ttl}
    WHERE id = ${id} AND epoch = ${epoch} AND expires > ${at}
      AND (released = 1 OR NOT EXISTS (SELECT 1 FROM ${nodes} WHERE ${nodes}.id = ${sessions}.node))
    RETURNING facts`
})

/**
 * Stores the facts of a session. PostgreSQL may still run an update after its caller was interrupted. So the update may run after the next
 * update of the session. The column `written` has the number of the last update, so a late update with a lower number does not replace
 * newer facts.
 */
const update = (self: Self, id: string, epoch: number, facts: JsonObject) =>
  Effect.flatMap(Ref.updateAndGet(self.updates, (count) => count + 1), (number) =>
    change(
      self,
      id,
      epoch,
      self.sql`
        facts = CASE WHEN written < ${number} THEN ${JSON.stringify(facts)} ELSE facts END,
        written = CASE WHEN written < ${number} THEN ${number} ELSE written END`
    ))

/** Changes a session in this epoch. Returns `false` when the session has another epoch. */
const change = (self: Self, id: string, epoch: number, set: Fragment) => {
  const { sessions, sql, ttl } = self
  return Effect.map(
    at(self, "change a session", (now) =>
      sql`
        UPDATE ${sessions} SET expires = ${now} + ${ttl}, ${set}
        WHERE id = ${id} AND epoch = ${epoch} AND expires > ${now} RETURNING id`),
    (changed) => changed.length > 0
  )
}

const touch = (self: Self, node: string, ids: ReadonlyArray<string>) => {
  const { sessions, sql, ttl } = self
  // The rows are locked in the order of their ids. Statements that store events lock sessions in the same order, so there is no deadlock.
  const locked = sql.literal(Attempt.isPg(sql) ? "FOR UPDATE" : "")
  return Effect.forEach(
    Arr.chunksOf(ids, TOUCHED),
    (some) =>
      at(self, "keep sessions", (now) =>
        sql`
          UPDATE ${sessions} SET expires = ${now} + ${ttl} WHERE id IN (
            SELECT id FROM ${sessions} WHERE ${sql.in("id", some)} AND node = ${node} AND expires > ${now}
            ORDER BY id ${locked}
          )`),
    { discard: true }
  )
}

const remove = ({ run, sessions, sql }: Self, id: string, epoch: number) =>
  Effect.map(
    run("remove a session", sql`DELETE FROM ${sessions} WHERE id = ${id} AND epoch = ${epoch} RETURNING id`),
    (removed) => removed.length > 0
  )

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<SessionDirectory, never, SqlConnection> =>
  Layer.scoped(SessionDirectory, make(options))

/** @category layers */
export const layer: Layer.Layer<SessionDirectory, never, SqlConnection> = layerWith()

const failing = <A, R>(effect: Effect.Effect<A, SqlStoreError, R>): Effect.Effect<A, SessionDirectoryError, R> =>
  Effect.mapError(effect, ({ isRefused, message }) => new SessionDirectoryError({ isRefused, message }))

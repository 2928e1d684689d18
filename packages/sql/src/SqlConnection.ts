/**
 * Connects a node (a process of the server) to its SQL database, for the other modules of this package. The database is PostgreSQL or
 * SQLite, over any driver of `@effect/sql`. A statement that the database does not answer fails after the time in the option `timeout`.
 *
 * The layer creates the tables (`SqlMigrations`). `Transactions` and `Attempt` run statements. `Wake` tells readers when to read.
 *
 * SQLite runs with a write-ahead log and `synchronous=NORMAL`. So no stored data are lost when the process is killed. When the machine
 * loses power, the data of the last moments may be lost, but the file stays intact.
 *
 * @since 0.1.0
 */
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment, Identifier } from "@effect/sql/Statement"
import * as Readiness from "@effect-mcp/core/Readiness"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Attempt from "./connection/Attempt.js"
import * as PgConnections from "./connection/PgConnections.js"
import * as Transactions from "./connection/Transactions.js"
import * as Wake from "./connection/Wake.js"
import * as Migrate from "./schema/Migrate.js"
import { services } from "./schema/Schema.js"
import * as SqlMigrations from "./SqlMigrations.js"
import type { SqlStoreError } from "./SqlStoreError.js"

/**
 * The database of a node. The functions fail with a `SqlStoreError` when the database does not answer in time or refuses a statement.
 *
 * @category models
 */
export interface SqlConnectionService {
  /** The client, without transformations of names. Use the client only inside `run`, `transaction` and `upkeep`. */
  readonly sql: SqlClient
  /** Returns the name of a table, with the prefix before it. */
  readonly table: (name: string) => Identifier
  /**
   * Runs statements. `what` completes the message "The database did not ..." of an error. When another process has locked the SQLite file,
   * this function tries the statements again until `timeout`.
   */
  readonly run: <A, E, R>(
    what: string,
    effect: Effect.Effect<A, E | SqlError, R>
  ) => Effect.Effect<A, Exclude<E, SqlError> | SqlStoreError, R>
  /**
   * Runs statements in one transaction. In SQLite, the first statement of a transaction that writes must be a write, because a transaction
   * that has read first cannot wait for another process.
   */
  readonly transaction: <A, E, R>(
    what: string,
    effect: Effect.Effect<A, E | SqlError, R>
  ) => Effect.Effect<A, Exclude<E, SqlError> | SqlStoreError, R>
  /**
   * Runs small statements by which a node stays a member of its server, such as the renewal of a lease. (A lease is the right of a node to
   * keep its sessions for a limited time.) In PostgreSQL one connection stays free for these statements, so that they never wait until
   * other statements have stored their data. With this function a node also checks whether another node is alive, before it forwards a
   * request to the other node.
   */
  readonly upkeep: SqlConnectionService["run"]
  /**
   * The present time in milliseconds since 1970, as a part of a statement. In PostgreSQL this is the time of the database, which all nodes
   * share. In SQLite this is the time of the process.
   */
  readonly now: Effect.Effect<Fragment>
  /**
   * Tells the readers of a channel on every node to read. Call this function after the end of the transaction that has changed the rows.
   */
  readonly notify: (channel: string) => Effect.Effect<void>
  /**
   * Returns a stream for a reader of a channel. Each element of the stream tells the reader to read. The first element comes at once. A
   * further element comes soon after a call of `notify`. Because notifications may be lost, an element also comes when there was no
   * notification for the time `every`. Several notifications since the last element give only one element.
   */
  readonly wakes: (channel: string, every: Duration.DurationInput) => Stream.Stream<void>
}

/** @category tags */
export class SqlConnection
  extends Context.Tag("@effect-mcp/sql/SqlConnection")<SqlConnection, SqlConnectionService>()
{}

/**
 * The options of `make` and `layerWith`.
 *
 * @category models
 */
export interface Options extends SqlMigrations.Options {
  /**
   * Whether the layer creates and updates the tables. With `false` the layer only reads the version of the tables, and fails when this
   * version differs from the version of the package. So with `false`, call `SqlMigrations.run` of the same version of this package before
   * the server starts. Default: true.
   */
  readonly migrate?: boolean | undefined
  /** How long the statements of one call of `run`, or of one transaction, may take. Default: 5 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
}

/**
 * Opens the database and creates the tables. Fails when the database does not answer, when the tables cannot be created, and when the
 * tables belong to another version of this package. An HTTP server with the option `health` reports that the process is ready while the
 * database accepts writes.
 *
 * @category constructors
 */
export const make = (
  { migrate = true, timeout = "5 seconds", ...options }: Options = {}
): Effect.Effect<SqlConnectionService, SqlStoreError, SqlClient | Scope.Scope> =>
  Effect.gen(function*() {
    const sql = (yield* SqlClient).withoutTransforms()
    const isPg = Attempt.isPg(sql)
    const limit = Duration.toMillis(timeout)
    const attempt = Attempt.make(limit)
    const data = PgConnections.forData(sql)
    const { outside, within } = Transactions.make(sql, limit, data === undefined ? undefined : Semaphore.make(data))
    const once: Attempt.Run = (what, effect) => attempt(what, outside(effect))
    const unlimited = Attempt.make(limit, Infinity)
    // SQLite has one connection, whose statements run one after another. So it does not need a separate connection for leases.
    const { outside: beside } = isPg ? Transactions.make(sql, limit) : { outside }
    const prefix = options.prefix ?? "mcp_"
    yield* once("open the file", Attempt.open(sql))
    yield* migrate ? SqlMigrations.run({ prefix }) : Migrate.check(services, prefix, sql, once)
    const watch = yield* PgConnections.leavingReadOnly(sql, once)
    const run: Attempt.Run = (what, effect) => watch(once(what, effect))
    const upkeep: Attempt.Run = (what, effect) => watch(unlimited(what, beside(effect)))
    const wake = yield* Wake.make(sql, upkeep)
    // The time at which the statement began. With a time that changes during the statement, PostgreSQL could not use an index.
    const ofPg = Effect.succeed(sql.literal("(extract(epoch from statement_timestamp()) * 1000)::bigint"))
    const now = isPg ? ofPg : Effect.map(Clock.currentTimeMillis, (now) => sql`${now}`)
    // To check that the database accepts writes, this node writes a row into a table of `SqlSharedLimits`. After the node has ended, the
    // row expires, and the sweep of this table deletes it.
    const [uses, key] = [sql(`${prefix}uses`), `ready ${crypto.randomUUID()}`]
    const written = Effect.flatMap(now, (at) =>
      sql`
        INSERT INTO ${uses} (key, expires) VALUES (${key}, ${at} + 60000)
        ON CONFLICT (key) DO UPDATE SET expires = excluded.expires`)
    yield* Readiness.add("The database", upkeep("take a write", written))
    return {
      sql,
      table: (name) => sql(`${prefix}${name}`),
      run,
      upkeep,
      transaction: (what, effect) => watch(attempt(what, within(effect))),
      now,
      notify: (channel) => wake.notify(`${prefix}${channel}`),
      wakes: (channel, every) =>
        Stream.unwrapScoped(Effect.gen(function*() {
          const woken = yield* Queue.sliding<void>(1)
          // The listening begins before the first read, so that the reader misses no change between the two.
          yield* wake.listen(`${prefix}${channel}`, () => void Queue.unsafeOffer(woken, undefined))
          const looks = Stream.repeatEffect(TimeLimit.call(Queue.take(woken), every, () => Effect.void))
          return Stream.concat(Stream.void, looks)
        }))
    }
  })

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<SqlConnection, SqlStoreError, SqlClient> =>
  Layer.scoped(SqlConnection, make(options))

/** @category layers */
export const layer: Layer.Layer<SqlConnection, SqlStoreError, SqlClient> = layerWith()

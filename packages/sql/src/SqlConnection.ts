/**
 * The SQL database of a node, for the other modules of this package: PostgreSQL or SQLite, over any driver of `@effect/sql`. A statement
 * that the database does not answer fails after a while.
 *
 * The layer creates the tables (`SqlMigrations`). `Transactions`, `Attempt` and `Wake` do the work. SQLite runs with a write-ahead log and
 * `synchronous=NORMAL`: what was stored is there after the process was killed; when the machine loses its power, the last moments may be
 * lost, and the file stays intact.
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

/** @category models */
export interface SqlConnectionService {
  /** The client, without transformations of names. Use it inside of `run` and `transaction`. */
  readonly sql: SqlClient
  /** The name of a table behind the prefix. */
  readonly table: (name: string) => Identifier
  /**
   * Runs statements. `what` was to be done, for the message of the error: the end of "The database did not ...". It runs again when
   * another process had locked a SQLite file, until the timeout.
   */
  readonly run: <A, E, R>(
    what: string,
    effect: Effect.Effect<A, E | SqlError, R>
  ) => Effect.Effect<A, Exclude<E, SqlError> | SqlStoreError, R>
  /** Runs statements in one transaction. In SQLite a transaction that reads before it writes begins with a write. */
  readonly transaction: <A, E, R>(
    what: string,
    effect: Effect.Effect<A, E | SqlError, R>
  ) => Effect.Effect<A, Exclude<E, SqlError> | SqlStoreError, R>
  /**
   * As `run`, for leases and for other statements that keep a node a member of the nodes. The statements are small, other statements leave
   * a connection of PostgreSQL free for them, and they never wait behind data. A request that one node passes to another node asks here
   * whether the other node lives.
   */
  readonly upkeep: SqlConnectionService["run"]
  /** Milliseconds since 1970, for a statement: by the clock of PostgreSQL, which all nodes share; in SQLite by the clock of the node. */
  readonly now: Effect.Effect<Fragment>
  /** Wakes the readers of a channel, on every node. Call it after the transaction. */
  readonly notify: (channel: string) => Effect.Effect<void>
  /**
   * An element at once, an element soon after each wake-up of the channel, and an element after `every` without a wake-up. Wake-ups may be
   * lost; all wake-ups since the last element give one element.
   */
  readonly wakes: (channel: string, every: Duration.DurationInput) => Stream.Stream<void>
}

/** @category tags */
export class SqlConnection
  extends Context.Tag("@effect-mcp/sql/SqlConnection")<SqlConnection, SqlConnectionService>()
{}

/** @category models */
export interface Options extends SqlMigrations.Options {
  /**
   * Whether it creates and updates the tables; otherwise `SqlMigrations.run` of the same version of this package has done it before. When
   * false, the layer reads the version of the tables, and fails when the version differs. Default: true.
   */
  readonly migrate?: boolean | undefined
  /** How long statements, or a transaction, may take. Default: 5 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
}

/**
 * Fails when the database does not answer, and when the tables cannot be created, or belong to another version. The process is ready, by
 * the option `health` of an HTTP server, while the database takes writes.
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
    // SQLite has one connection, and its statements run one after another.
    const { outside: beside } = isPg ? Transactions.make(sql, limit) : { outside }
    const prefix = options.prefix ?? "mcp_"
    yield* once("open the file", Attempt.open(sql))
    yield* migrate ? SqlMigrations.run({ prefix }) : Migrate.check(services, prefix, sql, once)
    const watch = yield* PgConnections.leavingReadOnly(sql, once)
    const run: Attempt.Run = (what, effect) => watch(once(what, effect))
    const upkeep: Attempt.Run = (what, effect) => watch(unlimited(what, beside(effect)))
    const wake = yield* Wake.make(sql, upkeep)
    // Of the statement: PostgreSQL compares no index with the time as it goes on.
    const ofPg = Effect.succeed(sql.literal("(extract(epoch from statement_timestamp()) * 1000)::bigint"))
    const now = isPg ? ofPg : Effect.map(Clock.currentTimeMillis, (now) => sql`${now}`)
    // A row of this node in the table of `SqlSharedLimits`, which removes the row when the node has ended.
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
          // Before the first look, so that no change falls between the two.
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

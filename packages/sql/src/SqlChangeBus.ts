/**
 * `ChangeBus` in PostgreSQL: one row for each of the last changes, numbered without a gap, so that a node knows when it has missed
 * some. A notification only wakes the readers.
 *
 * In SQLite, which one process uses, the bus is in memory.
 *
 * @since 0.1.0
 */
import { type Change, ChangeBus, type ChangeBusService, type Member, memory } from "@effect-mcp/server/ChangeBus"
import * as Stored from "@effect-mcp/server/unstable/Stored"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Follow from "./connection/Follow.js"
import { SqlConnection, type SqlConnectionService } from "./SqlConnection.js"

/** @category models */
export interface Options {
  /** How many changes are stored; a node that is further behind gets `Unknown`. Default: 10,000. */
  readonly maxChanges?: number | undefined
}

interface Row {
  readonly latest: string
  /** The members of the change, `null` when there is no new one. */
  readonly number: string | null
  readonly member: string
  readonly change: string
}

const CHANNEL = "changes"

/** How many old changes are deleted with a new one at most: where fewer are stored than before. With a range, PostgreSQL uses the index. */
const SURPLUS = 100

const unknown: Change = { _tag: "Unknown" }

/** How long a member that closes waits until the database has stored its last change. */
const LAST = "400 millis"

const inPostgres = (connection: SqlConnectionService, { maxChanges = 10_000 }: Options): ChangeBusService => {
  const { notify, run, sql, table } = connection
  const [changes, counter] = [table("changes"), table("last_change")]
  const report = Stored.reporter()
  const join = Effect.gen(function*() {
    const id = crypto.randomUUID()
    // How many changes of this member are lost, or may be.
    let owed = 0
    const store = (change: Change) =>
      Effect.zipRight(
        // The row of the number is locked until the change is there: changes appear in their order.
        run(
          "store a change",
          sql`
            WITH next AS (UPDATE ${counter} SET number = number + 1 WHERE id = 1 RETURNING number),
            old AS (
              DELETE FROM ${changes} WHERE number BETWEEN
                (SELECT number - ${maxChanges + SURPLUS} FROM next) AND (SELECT number - ${maxChanges} FROM next)
            )
            INSERT INTO ${changes} (number, member, change) SELECT number, ${id}, ${JSON.stringify(change)} FROM next`
        ),
        notify(CHANNEL)
      )
    const miss = Effect.sync(() => {
      owed++
    })
    // When the database is there again, the other members learn that they have missed changes.
    const settled = Effect.suspend(() => {
      // Another change may be lost while this one is stored.
      const before = owed
      return before === 0 ? Effect.void : Effect.map(store(unknown), () => {
        owed -= before
      })
    })
    // A node that closes before the database is there again tries once more. Only an effect that can be interrupted ends in time.
    const last = Effect.timeoutOption(Effect.interruptible(Effect.disconnect(Effect.ignore(settled))), LAST)
    yield* Effect.addFinalizer(() => last)
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(settled), Schedule.spaced(Follow.LOOK)))

    const [row] = yield* run("find the last change", sql<{ readonly number: string }>`SELECT number FROM ${counter}`)
    let number = Number(row!.number)
    const read = Effect.suspend(() =>
      run(
        "read changes",
        sql<Row>`
          SELECT last.number AS latest, found.number, found.member, found.change
          FROM ${counter} last LEFT JOIN LATERAL (
            SELECT * FROM ${changes} WHERE number > ${number} ORDER BY number LIMIT ${Follow.READ}
          ) found ON true
          ORDER BY found.number`
      )
    )
    const toChanges = (rows: ReadonlyArray<Row>) =>
      Effect.map(
        Effect.forEach(rows, (row) => {
          const at = Number(row.number ?? row.latest)
          // Otherwise a change was removed before it was read, or the database has lost its last ones.
          const isNext = at === (row.number === null ? number : number + 1)
          number = at
          const missed = isNext ? [] : [unknown]
          if (row.number === null || row.member === id) return Effect.succeed(missed)
          const change = Stored.orReport(Stored.change(row.change), report, `change ${at}`)
          return Effect.map(change, (change = unknown) => [...missed, change])
        }),
        (changes) => changes.flat()
      )
    return {
      publish: (change) =>
        store(change).pipe(
          // The database may have stored it, or not: the other nodes are told that a change may be lost.
          Effect.onInterrupt(() => miss),
          Effect.catchAll((error) =>
            Effect.zipRight(miss, Effect.logError("A change could not be sent to the other nodes", error))
          )
        ),
      changes: Follow.rows(connection, CHANNEL, read, toChanges)
    } satisfies Member
  })
  return { join: Effect.orDie(join) }
}

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<ChangeBusService, never, SqlConnection> =>
  Effect.flatMap(SqlConnection, (connection) =>
    connection.sql.onDialectOrElse({
      pg: () => Effect.succeed(inPostgres(connection, options)),
      orElse: () => memory()
    }))

/** @category layers */
export const layer = (options?: Options): Layer.Layer<ChangeBus, never, SqlConnection> =>
  Layer.effect(ChangeBus, make(options))

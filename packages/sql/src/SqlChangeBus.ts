/**
 * Implements `ChangeBus` with PostgreSQL, over a `SqlConnection`. Through this bus the nodes (processes) of a server notify each other of
 * changes. A node that publishes a change stores the change as a row, and tells the other nodes with `NOTIFY` to read. `Follow` then reads
 * the rows, and `ChangeMember` of core decodes the rows. The rows have numbers without a gap, so a node notices when it has missed changes.
 * The database keeps only the last changes.
 *
 * With SQLite only one process uses the database, so the bus is in memory.
 *
 * @since 0.1.0
 */
import { type Change, ChangeBus, type ChangeBusService, type Member, memory } from "@effect-mcp/core/ChangeBus"
import * as ChangeMember from "@effect-mcp/core/unstable/server/ChangeMember"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Follow from "./connection/Follow.js"
import { SqlConnection, type SqlConnectionService } from "./SqlConnection.js"

/**
 * The options of `make` and `layerWith`.
 *
 * @category models
 */
export interface Options {
  /**
   * How many of the last changes the database stores. When a node has more unread changes than this number, the node gets the change
   * `Unknown` instead of the lost changes. Default: 10,000.
   */
  readonly maxChanges?: number | undefined
}

interface Row {
  /** The number of the last change of all nodes. */
  readonly latest: string
  /**
   * The number of this change. When there is no new change, the result has one row, with `null` in this member and in the members below.
   */
  readonly number: string | null
  readonly member: string
  readonly change: string
}

const CHANNEL = "changes"

/**
 * How many old changes one statement deletes at most when it stores a new change. There may be many old changes, for example after you have
 * given the option `maxChanges` a lower value. The deletion has a lower and an upper bound, so that PostgreSQL uses the index.
 */
const SURPLUS = 100

const inPostgres = (connection: SqlConnectionService, { maxChanges = 10_000 }: Options): ChangeBusService => {
  const { notify, run, sql, table } = connection
  const [changes, counter] = [table("changes"), table("last_change")]
  const join = Effect.gen(function*() {
    const id = crypto.randomUUID()
    const store = (change: Change) =>
      Effect.zipRight(
        // The statement locks the row with the number until the change is stored, so changes appear in the order of their numbers.
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
    const publish = yield* ChangeMember.publisher(store)
    const [row] = yield* run("find the last change", sql<{ readonly number: string }>`SELECT number FROM ${counter}`)
    const reader = new ChangeMember.Reader(id, Number(row!.number))
    const read = Effect.suspend(() =>
      run(
        "read changes",
        sql<Row>`
          SELECT last.number AS latest, found.number, found.member, found.change
          FROM ${counter} last LEFT JOIN LATERAL (
            SELECT * FROM ${changes} WHERE number > ${reader.number} ORDER BY number LIMIT ${Follow.READ}
          ) found ON true
          ORDER BY found.number`
      )
    )
    const toChanges = (rows: ReadonlyArray<Row>) =>
      Effect.suspend(() => {
        const [row] = rows
        // There is no new row. When the number of the last change differs from the number of the reader, changes are lost.
        if (row?.number === null) {
          const isSame = Number(row.latest) === reader.number
          reader.number = Number(row.latest)
          return Effect.succeed(isSame ? [] : [ChangeMember.unknown])
        }
        return reader.read(
          rows.map(({ change, member, number }) => ({ number, member, text: change, key: `change ${number}` }))
        )
      })
    return { publish, changes: Follow.rows(connection, CHANNEL, read, toChanges) } satisfies Member
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

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<ChangeBus, never, SqlConnection> =>
  Layer.effect(ChangeBus, make(options))

/** @category layers */
export const layer: Layer.Layer<ChangeBus, never, SqlConnection> = layerWith()

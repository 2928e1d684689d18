/**
 * The epochs of sessions, by their ids: in the directory, and of the events that are stored. What a node writes in an epoch that is over
 * is refused: `StreamWrites` and `StreamRows` ask for the epochs.
 */
import type { Statement } from "@effect/sql/Statement"
import type { StreamKey } from "@effect-mcp/core/EventStore"
import type { SqlConnectionService } from "../SqlConnection.js"
import * as Attempt from "./Attempt.js"
import * as Rows from "./Rows.js"

export type Epochs = ReadonlyMap<string, number>

interface Row {
  readonly session: string
  readonly epoch: number | string | null
}

/** The greatest epoch of each session among operations: in one batch, too, a later epoch ends the epoch before. */
export const ofItems = (items: ReadonlyArray<{ readonly key: StreamKey }>): Epochs => {
  const epochs = new Map<string, number>()
  for (const { key: { epoch, session } } of items) {
    if (epoch !== undefined) epochs.set(session, Math.max(epoch, epochs.get(session) ?? 0))
  }
  return epochs
}

export const ofRows = (rows: ReadonlyArray<Row>): Epochs =>
  new Map(rows.flatMap(({ epoch, session }) => epoch === null ? [] : [[session, Number(epoch)]]))

export const isOver = ({ epoch, session }: Pick<StreamKey, "epoch" | "session">, epochs: Epochs): boolean =>
  epoch !== undefined && epoch < (epochs.get(session) ?? 0)

/**
 * The greatest epoch of each session: of the given ones, in the directory, and among the events. In PostgreSQL no node claims one of
 * the sessions before the transaction ends.
 */
export const make = ({ sql, table }: SqlConnectionService) => {
  const [streams, sessions] = [table("streams"), table("sessions")]
  const isPg = Attempt.isPg(sql)
  const [greatest, locked] = [sql.literal(isPg ? "greatest" : "max"), sql.literal(isPg ? "FOR SHARE" : "")]
  return (own: Epochs): Statement<Row> => {
    // In one order, so that no two nodes wait for each other's rows.
    const ids = [...own.keys()].sort()
    return sql<Row>`
      WITH claimed AS (SELECT id, epoch FROM ${sessions} WHERE ${sql.in("id", ids)} ORDER BY id ${locked})
      SELECT session, ${greatest}(
        items.epoch,
        coalesce((SELECT claimed.epoch FROM claimed WHERE id = items.session), 0),
        coalesce((
          SELECT ${streams}.epoch FROM ${streams} WHERE ${streams}.session = items.session ORDER BY epoch DESC LIMIT 1
        ), 0)
      ) AS epoch
      FROM ${
      Rows.make(
        sql,
        { session: "text", epoch: "bigint" },
        ids.map((session) => ({ session, epoch: own.get(session)! }))
      )
    }`
  }
}

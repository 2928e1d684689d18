/**
 * Finds the present epoch of each session. The epoch of a session is a number that increases each time a node claims the session. The
 * present epoch is the greatest epoch of the session in the directory and among the stored events. Every lower epoch is over. A node that
 * has lost the session may still try to write with a lower epoch. `StreamWrites` and `StreamRows` use this module to refuse such a write.
 */
import type { Statement } from "@effect/sql/Statement"
import type { StreamKey } from "@effect-mcp/core/EventStore"
import type { SqlConnectionService } from "../SqlConnection.js"
import * as Attempt from "./Attempt.js"
import * as Rows from "./Rows.js"

/** The epoch of each session, by the id of the session. */
export type Epochs = ReadonlyMap<string, number>

interface Row {
  readonly session: string
  readonly epoch: number | string | null
}

/**
 * Returns the greatest epoch of each session among the operations of one batch. A later epoch also ends an earlier epoch within a batch.
 */
export const ofItems = (items: ReadonlyArray<{ readonly key: StreamKey }>): Epochs => {
  const epochs = new Map<string, number>()
  for (const { key: { epoch, session } } of items) {
    if (epoch !== undefined) epochs.set(session, Math.max(epoch, epochs.get(session) ?? 0))
  }
  return epochs
}

export const ofRows = (rows: ReadonlyArray<Row>): Epochs =>
  new Map(rows.flatMap(({ epoch, session }) => epoch === null ? [] : [[session, Number(epoch)]]))

/** Returns whether an epoch of a session is over. An operation without an epoch is never refused. */
export const isOver = ({ epoch, session }: Pick<StreamKey, "epoch" | "session">, epochs: Epochs): boolean =>
  epoch !== undefined && epoch < (epochs.get(session) ?? 0)

/**
 * Makes a function that returns a statement. The statement gives the greatest epoch of each session: among the given epochs `own`, in the
 * directory, and among the stored events. In PostgreSQL no node can claim one of these sessions before the transaction ends.
 */
export const make = ({ sql, table }: SqlConnectionService) => {
  const [streams, sessions] = [table("streams"), table("sessions")]
  const isPg = Attempt.isPg(sql)
  const [greatest, locked] = [sql.literal(isPg ? "greatest" : "max"), sql.literal(isPg ? "FOR SHARE" : "")]
  return (own: Epochs): Statement<Row> => {
    // The rows are locked in the order of their ids, so that no two nodes wait for each other.
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

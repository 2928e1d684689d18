/**
 * Implements `Inbox` with PostgreSQL, over a `SqlConnection`. Through inboxes, the nodes (processes) of a server send requests and answers
 * to each other. A sender stores each text as a row, and tells the receiving node with `NOTIFY` to read. The receiving node reads the row
 * and then removes it. An inbox is open only for a limited time, its lease, which the node must renew again and again. When a node has
 * crashed, the lease expires, and other nodes can no longer send to the inbox.
 *
 * With SQLite only one process uses the database, so inboxes are in memory.
 *
 * @since 0.1.0
 */
import type { Identifier } from "@effect/sql/Statement"
import { Inbox, InboxError, type InboxService, type Mailbox, memory } from "@effect-mcp/core/Inbox"
import * as Lease from "@effect-mcp/core/unstable/server/Lease"
import * as Stored from "@effect-mcp/core/unstable/server/Stored"
import * as StoreText from "@effect-mcp/core/unstable/server/StoreText"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Follow from "./connection/Follow.js"
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
   * How many characters may wait in one inbox. A text is refused only when the inbox already has more than this number, so the last
   * accepted text may exceed the limit. Default: 64 Mi (67,108,864) characters.
   */
  readonly maxSize?: number | undefined
  /** How long the inbox of a node stays open when the node does not renew the lease. Default: 10 seconds. */
  readonly lease?: Duration.DurationInput | undefined
}

interface Self extends SqlConnectionService {
  readonly inboxes: Identifier
  readonly texts: Identifier
  readonly maxSize: number
  /** Milliseconds. */
  readonly lease: number
  /** Logs that a text cannot be decoded. */
  readonly report: (key: string) => Effect.Effect<void>
}

const inPostgres = (
  connection: SqlConnectionService,
  options: Options
): Effect.Effect<InboxService, never, Scope.Scope> => {
  const self: Self = {
    ...connection,
    inboxes: connection.table("inboxes"),
    texts: connection.table("texts"),
    maxSize: options.maxSize ?? 64 * 1024 * 1024,
    lease: Duration.toMillis(options.lease ?? "10 seconds"),
    report: Stored.reporter()
  }
  return Effect.as(Sweep.every(connection, "inboxes"), { open: (node) => unavailable(open(self, node)) })
}

const open = Effect.fnUntraced(function*(self: Self, node: string) {
  const lost = yield* hold(self, node)
  return {
    send: (node, text) => send(self, node, text),
    received: Stream.interruptWhen(received(self, node), lost)
  } satisfies Mailbox
})

const channelOf = (node: string): string => `inbox:${node}`

const send = Effect.fnUntraced(
  function*({ inboxes, maxSize, notify, now, run, sql, texts }: Self, node: string, text: string) {
    const at = yield* now
    // The statement locks the row of the inbox before it takes the number of the text. So the texts appear in the order of their numbers.
    const sent = yield* unavailable(run(
      "store a text",
      sql`
      WITH inbox AS (
        UPDATE ${inboxes} SET size = size + ${text.length}
        WHERE node = ${node} AND expires > ${at} AND size <= ${maxSize} RETURNING node
      )
      INSERT INTO ${texts} (node, text, size) SELECT node, ${encode(text)}, ${text.length}::bigint FROM inbox
      RETURNING number`
    ))
    if (sent.length > 0) return yield* notify(channelOf(node))
    const open = yield* unavailable(run(
      "find an inbox",
      sql`SELECT node FROM ${inboxes} WHERE node = ${node} AND expires > ${at}`
    ))
    return yield* new InboxError(
      open.length === 0
        ? { reason: "Gone", message: StoreText.gone(node) }
        : { reason: "Full", message: StoreText.full(node, `${maxSize} characters`) }
    )
  }
)

/** Opens the inbox of a node, and keeps the inbox open until the scope closes. */
const hold = ({ inboxes, lease, now, sql, upkeep }: Self, node: string) =>
  Lease.hold({
    length: lease,
    take: Effect.flatMap(now, (at) =>
      upkeep(
        "open an inbox",
        sql`INSERT INTO ${inboxes} (node, size, expires) VALUES (${node}, 0, ${at} + ${lease})`
      )),
    // An expired inbox is not opened again, because texts that were sent after the expiry are lost.
    renew: Effect.flatMap(now, (at) =>
      Effect.map(
        upkeep(
          "renew an inbox",
          sql`
            UPDATE ${inboxes} SET expires = ${at} + ${lease} WHERE node = ${node} AND expires > ${at}
            RETURNING node`
        ),
        (renewed) => renewed.length > 0
      )),
    release: upkeep("close an inbox", sql`DELETE FROM ${inboxes} WHERE node = ${node}`)
  })

interface Text {
  readonly number: string
  readonly text: string
}

/** Returns the texts that were sent to a node, in the order in which they were stored. */
const received = (self: Self, node: string): Stream.Stream<string> => {
  // The number of the last text that this node has read. This node ignores texts up to this number, so a text that it could not remove does
  // not come twice.
  let last = "0"
  const read = Effect.suspend(() => textsAfter(self, node, last)).pipe(
    Effect.tap((rows) => {
      if (rows.length === 0) return Effect.void
      last = rows.at(-1)!.number
      return Effect.ignore(remove(self, node, last))
    })
  )
  return Follow.rows(self, channelOf(node), read, (rows) =>
    Effect.map(
      Effect.forEach(rows, ({ number, text }) => Stored.orReport(decode(text), self.report, `${number} of ${node}`)),
      (texts) => texts.filter((text) => text !== undefined)
    ))
}

const textsAfter = ({ run, sql, texts }: Self, node: string, last: string) =>
  run(
    "read an inbox",
    sql<Text>`
      SELECT number, text FROM ${texts} WHERE node = ${node} AND number > ${last} ORDER BY number LIMIT ${Follow.READ}`
  )

/** Removes the texts up to the number `last`, and subtracts their size from the size of the inbox. */
const remove = ({ inboxes, run, sql, texts }: Self, node: string, last: string) =>
  run(
    "remove what was read",
    sql`
      WITH gone AS (DELETE FROM ${texts} WHERE node = ${node} AND number <= ${last} RETURNING size)
      UPDATE ${inboxes} SET size = size - (SELECT coalesce(sum(size), 0) FROM gone) WHERE node = ${node}`
  )

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<InboxService, never, SqlConnection | Scope.Scope> =>
  Effect.flatMap(SqlConnection, (connection) =>
    connection.sql.onDialectOrElse({
      pg: () => inPostgres(connection, options),
      orElse: () => memory(options)
    }))

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<Inbox, never, SqlConnection> =>
  Layer.scoped(Inbox, make(options))

/** @category layers */
export const layer: Layer.Layer<Inbox, never, SqlConnection> = layerWith()

const unavailable = <A, R>(effect: Effect.Effect<A, SqlStoreError, R>): Effect.Effect<A, InboxError, R> =>
  Effect.mapError(
    effect,
    ({ isRefused, message }) => new InboxError({ reason: isRefused === true ? "Refused" : "Unavailable", message })
  )

/**
 * Returns the stored form of a text. PostgreSQL cannot store the character NUL, so a text with NUL is stored as a JSON string. A text that
 * begins with a quotation mark is stored as a JSON string as well, so that `decode` can distinguish the two forms.
 */
const encode = (text: string): string => text.startsWith("\"") || text.includes("\0") ? JSON.stringify(text) : text

const decode = (text: string): string | undefined => text.startsWith("\"") ? Stored.string(text) : text

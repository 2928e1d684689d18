/**
 * Notifies the readers that wait for rows of other nodes (processes of the server). A notification tells a reader to read, and has no data.
 * It is called a wake-up. When a wake-up is lost, the reader reads later, because each reader also reads at regular times.
 *
 * Between nodes, one channel of PostgreSQL transports the wake-ups, and `PgConnections` listens to this channel. With SQLite only one
 * process uses the database, so wake-ups stay in the process. `SqlConnection` makes one `Wake`.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import * as Race from "@effect-mcp/core/unstable/kit/Race"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Run } from "./Attempt.js"
import * as PgConnections from "./PgConnections.js"

export interface Wake {
  /** Wakes all listeners of a channel on every node. Call this function after the end of the transaction that has changed the rows. */
  readonly notify: (channel: string) => Effect.Effect<void>
  /** Calls `listener` at each wake-up of a channel, until the scope closes. */
  readonly listen: (channel: string, listener: () => void) => Effect.Effect<void, never, Scope.Scope>
}

export const make = (sql: SqlClient, run: Run): Effect.Effect<Wake, never, Scope.Scope> =>
  Effect.suspend(() => {
    const listeners = listenersOf()
    return Effect.map(
      PgConnections.isPgClient(sql) ? notifyingNodes(sql, run, listeners) : Effect.succeed(() => Effect.void),
      (others): Wake => ({
        notify: (channel) =>
          Effect.suspend(() => {
            listeners.wake(channel)
            return others(channel)
          }),
        listen: listeners.add
      })
    )
  })

/** The listeners of this process, by channel. */
interface Listeners {
  readonly wake: (channel: string) => void
  readonly wakeAll: () => void
  readonly add: (channel: string, listener: () => void) => Effect.Effect<void, never, Scope.Scope>
}

const listenersOf = (): Listeners => {
  const channels = new Map<string, Set<() => void>>()
  const wake = (channel: string) => channels.get(channel)?.forEach((listener) => listener())
  return {
    wake,
    wakeAll: () => channels.forEach((_, channel) => wake(channel)),
    add: (channel, listener) =>
      Effect.asVoid(Effect.acquireRelease(
        Effect.sync(() => {
          const listeners = channels.get(channel) ?? new Set()
          channels.set(channel, listeners.add(listener))
          return listeners
        }),
        (listeners) =>
          Effect.sync(() => {
            listeners.delete(listener)
            if (listeners.size === 0) channels.delete(channel)
          })
      ))
  }
}

const CHANNEL = "mcp_wake"

/**
 * The most characters of a channel name that is sent to other nodes, because PostgreSQL refuses a payload of more than 8,000 bytes. For a
 * channel with a longer name, the readers on other nodes get no wake-up, and read at their next regular read.
 */
const MAX_NAME = 2000

/** How often the node sends a notification to itself. The node also waits this time for the arrival of this notification. */
export const BEAT = Duration.seconds(2)

/**
 * Makes the function that notifies the other nodes. The function ends at once, and the node sends the notification later. A notification
 * has the name of a channel and no data. The node sends all notifications of one moment in one statement, outside of the transactions that
 * have changed the rows. The reason is that in PostgreSQL a transaction that notifies waits for all other transactions that notify.
 *
 * A network may lose notifications without an error. So the node notifies itself every `BEAT`. When its own notification does not arrive,
 * the node listens with a new connection, and wakes all its readers, because they may have missed a wake-up.
 */
const notifyingNodes = (
  sql: PgConnections.PgClient,
  run: Run,
  listeners: Listeners
): Effect.Effect<(name: string) => Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const node = crypto.randomUUID()
    const names = new Set<string>()
    const due = yield* Queue.sliding<void>(1)
    const heard = yield* Queue.sliding<void>(1)

    const send = (names: ReadonlyArray<string>) =>
      run(
        "notify the other nodes",
        sql`SELECT pg_notify(${CHANNEL}, ${node} || ' ' || name) FROM json_array_elements_text(${
          JSON.stringify(names)
        }::json) name`
      )
    const sending = Effect.flatMap(Queue.take(due), () => {
      const all = [...names]
      names.clear()
      return Effect.ignore(send(all))
    })

    const receive = (payload: string) => {
      const end = payload.indexOf(" ")
      const name = payload.slice(end + 1)
      if (payload.slice(0, end) !== node) listeners.wake(name)
      else if (name === "") Queue.unsafeOffer(heard, undefined)
    }
    const listening = Stream.runForEach(PgConnections.listen(sql, CHANNEL), (payload) =>
      Effect.sync(() => receive(payload)))
    /** Sends a notification to this node itself. Returns whether the notification arrives within the time `within`. */
    const hearsItself = (within: Duration.Duration) =>
      Effect.zipRight(
        Effect.ignore(send([""])),
        TimeLimit.call(Effect.as(Queue.take(heard), true), within, () =>
          Effect.succeed(false))
      )
    const beating = Effect.gen(function*() {
      // The first notifications to itself may be sent before the connection listens, so the node tries several times.
      const isBegun = yield* Effect.repeat(hearsItself(Duration.millis(100)), {
        until: (isHeard) => isHeard,
        times: 20
      })
      if (!isBegun) return
      listeners.wakeAll()
      yield* Effect.repeat(Effect.delay(hearsItself(BEAT), BEAT), { while: (isHeard) => isHeard })
    })
    const hearing = Race.raceFirst(Effect.disconnect(listening), beating)
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(hearing), Schedule.spaced("500 millis")))
    yield* Effect.forkScoped(Effect.forever(sending))
    return (name) =>
      Effect.sync(() => {
        if (name.length > MAX_NAME) return
        names.add(name)
        Queue.unsafeOffer(due, undefined)
      })
  })

/**
 * Wakes the readers that wait for rows of other nodes; `SqlConnection` makes a `Wake` for its services, and `PgConnections` hears the
 * channel. The rows are the truth: a wake-up that is lost makes a reader wait for its next look, no more. In SQLite, which one process
 * uses, wake-ups stay in the process; between nodes they go over one channel of PostgreSQL.
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
  /** Wakes all that listen to a channel, on every node. Call it after the transaction has ended. */
  readonly notify: (channel: string) => Effect.Effect<void>
  /** Calls back with each wake-up of a channel, until the scope closes. */
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

/** The readers in this process that wait for wake-ups, by their channels. */
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

/** PostgreSQL refuses more than 8,000 bytes; a longer name is not sent, and its readers look by themselves. */
const MAX_NAME = 2000

/** How often the node notifies itself, and how long it waits until it hears that. */
export const BEAT = Duration.seconds(2)

/**
 * Gives what notifies the other nodes. It ends at once: the notification, which has the name of what has changed and no data, follows.
 * Notifications of one moment are one statement, apart from the transactions that they are about: a transaction that notifies would wait
 * for all other transactions that notify.
 *
 * A network may swallow what is sent to the connection that listens. So the node notifies itself from time to time: when it does not
 * hear that, it listens again, and wakes all its readers, which may have missed something.
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
    /** Whether the node hears itself within so long. */
    const hearsItself = (within: Duration.Duration) =>
      Effect.zipRight(
        Effect.ignore(send([""])),
        TimeLimit.call(Effect.as(Queue.take(heard), true), within, () =>
          Effect.succeed(false))
      )
    const beating = Effect.gen(function*() {
      // The first notifications may be sent before the connection listens.
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

/**
 * Wakes those that wait for rows of other nodes. The rows are the truth: a wake-up that is lost makes a reader wait for its next
 * look, no more. In SQLite, which one process uses, wake-ups stay in the process.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Run } from "./Attempt.js"
import * as Listeners from "./Listeners.js"
import * as PgListen from "./PgListen.js"
import * as PgWake from "./PgWake.js"

export interface Wake {
  /** Wakes all that listen to a channel, on every node. Call it after the transaction has ended. */
  readonly notify: (channel: string) => Effect.Effect<void>
  /** Calls back with each wake-up of a channel, until the scope closes. */
  readonly listen: (channel: string, listener: () => void) => Effect.Effect<void, never, Scope.Scope>
}

export const make = (sql: SqlClient, run: Run): Effect.Effect<Wake, never, Scope.Scope> =>
  Effect.suspend(() => {
    const listeners = Listeners.make()
    return Effect.map(
      PgListen.isPgClient(sql) ? PgWake.make(sql, run, listeners) : Effect.succeed(() => Effect.void),
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

/**
 * The engines that the laws of services run on.
 */
import type * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import { Effect, type Scope, TestServices } from "effect"
import * as Postgres from "./Postgres.js"
import * as Sqlite from "./Sqlite.js"

type Make<A> = Effect.Effect<A, never, Scope.Scope | SqlConnection.SqlConnection>

/** A service over an empty database: on two nodes of PostgreSQL, or twice the one of SQLite, which one process uses. */
export const engines: ReadonlyArray<{
  readonly engine: string
  readonly pair: <A>(service: Make<A>) => Effect.Effect<readonly [A, A], unknown, Scope.Scope>
}> = [
  ...(Postgres.isThere ? [{ engine: "PostgreSQL", pair: Postgres.pair }] : []),
  { engine: "SQLite", pair: (service) => Effect.map(Sqlite.empty(service), (one) => [one, one] as const) }
]

/** Has the real time, in a test that has its own. */
export const inRealTime = (connection: SqlConnection.SqlConnectionService): SqlConnection.SqlConnectionService => ({
  ...connection,
  run: (what, effect) => TestServices.provideLive(connection.run(what, effect)),
  transaction: (what, effect) => TestServices.provideLive(connection.transaction(what, effect))
})

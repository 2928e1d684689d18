import { describe, it } from "@effect/vitest"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlSealKeys from "@effect-mcp/sql/SqlSealKeys"
import * as SealKeysLaws from "@effect-mcp/testing/SealKeysLaws"
import { Clock, Effect, TestServices } from "effect"
import { engines } from "./Engines.js"

/** Keys with the time of the test, over a connection that has the real one. */
const keys = Effect.map(SqlConnection.SqlConnection, (connection): SqlConnection.SqlConnectionService => ({
  ...connection,
  now: Effect.map(Clock.currentTimeMillis, (now) => connection.sql`${now}`),
  run: (what, effect) => TestServices.provideLive(connection.run(what, effect))
}))

const make = (connection: SqlConnection.SqlConnectionService) =>
  Effect.provideService(SqlSealKeys.make(SealKeysLaws.rotation), SqlConnection.SqlConnection, connection)

describe.each(engines)("keys in $engine", ({ pair }) => {
  const nodes = Effect.flatMap(
    TestServices.provideLive(pair(keys)),
    ([one, two]) => Effect.all([make(one), make(two)])
  )
  for (const { check, name } of SealKeysLaws.laws) it.scoped(name, () => check(nodes))
})

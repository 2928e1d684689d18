import { it } from "@effect/vitest"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlCredentialStore from "@effect-mcp/sql/SqlCredentialStore"
import { Effect, TestServices } from "effect"
import { inject } from "vitest"
import * as FaultsLaws from "../../auth/test/CredentialFaultsLaws.js"
import { inRealTime } from "./Engines.js"
import * as Postgres from "./Postgres.js"
import * as PostgresProcess from "./PostgresProcess.js"

const place = Effect.gen(function*() {
  const { start, stop, url } = yield* TestServices.provideLive(
    PostgresProcess.make({ template: inject("postgresTemplate") })
  )
  const one = Effect.flatMap(
    TestServices.provideLive(Postgres.connection(url, { timeout: "1 second" })),
    (connection) =>
      Effect.provideService(SqlCredentialStore.make("ada"), SqlConnection.SqlConnection, inRealTime(connection))
  )
  return { stores: yield* Effect.all([one, one, one]), start, stop }
})

Postgres.suite("processes that share credentials in a PostgreSQL that restarts", () => {
  for (const { check, name } of FaultsLaws.laws) it.scoped(name, () => check(place), 60_000)
})

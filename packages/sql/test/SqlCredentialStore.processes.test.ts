import { it } from "@effect/vitest"
import * as SqlCredentialStore from "@effect-mcp/sql/SqlCredentialStore"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as ProcessesLaws from "../../auth/test/ProcessesLaws.js"
import * as Postgres from "./Postgres.js"

const place = Effect.gen(function*() {
  const url = yield* Postgres.database
  return { store: yield* Postgres.node(url, SqlCredentialStore.make("ada")), argument: url }
})

Postgres.suite("processes that share credentials in PostgreSQL", () => {
  for (const { check, name } of ProcessesLaws.laws) {
    it.scopedLive(name, () => check(fileURLToPath(new URL("..", import.meta.url)), place), 180_000)
  }
})

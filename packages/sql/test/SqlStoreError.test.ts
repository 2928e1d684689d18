import { assert, describe, it } from "@effect/vitest"
import { SqlStoreError } from "@effect-mcp/sql/SqlStoreError"
import { Effect } from "effect"
import * as Sqlite from "./Sqlite.js"

describe("an error of the database", () => {
  it.scopedLive("says what the database did not do, and never with which values", () =>
    Effect.gen(function*() {
      const { run, sql } = yield* Sqlite.connection(yield* Sqlite.file)
      const error = yield* Effect.flip(run("store a secret", sql`INSERT INTO nowhere VALUES (${"secret-value"})`))
      assert.instanceOf(error, SqlStoreError)
      assert.include(error.message, "The database did not store a secret: ")
      assert.notInclude(JSON.stringify(error) + String(error), "secret-value")
    }))
})

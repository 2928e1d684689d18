import { LibsqlClient } from "@effect/sql-libsql"
import { assert, describe, it } from "@effect/vitest"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlEventStore from "@effect-mcp/sql/SqlEventStore"
import * as SqlSessionDirectory from "@effect-mcp/sql/SqlSessionDirectory"
import { Effect, Layer, Option } from "effect"
import * as Sqlite from "./Sqlite.js"

describe.each(["bigint", "string"] as const)("a client that reads integers as %s", (intMode) => {
  it.scopedLive("has the sessions that are served, and the streams that have finished", () =>
    Effect.gen(function*() {
      const client = LibsqlClient.layer({ url: `file:${yield* Sqlite.file}`, intMode })
      const connection = yield* Layer.build(Layer.provide(SqlConnection.layer, client))
      const directory = yield* Effect.provide(SqlSessionDirectory.make(), connection)
      const { create, find } = yield* directory.join("one")
      yield* create("s", {})
      const entry = { id: "s", node: "one", epoch: 1, facts: {}, isServed: true }
      assert.deepStrictEqual(yield* find("s"), Option.some(entry))

      const events = yield* Effect.provide(SqlEventStore.make(), connection)
      const key = { session: "s", stream: "1", epoch: 1 }
      yield* events.open(key, [7])
      assert.deepStrictEqual(yield* events.unfinished(key), [7])
      yield* events.append(key, { position: 1, data: "{}" })
      yield* events.finish(key)
      assert.deepStrictEqual(yield* events.unfinished(key), [])
      assert.deepStrictEqual(yield* events.after(key, 0), Option.some([{ position: 1, data: "{}" }]))
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as SqlInbox from "@effect-mcp/sql/SqlInbox"
import * as InboxLaws from "@effect-mcp/testing/InboxLaws"
import { Effect, Exit, Scope, Stream } from "effect"
import { engines } from "./Engines.js"
import * as Postgres from "./Postgres.js"

describe.each(engines)("inboxes in $engine", ({ pair }) => {
  for (const { check, name } of InboxLaws.laws) it.scopedLive(name, () => check(pair(SqlInbox.make())))
  for (const { check, name } of InboxLaws.bounded) {
    it.scopedLive(name, () => check(pair(SqlInbox.make(InboxLaws.small))))
  }

  it.scopedLive("name the node that cannot be reached", () =>
    Effect.gen(function*() {
      const [inbox] = yield* pair(SqlInbox.make({ maxSize: 10 }))
      const { send } = yield* inbox.open("one")
      yield* send("one", "more than ten")
      const [gone, full] = [yield* Effect.flip(send("two", "text")), yield* Effect.flip(send("one", "text"))]
      assert.strictEqual(gone.message, "The node \"two\" has no open inbox: the node or its lease has ended")
      assert.strictEqual(
        full.message,
        "More than 10 characters wait for the node \"one\": send again when it has read some, or give `maxSize` a higher value"
      )
    }))
})

Postgres.suite("inboxes in PostgreSQL", () => {
  it.scopedLive("store nothing that was read, and nothing of a node that has ended", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const { run, sql, table } = yield* Postgres.connection(url)
      const inbox = yield* Postgres.node(url, SqlInbox.make())
      const scope = yield* Scope.make()
      const { received, send } = yield* Scope.extend(inbox.open("one"), scope)
      for (const text of ["a", "b", "c"]) yield* send("one", text)
      const stored = run("read", sql`SELECT 1 FROM ${table("texts")}`)
      assert.strictEqual((yield* stored).length, 3)
      yield* Stream.runDrain(Stream.take(received, 3))
      assert.strictEqual((yield* stored).length, 0)
      yield* send("one", "d")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* stored).length, 0)
    }))

  it.scopedLive("end what a node receives whose lease the database has ended", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const { run, sql, table } = yield* Postgres.connection(url)
      const inbox = yield* Postgres.node(url, SqlInbox.make({ lease: 300 }))
      const { received } = yield* inbox.open("one")
      yield* run("end", sql`DELETE FROM ${table("inboxes")}`)
      yield* Stream.runDrain(received)
    }))
})

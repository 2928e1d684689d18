import { assert, describe, it } from "@effect/vitest"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import { Effect, Exit, Fiber, Layer } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import * as Sqlite from "../Sqlite.js"

/** A file as two processes have it, with what each test stores: two rows in a transaction, or one. */
const opened = Effect.gen(function*() {
  const path = yield* Sqlite.file
  const [one, two] = [yield* Sqlite.connection(path), yield* Sqlite.connection(path)]
  const insert = (id: string) => one.sql`INSERT INTO ${one.table("nodes")} (id, expires) VALUES (${id}, 1)`
  const ids = Effect.map(
    two.run("read", two.sql<{ readonly id: string }>`SELECT id FROM ${two.table("nodes")} ORDER BY id`),
    (rows) => rows.map(({ id }) => id)
  )
  const clear = two.run("clear", two.sql`DELETE FROM ${two.table("nodes")}`)
  const pair = (name: string) =>
    one.transaction(
      "store",
      Effect.zipRight(insert(`${name}1`), Effect.zipRight(Effect.yieldNow(), insert(`${name}2`)))
    )
  return { one, two, pair, single: (id: string) => one.run("store", insert(id)), ids, clear }
})

describe("a SQLite file with statements that wait for each other", () => {
  for (const interrupted of ["the one that runs", "one that waits", "both"] as const) {
    it.scopedLive(
      `is free again, and has all of a transaction or nothing, when they are interrupted: ${interrupted}`,
      () =>
        Effect.gen(function*() {
          const { clear, ids, pair, single } = yield* opened
          let turns = 0
          const interrupting = Effect.gen(function*() {
            yield* clear
            const first = yield* Effect.forkDaemon(pair("a"))
            const second = yield* Effect.forkDaemon(pair("b"))
            const third = yield* Effect.forkDaemon(single("c"))
            yield* Effect.repeatN(Effect.yieldNow(), turns++ % 12)
            if (interrupted !== "one that waits") yield* Fiber.interruptFork(first)
            if (interrupted !== "the one that runs") yield* Fiber.interruptFork(second)
            const [one, two] = [yield* Fiber.await(first), yield* Fiber.await(second)]
            const three = yield* Fiber.await(third)
            assert.isTrue(Exit.isSuccess(three), String(three))
            yield* pair("d")
            const found = yield* ids
            for (const [name, exit] of [["a", one], ["b", two]] as const) {
              const stored = found.filter((id) => id.startsWith(name))
              assert.include([0, 2], stored.length, `half of a transaction is there: ${found.join()}`)
              if (Exit.isSuccess(exit)) assert.strictEqual(stored.length, 2)
            }
            assert.includeMembers(found, ["c", "d1", "d2"])
          })
          yield* preempted(interrupting, { runs: 60 })
        }),
      30_000
    )
  }

  it.scopedLive("commits again when they were interrupted while another process had locked the file", () =>
    Effect.gen(function*() {
      const { clear, ids, pair, single, two } = yield* opened
      for (let turns = 0; turns < 40; turns++) {
        yield* clear
        yield* two.transaction(
          "lock",
          Effect.gen(function*() {
            yield* two.sql`DELETE FROM ${two.table("nodes")}`
            const waiting = [yield* Effect.forkDaemon(pair("a")), yield* Effect.forkDaemon(single("b"))]
            yield* Effect.repeatN(Effect.yieldNow(), turns)
            yield* Effect.forEach(waiting, Fiber.interruptFork)
          })
        )
        yield* pair("c")
        assert.includeMembers([...yield* ids], ["c1", "c2"])
      }
    }))
})

describe("two connections over one client of a SQLite file", () => {
  it.scopedLive("keep the statements of one out of the transactions of the other", () =>
    Effect.gen(function*() {
      const client = yield* Layer.build(Sqlite.client(yield* Sqlite.file))
      const over = (prefix: string) => Effect.provide(SqlConnection.make({ prefix }), client)
      const [one, two] = [yield* over("a_"), yield* over("b_")]
      const insert = ({ sql, table }: SqlConnection.SqlConnectionService) =>
        sql`INSERT INTO ${table("nodes")} (id, expires) VALUES ('n', 1)`
      const count = ({ run, sql, table }: SqlConnection.SqlConnectionService) =>
        Effect.map(run("read", sql`SELECT * FROM ${table("nodes")}`), ({ length }) => length)
      const rolledBack = yield* Effect.flip(one.transaction(
        "store",
        Effect.gen(function*() {
          yield* insert(one)
          const storing = yield* Effect.forkDaemon(two.run("store", insert(two)))
          yield* Effect.repeatN(Effect.yieldNow(), 50)
          return yield* Effect.fail({ _tag: "RolledBack", storing } as const)
        })
      ))
      assert.strictEqual(rolledBack._tag, "RolledBack")
      if (rolledBack._tag === "RolledBack") yield* Fiber.join(rolledBack.storing)
      assert.deepStrictEqual([yield* count(one), yield* count(two)], [0, 1])
    }))
})

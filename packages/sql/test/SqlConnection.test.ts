import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Fiber, Queue, Stream } from "effect"
import { readdirSync, readlinkSync } from "node:fs"
import * as Postgres from "./Postgres.js"
import * as Sqlite from "./Sqlite.js"

const linkOf = (fd: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ""
  }
}

const opened = Effect.flatMap(Sqlite.file, (path) => Sqlite.connection(path))

Postgres.suite("a connection to PostgreSQL", () => {
  it.scopedLive("finds by an index what has expired", () =>
    Effect.gen(function*() {
      const { now, sql, table, transaction } = yield* Effect.flatMap(Postgres.database, Postgres.connection)
      const at = yield* now
      const plan = yield* transaction(
        "explain",
        Effect.zipRight(
          sql`SET LOCAL enable_seqscan = off`,
          sql`EXPLAIN SELECT id FROM ${table("sessions")} WHERE expires <= ${at}`
        )
      )
      assert.include(JSON.stringify(plan), table("sessions_expires").value)
    }))

  it.scopedLive("runs a transaction again that was undone because of a deadlock", () =>
    Effect.gen(function*() {
      const { run, sql, table, transaction } = yield* Effect.flatMap(Postgres.database, Postgres.connection)
      const nodes = table("nodes")
      yield* run("store", sql`INSERT INTO ${nodes} (id, expires) VALUES ('a', 0), ('b', 0)`)
      const add = (id: string) => sql`UPDATE ${nodes} SET expires = expires + 1 WHERE id = ${id}`
      const crossing = (first: string, second: string, own: Deferred.Deferred<void>, other: Deferred.Deferred<void>) =>
        transaction(
          "lock",
          Effect.all([add(first), Deferred.succeed(own, undefined), Deferred.await(other), add(second)], {
            discard: true
          })
        )
      const [one, two] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* Effect.all([crossing("a", "b", one, two), crossing("b", "a", two, one)], { concurrency: 2 })
      const rows = yield* run("read", sql<{ readonly expires: string }>`SELECT expires FROM ${nodes}`)
      assert.deepStrictEqual(rows.map(({ expires }) => expires), ["2", "2"])
    }))

  it.scopedLive("reports the failure of a statement whose connection is lost, and not that of the ROLLBACK after it", () =>
    Effect.gen(function*() {
      const { sql, transaction } = yield* Effect.flatMap(Postgres.database, Postgres.connection)
      const { code, message } = yield* Effect.flip(
        transaction("store", sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      )
      assert.strictEqual(
        message,
        "The database did not store: terminating connection due to administrator command (57P01)"
      )
      assert.strictEqual(code, "57P01")
      assert.strictEqual(yield* Effect.flip(transaction("store", Effect.fail("no"))), "no")
    }))
})

Postgres.suite("a connection to PostgreSQL whose statements lose their callers", () => {
  it.scopedLive("cancels none of the others", () =>
    Effect.gen(function*() {
      const { run, sql } = yield* Effect.flatMap(Postgres.database, Postgres.connection)
      const answered = run("answer", sql`SELECT pg_sleep(0.01)`)
      // The callers leave at different moments, some of them while the answer arrives.
      for (let n = 0; n < 60; n++) {
        const abandoned = Effect.timeoutOption(run("wait", sql`SELECT pg_sleep(0.02)`), 10 + n / 4)
        yield* Effect.all([...Array.from({ length: 6 }, () => abandoned), answered, answered], {
          concurrency: "unbounded"
        })
      }
    }))
})

Postgres.suite("a transaction of PostgreSQL that loses its caller", () => {
  /** Two connections, of which one listens. */
  const narrow = Effect.flatMap(Postgres.database, (url) => Postgres.connection(url, { timeout: "2 seconds" }, 2))

  it.scopedLive("gives its connection back as soon as its statement has ended, and leaves the next statement alone", () =>
    Effect.gen(function*() {
      const { run, sql, table, transaction } = yield* narrow
      const store = sql`INSERT INTO ${table("nodes")} (id, expires) VALUES ('n', 1)`
      const begun = yield* Deferred.make<void>()
      const slow = Effect.all([store, Deferred.succeed(begun, undefined), sql`SELECT pg_sleep(0.2)`])
      const abandoned = yield* Effect.fork(transaction("store", slow))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(abandoned)
      const stored = yield* run("read", sql`SELECT * FROM ${table("nodes")}`)
      assert.deepStrictEqual([...stored], [], "it was committed")
      yield* Effect.all(Array.from({ length: 4 }, () => run("answer", sql`SELECT pg_sleep(0.05)`)))
    }))
})

describe("a connection to SQLite", () => {
  it.scopedLive("has a write-ahead log", () =>
    Effect.gen(function*() {
      const { run, sql } = yield* opened
      const [row] = yield* run("tell", sql<{ readonly journal_mode: string }>`PRAGMA journal_mode`)
      assert.strictEqual(row?.journal_mode, "wal")
    }))

  it.scopedLive("leaves no transaction open when it is interrupted, or fails", () =>
    Effect.gen(function*() {
      const { run, sql, table, transaction } = yield* opened
      const insert = sql`INSERT INTO ${table("nodes")} (id, expires) VALUES ('n', 1)`
      const begun = yield* Queue.unbounded<void>()
      const fiber = yield* Effect.fork(transaction(
        "store",
        Effect.zipRight(insert, Effect.zipRight(Queue.offer(begun, undefined), Effect.never))
      ))
      yield* Queue.take(begun)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.strictEqual(yield* Effect.flip(transaction("store", Effect.zipRight(insert, Effect.fail("no")))), "no")
      assert.deepStrictEqual([...yield* run("read", sql`SELECT * FROM ${table("nodes")}`)], [])
      yield* transaction("store", insert)
    }))

  it.scopedLive("names another process that has locked the file, instead of waiting without an end", () =>
    Effect.gen(function*() {
      const path = yield* Sqlite.file
      const one = yield* Sqlite.connection(path)
      const two = yield* Sqlite.connection(path, { timeout: "1 second" })
      const clean = two.run("store", two.sql`DELETE FROM ${two.table("nodes")}`)
      const { message } = yield* one.transaction(
        "lock",
        Effect.zipRight(one.sql`DELETE FROM ${one.table("nodes")}`, Effect.flip(clean))
      )
      assert.strictEqual(
        message,
        "The database did not store: another process has locked the SQLite file. Only one process at a time may use it " +
          "(SQLITE_BUSY)"
      )
      yield* clean
    }))

  it.scopedLive("commits again when the lock of another process has ended, whatever has met it", () =>
    Effect.gen(function*() {
      const path = yield* Sqlite.file
      const one = yield* Sqlite.connection(path)
      const two = yield* Sqlite.connection(path, { timeout: "1 second" })
      const clean = two.sql`DELETE FROM ${two.table("nodes")}`
      for (const store of [two.run("store", clean), two.transaction("store", clean)]) {
        yield* one.transaction(
          "lock",
          Effect.zipRight(one.sql`DELETE FROM ${one.table("nodes")}`, Effect.flip(store))
        )
        yield* one.run("store", one.sql`INSERT INTO ${one.table("nodes")} (id, expires) VALUES ('n', 1)`)
        yield* two.transaction("store", clean)
        assert.deepStrictEqual([...yield* one.run("read", one.sql`SELECT * FROM ${one.table("nodes")}`)], [])
      }
      const [row] = yield* two.run("tell", two.sql<{ readonly synchronous: number }>`PRAGMA synchronous`)
      assert.strictEqual(row?.synchronous, 1)
    }))

  it.scopedLive.skipIf(process.platform !== "linux")(
    "runs one transaction at a time, and other statements outside of it",
    () =>
      Effect.gen(function*() {
        const path = yield* Sqlite.file
        const { run, sql, table, transaction } = yield* Sqlite.connection(path)
        const insert = (id: string) => sql`INSERT INTO ${table("nodes")} (id, expires) VALUES (${id}, 1)`
        const open = () => readdirSync("/proc/self/fd").filter((fd) => linkOf(fd).startsWith(path)).length
        const before = open()
        const failed = Effect.forEach(
          Array.from({ length: 50 }),
          (_, n) => Effect.ignore(transaction("store", Effect.zipRight(insert(`lost-${n}`), Effect.fail("no")))),
          {
            concurrency: "unbounded"
          }
        )
        const stored = Effect.forEach(Array.from({ length: 50 }), (_, n) => run("store", insert(`${n}`)), {
          concurrency: "unbounded"
        })
        yield* Effect.all([failed, stored], { concurrency: "unbounded" })
        const found = yield* run("read", sql`SELECT id FROM ${table("nodes")} WHERE id LIKE 'lost%'`)
        const all = yield* run("read", sql`SELECT id FROM ${table("nodes")}`)
        assert.deepStrictEqual([found.length, all.length], [0, 50])
        assert.strictEqual(open(), before, "a transaction has opened the file again")
      })
  )

  it.scopedLive("waits for a lock of another process that ends in time", () =>
    Effect.gen(function*() {
      const path = yield* Sqlite.file
      const one = yield* Sqlite.connection(path)
      const two = yield* Sqlite.connection(path)
      const waiting = yield* one.transaction(
        "lock",
        Effect.zipRight(
          one.sql`DELETE FROM ${one.table("nodes")}`,
          Effect.zipLeft(
            Effect.forkDaemon(two.run("store", two.sql`DELETE FROM ${two.table("nodes")}`)),
            Effect.yieldNow()
          )
        )
      )
      yield* Fiber.join(waiting)
    }))

  it.scopedLive("has no part in the transaction of a handler that fails", () =>
    Effect.gen(function*() {
      const path = yield* Sqlite.file
      const { run, sql, table } = yield* Sqlite.connection(path)
      const application = yield* Sqlite.connection(yield* Sqlite.file)
      const store = run("store", sql`INSERT INTO ${table("nodes")} (id, expires) VALUES ('n', 1)`)
      yield* Effect.flip(application.sql.withTransaction(Effect.zipRight(store, Effect.fail("no"))))
      assert.strictEqual((yield* run("read", sql`SELECT * FROM ${table("nodes")}`)).length, 1)
    }))

  it.scopedLive("fails when the database does not answer in time", () =>
    Effect.gen(function*() {
      const { run } = yield* Sqlite.connection(yield* Sqlite.file, { timeout: "100 millis" })
      const { code, message } = yield* Effect.flip(run("store", Effect.never))
      assert.strictEqual(message, "The database did not store: no answer within 100 ms")
      assert.strictEqual(code, "ETIMEDOUT")
    }))

  it.scopedLive("wakes those that listen to a channel, and looks by itself after a while", () =>
    Effect.gen(function*() {
      const { notify, wakes } = yield* opened
      const seen = yield* Queue.unbounded<void>()
      yield* Effect.forkScoped(Stream.runForEach(wakes("a", "1 hour"), () => Queue.offer(seen, undefined)))
      yield* Queue.take(seen)
      yield* notify("b")
      yield* notify("a")
      yield* Queue.take(seen)
      assert.strictEqual(yield* Queue.size(seen), 0)
      const looks = yield* Stream.runCollect(Stream.take(wakes("never", "1 millis"), 4))
      assert.strictEqual(Chunk.size(looks), 4)
    }))
})

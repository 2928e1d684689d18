/**
 * Nodes over a PostgreSQL that fails. It takes more than ten seconds: it restarts the server, and waits until the nodes have noticed.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { type Change, ChangeBus } from "@effect-mcp/core/ChangeBus"
import { Inbox } from "@effect-mcp/core/Inbox"
import { SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import { Clock, Context, Effect, Exit, Fiber, Layer, Option, Queue, Schedule, Scope, Stream } from "effect"
import { inject } from "vitest"
import * as NodesLaws from "../../testing/test/support/NodesLaws.js"
import * as HttpNode from "./HttpNode.js"
import * as Postgres from "./Postgres.js"
import * as PostgresProcess from "./PostgresProcess.js"
import { unhandled } from "./unhandled.js"

/** The services of a node. */
const services = (url: string, options?: Partial<PgNodes.Options>) =>
  Layer.build(Layer.fresh(PgNodes.layer({ url, ...options })))

/** Ends every connection to a database, apart from the one that does it. */
const disconnect = (url: string) =>
  Effect.orDie(Effect.provide(
    Effect.flatMap(PgClient.PgClient, (sql) =>
      sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE pid <> pg_backend_pid() AND datname = current_database()`),
    Postgres.client(url)
  ))

const expect = (isKept: boolean, message: string) => Effect.sync(() => assert.isTrue(isKept, message))

const millis = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))

Postgres.suite("nodes over a PostgreSQL that fails", () => {
  it.scopedLive("keep the sessions of their clients when it is restarted, and hear of each other's changes after it", () =>
    Effect.gen(function*() {
      const process = yield* PostgresProcess.make({ template: inject("postgresTemplate") })
      const nodes = yield* Effect.all([HttpNode.make(process.url), HttpNode.make(process.url)])
      const one = yield* NodesLaws.client(nodes, "2025-11-25")
      yield* one.awaitSubscription
      yield* NodesLaws.greet(one, 2, expect)
      yield* process.restart
      const greeted = NodesLaws.greet(one, 4, expect)
      yield* Effect.retry(greeted, Schedule.spaced("200 millis"))
      const changes = yield* Effect.fork(Stream.runHead(one.listChanges))
      yield* Effect.all(nodes.map(({ changed }) => changed))
      yield* Fiber.join(changes)
      assert.strictEqual(nodes[0].sessions() + nodes[1].sessions(), 1)
    }))

  it.scopedLive("serve their own clients while it has stopped, and keep their sessions", () =>
    Effect.gen(function*() {
      const process = yield* PostgresProcess.make({ template: inject("postgresTemplate") })
      const nodes = yield* Effect.all([HttpNode.make(process.url), HttpNode.make(process.url)])
      const one = yield* NodesLaws.client([nodes[0]], "2025-11-25")
      yield* NodesLaws.greet(one, 1, expect)
      yield* process.pause
      yield* NodesLaws.greet(one, 2, expect)
      yield* Effect.sleep("1 second")
      yield* process.resume
      yield* NodesLaws.greet(one, 2, expect)
      assert.deepStrictEqual(nodes.map(({ sessions }) => sessions()), [1, 0])
    }))

  it.scopedLive("end although it does not answer", () =>
    Effect.gen(function*() {
      const process = yield* PostgresProcess.make({ template: inject("postgresTemplate") })
      const scope = yield* Scope.make()
      const context = yield* Scope.extend(services(process.url), scope)
      const { create } = yield* Scope.extend(Context.get(context, SessionDirectory).join("one"), scope)
      yield* Scope.extend(Context.get(context, Inbox).open("one"), scope)
      yield* Scope.extend(Context.get(context, ChangeBus).join, scope)
      yield* process.pause
      const waiting = yield* Effect.fork(Effect.flip(create("s", {})))
      const before = yield* millis
      yield* Effect.timeout(Effect.disconnect(Scope.close(scope, Exit.void)), "10 seconds")
      const took = (yield* millis) - before
      yield* Fiber.join(waiting)
      yield* process.resume
      assert.isBelow(took, 5000)
    }))
})

Postgres.suite.concurrent("nodes whose connections end again and again", () => {
  it.scopedLive("get each text once, in its order, and every one that was sent", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const [one, two] = [yield* services(url), yield* services(url)]
      const { send } = yield* Context.get(one, Inbox).open("one")
      const { received } = yield* Context.get(two, Inbox).open("two")
      const sent: Array<string> = []
      const reading = yield* Effect.fork(Stream.runCollect(Stream.takeUntil(received, (text) => text === "end")))
      for (let n = 0; n < 300; n++) {
        // Whether a text that has failed is sent is not known.
        if (yield* Effect.isSuccess(send("two", `${n}`))) sent.push(`${n}`)
        if (n % 50 === 25) yield* disconnect(url)
      }
      yield* Effect.retry(send("two", "end"), { times: 20 })
      const got = [...yield* Fiber.join(reading)].map(Number)
      assert.includeMembers(got.map(String), sent)
      assert.isTrue(got.slice(0, -1).every((n, at) => at === 0 || n > got[at - 1]!), got.join())
    }))

  it.scopedLive("miss no change", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const [one, two] = [yield* services(url), yield* services(url)]
      const { publish } = yield* Context.get(one, ChangeBus).join
      const { changes } = yield* Context.get(two, ChangeBus).join
      const got = yield* Queue.unbounded<Change>()
      yield* Effect.forkScoped(Stream.runForEach(changes, (change) => Queue.offer(got, change)))
      for (const uri of ["a", "b", "c"]) {
        yield* disconnect(url)
        yield* publish({ _tag: "Resource", uri })
        // `Unknown` in its place, when the node could not store it.
        const change = yield* Queue.take(got)
        assert.isTrue(change._tag === "Unknown" || (change._tag === "Resource" && change.uri === uri))
      }
    }))

  it.scopedLive("end no process while they connect or close", () =>
    Effect.gen(function*() {
      const errors = yield* unhandled
      const url = yield* Postgres.database
      const { run, sql } = yield* Postgres.connection(yield* Postgres.database)
      const end = run(
        "end connections",
        sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${new URL(url).pathname.slice(1)}`
      )
      for (let n = 0; n < 20; n++) {
        const scope = yield* Scope.make()
        yield* Effect.ignore(Scope.extend(services(url), scope))
        // Each time at another moment of the connection that listens.
        yield* Effect.sleep(2 * n)
        yield* Effect.all([end, Scope.close(scope, Exit.void)], { concurrency: 2 })
      }
      assert.deepStrictEqual(errors, [])
    }))

  it.scopedLive("refuse what a node writes whose session another one has claimed", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const [one, two] = [yield* services(url), yield* services(url)]
      const place = yield* Scope.make()
      const stale = yield* Scope.extend(Context.get(one, SessionDirectory).join("one"), place)
      const next = yield* Context.get(two, SessionDirectory).join("two")
      yield* stale.create("s", {})
      yield* Scope.close(place, Exit.void)
      assert.isTrue(Option.isSome(yield* next.claim("s", 1)))
      assert.isFalse(yield* stale.update("s", 1, {}))
      assert.isFalse(yield* stale.remove("s", 1))
      yield* stale.release("s", 1)
      assert.isTrue(Option.exists(yield* next.find("s"), ({ isServed, node }) => isServed && node === "two"))
    }))
})

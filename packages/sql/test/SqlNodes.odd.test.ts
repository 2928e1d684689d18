/**
 * Nodes over a database in which another program has written, and texts that no database can store.
 */
import { assert, describe, it } from "@effect/vitest"
import { ChangeBus } from "@effect-mcp/core/ChangeBus"
import { EventStore } from "@effect-mcp/core/EventStore"
import { Inbox } from "@effect-mcp/core/Inbox"
import { SealKeys } from "@effect-mcp/core/SealKeys"
import { SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import { SharedLimits } from "@effect-mcp/core/SharedLimits"
import { TaskStore } from "@effect-mcp/core/TaskStore"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlNodes from "@effect-mcp/sql/SqlNodes"
import { Chunk, Context, Effect, Fiber, Layer, Option, Stream } from "effect"
import * as Refusing from "../../node/test/Refusing.js"
import { engines } from "./Engines.js"

const services = Effect.flatMap(SqlConnection.SqlConnection, (connection) =>
  Effect.map(
    Layer.build(Layer.provide(
      Layer.fresh(SqlNodes.services),
      Layer.succeed(SqlConnection.SqlConnection, connection)
    )),
    (context) => ({ context, connection })
  ))

describe.each(engines)("an entry in $engine that no node has written", ({ engine, pair }) => {
  it.scopedLive("costs only itself", () =>
    Effect.gen(function*() {
      const [{ connection: { run, sql, table }, context }, { context: other }] = yield* pair(services)
      const own = yield* Context.get(context, SessionDirectory).join("one")
      for (const id of ["facts", "list", "other"]) yield* own.create(id, { a: 1 })
      yield* run("write", sql`UPDATE ${table("sessions")} SET facts = '{garbage' WHERE id = 'facts'`)
      yield* run("write", sql`UPDATE ${table("sessions")} SET facts = '[]' WHERE id = 'list'`)
      for (const id of ["facts", "list", "other"]) {
        const { facts, isServed, node } = Option.getOrThrow(yield* own.find(id))
        assert.deepStrictEqual([node, isServed, facts], ["one", true, id === "other" ? { a: 1 } : {}])
      }

      const tasks = Context.get(context, TaskStore)
      for (const taskId of ["1", "2"]) yield* tasks.create(Refusing.task(Date.now(), { taskId }))
      yield* run("write", sql`UPDATE ${table("tasks")} SET task = '{"garbage":1}' WHERE id = '"1"'`)
      const warnings = yield* Refusing.logged(Effect.gen(function*() {
        assert.isTrue(Option.isNone(yield* tasks.get("ada", "1")))
        const { tasks: listed } = yield* tasks.list("ada", { limit: 10 })
        assert.deepStrictEqual(listed.map(({ taskId }) => taskId), ["2"])
      }))
      assert.strictEqual(warnings.filter((text) => text.includes("tasks")).length, 1)

      const events = Context.get(context, EventStore)
      const key = { session: "s", stream: "1", epoch: 1 }
      yield* events.open(key, [1])
      yield* run("write", sql`UPDATE ${table("streams")} SET requests = 'garbage'`)
      assert.deepStrictEqual(yield* events.unfinished(key), [])

      const keys = Context.get(context, SealKeys)
      const { id } = yield* keys.current
      yield* run("write", sql`UPDATE ${table("seal_keys")} SET ring = 'garbage'`)
      assert.isTrue(Option.isNone(yield* keys.find("unknown")))
      assert.notStrictEqual((yield* keys.current).id, id)

      if (engine !== "PostgreSQL") return
      const { received, send } = yield* Context.get(context, Inbox).open("one")
      yield* send("one", "\"1")
      yield* run("write", sql`UPDATE ${table("texts")} SET text = '"garbage'`)
      yield* send("one", "2")
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(received, 1))), ["2"])

      const { changes } = yield* Context.get(context, ChangeBus).join
      const { publish } = yield* Context.get(other, ChangeBus).join
      yield* run(
        "write",
        sql`WITH next AS (UPDATE ${table("last_change")} SET number = number + 1 RETURNING number)
            INSERT INTO ${table("changes")} (number, member, change) SELECT number, 'x', '{}' FROM next`
      )
      yield* publish({ _tag: "Resource", uri: "a" })
      const got = yield* Effect.fork(Stream.runCollect(Stream.take(changes, 2)))
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(got)).map(({ _tag }) => _tag), [
        "Unknown",
        "Resource"
      ])
    }))

  it.scopedLive("may not be a text that UTF-8 cannot have: it is replaced before the driver gets it", () =>
    Effect.gen(function*() {
      const odd = "a\ud800b\udc00"
      const [{ connection: { run, sql }, context }] = yield* pair(services)
      const events = Context.get(context, EventStore)
      const key = { session: odd, stream: odd, epoch: 1 }
      yield* events.open(key, [odd])
      assert.isTrue(yield* events.append(key, { position: 1, data: `${odd}\u{1f600}` }))
      assert.deepStrictEqual(
        yield* events.after(key, -1),
        Option.some([{ position: 1, data: "a\ufffdb\ufffd\u{1f600}" }])
      )
      const own = yield* Context.get(context, SessionDirectory).join(odd)
      yield* own.create(odd, { odd })
      assert.isTrue(Option.isSome(yield* own.find(odd)))
      const tasks = Context.get(context, TaskStore)
      yield* tasks.create(Refusing.task(Date.now(), { taskId: odd, owner: odd, statusMessage: odd }))
      assert.isTrue(Option.isSome(yield* tasks.get(odd, odd)))
      yield* Context.get(context, SharedLimits).once(odd, "1 minute")
      const mailbox = yield* Context.get(context, Inbox).open(odd)
      yield* mailbox.send(odd, odd)
      yield* run("read", sql`SELECT ${odd} AS odd`)
    }))

  it.scopedLive("expires by the clock that all nodes share", () =>
    Effect.gen(function*() {
      const [{ context }, { context: other }] = yield* pair(services)
      const [keys, others] = [Context.get(context, SealKeys), Context.get(other, SealKeys)]
      const now = yield* keys.now!
      assert.approximately(yield* Refusing.inHours(2, others.now!), now, 10_000)
      if (engine !== "PostgreSQL") return
      const tasks = Context.get(context, TaskStore)
      yield* tasks.create(Refusing.task(Date.now()))
      assert.isTrue(Option.isSome(yield* Refusing.inHours(2, tasks.get("ada", "1"))))
    }))

  it.scopedLive(
    "cannot be written without an end: the tasks of one owner have a limit of characters",
    () =>
      Effect.gen(function*() {
        const [{ context }] = yield* pair(services)
        const tasks = Context.get(context, TaskStore)
        const statusMessage = "x".repeat(4_000_000)
        const now = Date.now()
        const create = (taskId: string, owner: string, statusMessage?: string) =>
          Effect.either(tasks.create(Refusing.task(now, { taskId, owner, statusMessage })))
        for (let n = 0; n < 10; n++) yield* create(`${n}`, "ada", statusMessage)
        const { tasks: listed } = yield* tasks.list("ada", { limit: 100 })
        assert.strictEqual(listed.length, 4)
        yield* create("small", "ada")
        const small = Option.getOrThrow(yield* tasks.get("ada", "small"))
        const grown = { ...small, version: 2, statusMessage }
        const { message, reason } = yield* Effect.flip(tasks.replace(grown))
        assert.deepStrictEqual([reason, message], [
          "Full",
          "The tasks of this owner have 16777216 characters, and this is the limit"
        ])
        assert.isTrue(yield* tasks.replace({ ...listed[0]!, version: 2, statusMessage: "ended" }))
        assert.isTrue(yield* tasks.replace(grown))
        assert.strictEqual((yield* create("b", "bob", statusMessage))._tag, "Right")
      }),
    60_000
  )
})

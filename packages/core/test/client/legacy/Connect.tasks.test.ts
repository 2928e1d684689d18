import { assert, describe, it } from "@effect/vitest"
import { type ClientError, NotNegotiated, TaskEnded } from "@effect-mcp/core/ClientError"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Chunk, Effect, Fiber, Option, Stream, TestClock } from "effect"
import { beside } from "../modern/ModernServer.js"

const version = "2025-11-25"

const every = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }

const schema = { type: "object" as const }

const listed = ["required", "optional", "forbidden", undefined].map((taskSupport) => ({
  name: taskSupport ?? "absent",
  inputSchema: schema,
  ...(taskSupport === undefined ? undefined : { execution: { taskSupport } })
}))

const task = (status = "working", more: JsonObject = {}): JsonObject => ({
  taskId: "t1",
  status,
  createdAt: "2025-11-25T10:00:00Z",
  lastUpdatedAt: "2025-11-25T10:00:00Z",
  ttl: 60_000,
  pollInterval: 500,
  ...more
})

const result = { content: [{ type: "text" as const, text: "done" }] }

const connect = (
  capabilities: JsonObject = every,
  client: TestClient.Options<never, ClientFeatures.ClientFeatures>["client"] = {}
) => TestClient.make({ version, capabilities, client })

type Server = TestClient.TestClient["server"]

/** Receives a request, and answers it. */
const answer = (server: Server, method: string, result: JsonObject) =>
  Effect.flatMap(
    server.expectRequest(method),
    ({ id, params }) => Effect.as(server.send({ jsonrpc: "2.0", id, result }), params ?? {})
  )

const refuse = (server: Server, method: string, code = -32602) =>
  Effect.flatMap(
    server.expectRequest(method),
    ({ id }) => server.send({ jsonrpc: "2.0", id, error: { code, message: "no" } })
  )

/** A client whose call of a tool has become a task. */
const started = (
  capabilities?: JsonObject,
  client?: TestClient.Options<never, ClientFeatures.ClientFeatures>["client"]
) =>
  Effect.gen(function*() {
    const { client: session, server } = yield* connect(capabilities, client)
    const starting = yield* beside(TasksClient.start(session, "required", { a: 1 }))
    yield* answer(server, "tools/list", { tools: listed })
    const params = yield* answer(server, "tools/call", { task: task() })
    return { client: session, params, server, task: yield* Fiber.join(starting) }
  })

describe("A call of a tool at 2025-11-25", () => {
  it.scoped("MUST be a task for tools that are listed as tasks only, and for no other", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect()
      for (const [i, { name }] of listed.entries()) {
        const calling = yield* beside(client.callTool(name))
        if (i === 0) yield* answer(server, "tools/list", { tools: listed })
        const isTask = name === "required"
        const params = yield* answer(server, "tools/call", isTask ? { task: task() } : result)
        assert.deepStrictEqual(params, isTask ? { name, task: {} } : { name })
        if (isTask) {
          yield* TestClock.adjust(500)
          yield* answer(server, "tasks/get", task("completed"))
          yield* answer(server, "tasks/result", result)
        }
        assert.deepStrictEqual(yield* Fiber.join(calling), result)
      }
    }))

  it.scoped("MUST NOT be a task at a server that has not declared it, not even started as one", () =>
    Effect.gen(function*() {
      for (const tasks of [undefined, {}, { list: {}, cancel: {} }, { requests: { tools: {} } }]) {
        const { client, server } = yield* connect(tasks === undefined ? { tools: {} } : { tools: {}, tasks })
        for (const call of [client.callTool("required"), TasksClient.start(client, "required")]) {
          const calling = yield* beside(call as Effect.Effect<unknown, unknown>)
          assert.deepStrictEqual(yield* answer(server, "tools/call", result), { name: "required" })
          yield* Fiber.join(calling)
        }
      }
    }))

  it.scoped("is started as a task where the tool may be one, with the time that the client wants", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect()
      for (const [i, { name }] of listed.entries()) {
        const starting = yield* beside(TasksClient.start(client, name, {}, { ttl: "1 minute" }))
        if (i === 0) yield* answer(server, "tools/list", { tools: listed })
        const isTask = name === "required" || name === "optional"
        const { params } = yield* Effect.tap(
          server.expectRequest("tools/call"),
          ({ id }) => server.send({ jsonrpc: "2.0", id, result: isTask ? { task: task() } : result })
        )
        assert.deepStrictEqual(params?.task, isTask ? { ttl: 60_000 } : undefined)
        assert.strictEqual(Option.isSome((yield* Fiber.join(starting)).taskId), isTask)
      }
    }))

  it.scoped("is not a task for a minute after the tools could not be listed, nor when the server answers with the result", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect()
      const calling = yield* beside(client.callTool("required"))
      yield* refuse(server, "tools/list", -32603)
      assert.deepStrictEqual(yield* answer(server, "tools/call", result), { name: "required" })
      yield* Fiber.join(calling)
      yield* TestClock.adjust("1 minute")
      const again = yield* beside(client.callTool("required"))
      yield* answer(server, "tools/list", { tools: listed })
      assert.property(yield* answer(server, "tools/call", result), "task")
      assert.deepStrictEqual(yield* Fiber.join(again), result)
    }))

  it.scoped("has the time that is left after the tools were listed, and fails unsent when none is left", () =>
    Effect.gen(function*() {
      for (const options of [{ timeout: "3 seconds" }, { maxTotalTimeout: "3 seconds" }] as const) {
        for (const isLate of [false, true]) {
          const { client, server } = yield* connect()
          const call: Effect.Effect<unknown, ClientError> = isLate
            ? client.tasks.start("unlisted", {}, options)
            : client.callTool("required", {}, options)
          const calling = yield* beside(Effect.flip(call))
          const { id } = yield* server.expectRequest("tools/list")
          yield* TestClock.adjust("2 seconds")
          yield* server.send({ jsonrpc: "2.0", id, result: { tools: listed, nextCursor: "more" } })
          yield* server.expectRequest(isLate ? "tools/list" : "tools/call")
          yield* TestClock.adjust("999 millis")
          assert.isNull(calling.unsafePoll())
          yield* TestClock.adjust("1 millis")
          assert.deepInclude(yield* Fiber.join(calling), { _tag: "RequestTimeout", method: "tools/call" })
          yield* server.expectNotification("notifications/cancelled")
          yield* server.expectSilence
        }
      }
    }))

  it.scoped("learns from a changed list of tools whether it is a task", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect()
      const calling = yield* beside(client.callTool("absent"))
      yield* answer(server, "tools/list", { tools: listed })
      yield* answer(server, "tools/call", result)
      yield* Fiber.join(calling)
      yield* server.notify("notifications/tools/list_changed")
      const again = yield* beside(client.callTool("absent"))
      yield* answer(server, "tools/list", { tools: [{ ...listed[0], name: "absent" }] })
      assert.property(yield* answer(server, "tools/call", result), "task")
      yield* Fiber.join(again)
    }))
})

describe("A task of 2025-11-25", () => {
  it.scoped("SHOULD be polled at the pace of the server, which may change, and whose notifications only shorten the wait", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* started()
      const waiting = yield* beside(one.result)
      yield* TestClock.adjust(499)
      yield* server.expectSilence
      yield* TestClock.adjust(1)
      yield* answer(server, "tasks/get", task("working", { pollInterval: 5000 }))
      yield* TestClock.adjust(1000)
      yield* server.expectSilence
      // What the notification says is not relied on.
      yield* server.notify("notifications/tasks/status", task("completed"))
      yield* answer(server, "tasks/get", task("working", { pollInterval: 5000 }))
      yield* server.notify("notifications/tasks/status", task("completed", { taskId: "other" }))
      yield* TestClock.adjust(4999)
      yield* server.expectSilence
      yield* TestClock.adjust(1)
      yield* answer(server, "tasks/get", task("completed"))
      yield* answer(server, "tasks/result", result)
      assert.deepStrictEqual(yield* Fiber.join(waiting), result)
    }))

  it.scoped("SHOULD have its result requested while it needs input, and is polled meanwhile", () =>
    Effect.gen(function*() {
      const features = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))
      const { server, task: one } = yield* started(every, { features })
      const waiting = yield* beside(one.result)
      yield* TestClock.adjust(500)
      yield* answer(server, "tasks/get", task("input_required"))
      const { id, params } = yield* server.expectRequest("tasks/result")
      assert.deepStrictEqual(params, { taskId: "t1" })
      const question = yield* server.request("elicitation/create", {
        message: "Go on?",
        requestedSchema: { type: "object", properties: {} },
        _meta: { "io.modelcontextprotocol/related-task": { taskId: "t1" } }
      })
      assert.deepInclude(yield* server.expectResult(question), { action: "accept" })
      // Longer than any timeout of a request.
      for (let i = 0; i < 200; i++) {
        yield* TestClock.adjust(500)
        yield* answer(server, "tasks/get", task("working"))
      }
      yield* server.send({ jsonrpc: "2.0", id, result })
      assert.deepStrictEqual(yield* Fiber.join(waiting), result)
    }))

  it.scoped("SHOULD NOT be named in the `_meta` of requests about it: the parameter names it", () =>
    Effect.gen(function*() {
      const { client, server, task: one } = yield* started()
      const waiting = yield* beside(one.result)
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(yield* answer(server, "tasks/get", task("completed")), { taskId: "t1" })
      assert.deepStrictEqual(yield* answer(server, "tasks/result", result), { taskId: "t1" })
      yield* Fiber.join(waiting)
      const cancelling = yield* beside(one.cancel)
      assert.deepStrictEqual(yield* answer(server, "tasks/cancel", task("cancelled")), { taskId: "t1" })
      yield* Fiber.join(cancelling)
      const listing = yield* beside(Stream.runCollect(TasksClient.list(client)))
      assert.notProperty(yield* answer(server, "tasks/list", { tasks: [task()], nextCursor: "2" }), "_meta")
      assert.deepStrictEqual(yield* answer(server, "tasks/list", { tasks: [task()] }), { cursor: "2" })
      assert.strictEqual(Chunk.size(yield* Fiber.join(listing)), 2)
    }))

  it.scoped("needs what the server has declared: other requests about it are not sent", () =>
    Effect.gen(function*() {
      const refused = (effect: Effect.Effect<unknown, unknown>, capability: string | undefined) =>
        Effect.map(Effect.flip(effect), (error) => {
          assert.instanceOf(error, NotNegotiated)
          assert.deepInclude(error, { capability, declaredBy: "server" })
        })
      const { client, task: one } = yield* started({ tools: {}, tasks: { requests: { tools: { call: {} } } } })
      yield* refused(one.cancel, "tasks.cancel")
      yield* refused(Stream.runDrain(TasksClient.list(client)), "tasks.list")
      const without = yield* connect({ tools: {} })
      const attached = TasksClient.attach(without.client, "required", "t1")
      yield* refused((yield* attached).result, "tasks")
      yield* refused(Stream.runDrain((yield* attached).status), "tasks")
      const old = yield* TestClient.make({ version: "2025-06-18" })
      yield* refused((yield* TasksClient.attach(old.client, "required", "t1")).result, undefined)
    }))

  it.scoped("is one of this revision for a client with the extension of later revisions too", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* started(every, { extensions: [TasksClient.extension] })
      const waiting = yield* beside(one.result)
      yield* TestClock.adjust(500)
      yield* answer(server, "tasks/get", task("completed"))
      yield* answer(server, "tasks/result", result)
      assert.deepStrictEqual(yield* Fiber.join(waiting), result)
    }))

  it.scoped("fails as its call would, and has no result when it has expired before that was requested", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* started()
      const waiting = yield* beside(Effect.flip(one.result))
      yield* TestClock.adjust(500)
      yield* answer(server, "tasks/get", task("failed"))
      yield* refuse(server, "tasks/result")
      yield* TestClock.adjust(500)
      yield* answer(server, "tasks/get", task("failed"))
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "InvalidParams", message: "no" })
      const again = yield* beside(Effect.flip(one.result))
      yield* refuse(server, "tasks/result")
      yield* refuse(server, "tasks/get")
      const error = yield* Fiber.join(again)
      assert.instanceOf(error, TaskEnded)
      assert.deepInclude(error, { reason: "Gone", taskId: "t1" })
    }))

  it.scoped("is not cancelled by a call that has learnt that the server has it no longer", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect()
      const calling = yield* beside(Effect.flip(client.callTool("required")))
      yield* answer(server, "tools/list", { tools: listed })
      yield* answer(server, "tools/call", { task: task() })
      yield* TestClock.adjust(500)
      yield* refuse(server, "tasks/get")
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "TaskEnded", reason: "Gone" })
      yield* server.expectSilence
    }))

  it.scoped("MUST be cancelled with `tasks/cancel` by a call that is interrupted, which waits a second at most", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect()
      const calling = yield* beside(client.callTool("required"))
      yield* answer(server, "tools/list", { tools: listed })
      yield* answer(server, "tools/call", { task: task() })
      yield* TestClock.adjust(500)
      yield* answer(server, "tasks/get", task())
      const interrupting = yield* beside(Fiber.interrupt(calling))
      yield* server.expectRequest("tasks/cancel")
      assert.isTrue(Option.isNone(yield* Fiber.poll(interrupting)))
      yield* TestClock.adjust(1000)
      yield* Fiber.join(interrupting)
      yield* server.expectNotification("notifications/cancelled")
    }))
})

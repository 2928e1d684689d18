import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Fiber, Layer, Schema, TestClock } from "effect"
import { logbook, serve } from "../Serving.js"
import { accept, named, type Required, retry } from "./Asking.js"
import * as Modern from "./Modern.js"

const ID = "io.modelcontextprotocol/tasks"
const declaring = { capabilities: { elicitation: { form: {} }, extensions: { [ID]: {} } } }
const required = { requiredCapabilities: { extensions: { [ID]: {} } } }

class Broken extends Schema.TaggedError<Broken>()("Broken", { why: Schema.String }) {}

const Slow = Tool.make("slow", {
  task: "optional",
  parameters: { seconds: Schema.Number },
  success: Schema.Struct({ ok: Schema.Boolean })
})
const Failing = Tool.make("failing", { task: "required", failure: Broken })
const Dying = Tool.make("dying", { task: "optional" })
const Deleting = Tool.make("deleting", { task: "optional" })
const Booking = Tool.make("booking", { task: "required" })
const Inviting = Tool.make("inviting", { task: "required" })
const Quick = Tool.make("quick")

const sure = Effect.flatMap(ServerSession, ({ ask }) => ask({ sure: Ask.confirm("Sure?") }))

const features = Layer.mergeAll(
  McpServer.tool(Slow, ({ seconds }) => Effect.as(Effect.sleep(seconds * 1000), { ok: true })),
  McpServer.tool(Failing, () => Effect.fail(new Broken({ why: "no luck" }))),
  McpServer.tool(Dying, () => Effect.die("a bug")),
  McpServer.tool(Deleting, () => Effect.map(sure, ({ sure }) => sure ? "deleted" : "kept")),
  McpServer.tool(Booking, () =>
    Effect.gen(function*() {
      const { elicit, startTask } = yield* ServerSession
      const who = yield* elicit({ message: "Who?", schema: Schema.Struct({ name: Schema.String }) })
      yield* startTask
      const { sure: isSure } = yield* sure
      return `${who.action === "accept" ? who.content.name : "nobody"}: ${isSure}`
    }), { startsTask: true }),
  McpServer.tool(Inviting, () =>
    Effect.gen(function*() {
      const { ask } = yield* ServerSession
      const form = { message: "Who?", schema: Schema.Struct({ name: Schema.String }) }
      const { one, two } = yield* ask({ one: Ask.elicit(form), two: Ask.elicit(form) })
      return [one, two].map((who) => who.action === "accept" ? who.content.name : "nobody").join(", ")
    })),
  McpServer.tool(Quick, () => Effect.succeed("quick")),
  TasksServer.layerWith({ limits: { maxRunning: 3 } })
)

const server = Layer.provide(serve(features, { extensions: [TasksServer.extension] }), TaskStore.layerMemory)

const modern = Effect.tap(
  TestPeer.client({ extensions: [TasksServer.extension] }),
  (peer) => Effect.addFinalizer(() => peer.hangUp)
)

const start = (peer: TestPeer.TestPeer, name: string, args: JsonObject = {}, more: JsonObject = {}) =>
  Modern.call(peer, name, { arguments: args, ...more }, declaring)

const get = (peer: TestPeer.TestPeer, { taskId }: JsonObject) => Modern.result(peer, "tasks/get", { taskId }, declaring)

const update = (peer: TestPeer.TestPeer, { taskId }: JsonObject, inputResponses: JsonObject) =>
  Modern.result(peer, "tasks/update", { taskId, inputResponses }, declaring)

const cancel = (peer: TestPeer.TestPeer, { taskId }: JsonObject) =>
  Modern.result(peer, "tasks/cancel", { taskId }, declaring)

/** Polls until the task has this status: only turns of the scheduler pass. */
const reached = (peer: TestPeer.TestPeer, task: JsonObject, status: string): ReturnType<typeof get> =>
  Effect.flatMap(
    get(peer, task),
    (found) => found.status === status ? Effect.succeed(found) : reached(peer, task, status)
  )

const onServer = <A, E>(
  body: Effect.Effect<A, E, import("@effect-mcp/core/Dispatcher").Dispatcher | import("effect").Scope.Scope>
) => body.pipe(Effect.scoped, Effect.provide(server))

describe("A call that becomes a task at 2026-07-28", () => {
  it.scoped("MUST be answered with the task, flat and of the type \"task\", and its result comes with `tasks/get`", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern
      yield* TestClock.setTime(Date.UTC(2026, 6, 28))
      const created = yield* start(peer, "slow", { seconds: 60 })
      const { taskId } = created
      const task = {
        taskId,
        status: "working",
        createdAt: "2026-07-28T00:00:00.000Z",
        lastUpdatedAt: "2026-07-28T00:00:00.000Z",
        ttlMs: 3_600_000,
        pollIntervalMs: 1000
      }
      assert.deepStrictEqual(created, { ...Modern.stamp, ...task, resultType: "task" })
      assert.match(String(taskId), /^[0-9a-f]{32}$/)
      // MUST be found at once, with the type "complete".
      assert.deepStrictEqual(yield* get(peer, created), { ...Modern.stamp, ...task })
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(yield* reached(peer, created, "completed"), {
        ...Modern.stamp,
        ...task,
        status: "completed",
        lastUpdatedAt: "2026-07-28T00:01:00.000Z",
        result: {
          ...Modern.stamp,
          content: [{ type: "text", text: "{\"ok\":true}" }],
          structuredContent: { ok: true }
        }
      })
    })))

  it.scoped("MUST NOT become one for a client that has not declared the extension", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern
      const quick = yield* Effect.fork(Modern.call(peer, "slow", { arguments: { seconds: 1 } }))
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(quick), { resultType: "complete", structuredContent: { ok: true } })
      const { code, data } = yield* Modern.error(peer, "tools/call", { name: "failing" })
      assert.deepStrictEqual([code, data], [-32021, required])
    })))

  it.scoped("ignores the member `task` of 2025-11-25, and never is one of a tool that does not take part", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern
      const result = yield* Modern.call(peer, "quick", { task: { ttl: 1 } }, declaring)
      assert.deepInclude(result, { resultType: "complete", content: [{ type: "text", text: "quick" }] })
      const { capabilities } = yield* Modern.result(peer, "server/discover")
      assert.notProperty(capabilities, "tasks")
      assert.deepStrictEqual((capabilities as JsonObject).extensions, { [ID]: {} })
      for (const method of ["tasks/result", "tasks/list"]) {
        assert.strictEqual((yield* Modern.error(peer, method, { taskId: "x" }, declaring)).code, -32601)
      }
    })))

  it.scoped("MUST be `completed` with a result that has `isError`, and `failed` only with a JSON-RPC error", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const peer = yield* modern
      const failing = yield* start(peer, "failing")
      const { content: [{ text }], isError } = (yield* reached(peer, failing, "completed")).result as any
      assert.isTrue(isError)
      assert.deepStrictEqual(JSON.parse(text), { _tag: "Broken", why: "no luck" })
      const dying = yield* start(peer, "dying")
      assert.deepInclude((yield* reached(peer, dying, "completed")).result, {
        isError: true,
        content: [{ type: "text", text: "Internal error" }]
      })
      assert.isTrue(lines.some(({ message }) => message === "The task of tool \"dying\" died"))
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(server, layer)))
  })

  it.scoped("MUST say which questions it waits for, and goes on with their answers", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern
      const created = yield* start(peer, "deleting")
      const { inputRequests } = (yield* reached(peer, created, "input_required")) as unknown as Required
      assert.deepStrictEqual(inputRequests, {
        "elicit-1": {
          method: "elicitation/create",
          params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } }
        }
      } as never)
      // SHOULD ignore responses to other keys.
      assert.deepStrictEqual(yield* update(peer, created, { other: { ignored: true } }), Modern.stamp)
      assert.strictEqual((yield* get(peer, created)).status, "input_required")
      assert.deepStrictEqual(yield* update(peer, created, { "elicit-1": accept, other: 1 }), Modern.stamp)
      const { result } = yield* reached(peer, created, "completed")
      assert.strictEqual(Modern.text(result as JsonObject), "deleted")
      assert.deepStrictEqual(yield* update(peer, created, { "elicit-1": accept }), Modern.stamp)
    })))

  for (const malformed of [null, 1, {}, { action: "maybe" }, { action: "accept", content: { name: 7 } }] as const) {
    it.scoped(`goes on asking after a response that is not an answer: ${JSON.stringify(malformed)}`, () =>
      onServer(Effect.gen(function*() {
        const peer = yield* modern
        const created = yield* start(peer, "inviting")
        const asked = yield* reached(peer, created, "input_required")
        assert.sameMembers(Object.keys((asked as unknown as Required).inputRequests), ["elicit-1", "elicit-2"])
        const params = { taskId: created.taskId!, inputResponses: { "elicit-1": named("Ada"), "elicit-2": malformed } }
        const { code, message } = yield* Modern.error(peer, "tasks/update", params, declaring)
        assert.deepInclude({ code }, { code: -32602 })
        assert.include(message, "the response \"elicit-2\" is not an answer")
        // Nothing of it is stored.
        assert.deepStrictEqual((yield* get(peer, created)).inputRequests, asked.inputRequests)
        yield* update(peer, created, { "elicit-1": named("Ada"), "elicit-2": named("Bob") })
        assert.strictEqual(Modern.text((yield* reached(peer, created, "completed")).result as JsonObject), "Ada, Bob")
      })))
  }

  it.scoped("SHOULD begin after the rounds of its request, where the handler begins it", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern
      const first = (yield* start(peer, "booking")) as unknown as Required
      assert.strictEqual(first.resultType, "input_required")
      assert.notProperty(first, "taskId")
      const created = yield* start(peer, "booking", {}, retry(first, () => named("Ada")))
      assert.strictEqual(created.resultType, "task")
      assert.notProperty(created, "requestState")
      yield* reached(peer, created, "input_required")
      yield* update(peer, created, { "elicit-1": accept })
      assert.strictEqual(Modern.text((yield* reached(peer, created, "completed")).result as JsonObject), "Ada: true")
    })))

  it.scoped("is cancelled by the client, which interrupts its handler, and stays cancelled", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const Waiting = McpServer.tool(
        Tool.make("waiting", { task: "optional" }),
        () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
      )
      const one = Layer.provide(
        serve(Layer.merge(Waiting, TasksServer.layer), { extensions: [TasksServer.extension] }),
        TaskStore.layerMemory
      )
      yield* Effect.gen(function*() {
        const peer = yield* modern
        const created = yield* start(peer, "waiting")
        assert.deepStrictEqual(yield* cancel(peer, created), Modern.stamp)
        assert.strictEqual((yield* get(peer, created)).status, "cancelled")
        yield* Deferred.await(interrupted)
        assert.deepStrictEqual(yield* cancel(peer, created), Modern.stamp)
        const after = yield* get(peer, created)
        assert.strictEqual(after.status, "cancelled")
        assert.notProperty(after, "result")
        assert.notProperty(after, "error")
      }).pipe(Effect.scoped, Effect.provide(one))
    }))

  it.scoped("MUST be unknown to others, and refused to clients without the extension", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern
      const { taskId } = yield* start(peer, "slow", { seconds: 60 })
      for (
        const [method, params] of [["tasks/get", {}], ["tasks/update", { inputResponses: {} }], [
          "tasks/cancel",
          {}
        ]] as const
      ) {
        assert.strictEqual(
          (yield* Modern.error(peer, method, { taskId: "unknown", ...params }, declaring)).code,
          -32602
        )
        const { code, data } = yield* Modern.error(peer, method, { taskId, ...params })
        assert.deepStrictEqual([code, data], [-32021, required])
      }
    })))

  it.scoped("is refused beyond the limit of tasks that run, until one of them ends", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern
      const first = yield* start(peer, "slow", { seconds: 60 })
      yield* start(peer, "slow", { seconds: 60 })
      yield* start(peer, "slow", { seconds: 60 })
      const { message } = yield* Modern.error(
        peer,
        "tools/call",
        { name: "slow", arguments: { seconds: 1 } },
        declaring
      )
      assert.include(message, "3 tasks are running")
      yield* cancel(peer, first)
      // The handler ends a few steps after its task.
      yield* Effect.repeatN(Modern.silence(peer), 20)
      yield* start(peer, "slow", { seconds: 1 })
    })))

  it.scoped("expires with its time, which interrupts a handler that still runs", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<void>()
      const Waiting = McpServer.tool(Tool.make("waiting", { task: "optional" }), () =>
        Effect.onInterrupt(Effect.never, () => Deferred.succeed(ended, undefined)))
      const one = Layer.provide(
        serve(Layer.merge(Waiting, TasksServer.layerWith({ ttl: "1 minute" })), {
          extensions: [TasksServer.extension]
        }),
        TaskStore.layerMemory
      )
      yield* Effect.gen(function*() {
        const peer = yield* modern
        const created = yield* start(peer, "waiting")
        assert.strictEqual(created.ttlMs, 60_000)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Modern.error(peer, "tasks/get", { taskId: created.taskId }, declaring)).code, -32602)
        yield* Deferred.await(ended)
      }).pipe(Effect.scoped, Effect.provide(one))
    }))

  it.scoped("ends as failed when the server shuts down, and the store says why", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      const one = Layer.provide(
        serve(features, { extensions: [TasksServer.extension] }),
        Layer.succeed(TaskStore.TaskStore, store)
      )
      yield* Effect.gen(function*() {
        yield* start(yield* modern, "slow", { seconds: 60 })
      }).pipe(Effect.scoped, Effect.provide(one))
      const [task] = (yield* store.list(null, { limit: 10 })).tasks
      assert.strictEqual(task?.status, "failed")
      assert.strictEqual(task?.statusMessage, "The server was shut down before the task ended")
    }))

  it.scoped("MUST notify those who listen to it alone, with what `tasks/get` would answer", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern
      const created = yield* start(peer, "deleting")
      const other = yield* start(peer, "deleting")
      yield* reached(peer, created, "input_required")
      const sent = yield* Modern.request(peer, "subscriptions/listen", {
        notifications: { taskIds: [created.taskId, "unknown"] }
      }, declaring)
      const _meta = { "io.modelcontextprotocol/subscriptionId": sent }
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/subscriptions/acknowledged"), {
        notifications: { taskIds: [created.taskId] },
        _meta
      })
      yield* cancel(peer, other)
      const cancelling = yield* Modern.request(peer, "tasks/cancel", { taskId: created.taskId }, declaring)
      yield* peer.expectResult(cancelling)
      const { status, taskId } = yield* peer.expectNotification("notifications/tasks")
      assert.deepStrictEqual([taskId, status], [created.taskId, "cancelled"])
      const { code } = yield* Modern.error(peer, "subscriptions/listen", { notifications: { taskIds: ["x"] } })
      assert.strictEqual(code, -32021)
    })))

  it.scoped("can be read and cancelled while no other request of its client is served", () =>
    Effect.gen(function*() {
      const peer = yield* modern
      const created = yield* start(peer, "slow", { seconds: 60 })
      // Without the extension the call waits for its result, and holds the one place.
      yield* Modern.request(peer, "tools/call", { name: "slow", arguments: { seconds: 60 } })
      assert.strictEqual((yield* Modern.error(peer, "tools/call", { name: "quick" })).code, -32603)
      assert.strictEqual((yield* get(peer, created)).status, "working")
      assert.deepStrictEqual(yield* update(peer, created, {}), Modern.stamp)
      yield* cancel(peer, created)
      assert.strictEqual((yield* get(peer, created)).status, "cancelled")
      yield* peer.hangUp
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.provide(
        serve(features, { extensions: [TasksServer.extension], limits: { maxInFlight: 1, maxWaiting: 0 } }),
        TaskStore.layerMemory
      ))
    ))
})

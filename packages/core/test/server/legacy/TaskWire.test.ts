import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Fiber, Layer, Schema, type Scope, TestClock } from "effect"
import { connect, serve } from "../Serving.js"

class Broken extends Schema.TaggedError<Broken>()("Broken", { why: Schema.String }) {}

const Slow = Tool.make("slow", { task: "optional", parameters: { seconds: Schema.Number } })
const Needed = Tool.make("needed", { task: "required", failure: Broken })
const Deleting = Tool.make("deleting", { task: "optional" })
const Waiting = Tool.make("waiting", { task: "optional" })
const Refusing = Tool.make("refusing", { task: "optional" })
const Quick = Tool.make("quick")

const features = (tasks = TasksServer.layer, interrupted?: Deferred.Deferred<void>) =>
  Layer.mergeAll(
    McpServer.tool(Slow, ({ seconds }) =>
      Effect.gen(function*() {
        const { log, progress } = yield* ServerSession
        yield* log("warning", "begun")
        yield* progress(1)
        yield* Effect.sleep(seconds * 1000)
        return "slept"
      })),
    McpServer.tool(Needed, () => Effect.fail(new Broken({ why: "no luck" }))),
    McpServer.tool(Deleting, () =>
      Effect.gen(function*() {
        const { ask } = yield* ServerSession
        const { sure } = yield* ask({ sure: Ask.confirm("Sure?") })
        return sure ? "deleted" : "kept"
      })),
    McpServer.tool(Waiting, () =>
      Effect.onInterrupt(
        Effect.never,
        () => interrupted === undefined ? Effect.void : Deferred.succeed(interrupted, undefined)
      )),
    McpServer.tool(Refusing, () => Effect.flatMap(ServerSession, ({ listRoots }) => Effect.as(listRoots, "roots"))),
    McpServer.tool(Quick, () => Effect.succeed("quick")),
    tasks
  )

const server = Layer.provide(serve(features()), TaskStore.layerMemory)

const onServer = <A, E>(body: Effect.Effect<A, E, Dispatcher | Scope.Scope>) =>
  body.pipe(Effect.scoped, Effect.provide(server))

const client = connect("2025-11-25", { elicitation: { form: {} } })

const call = (peer: TestPeer.TestPeer, name: string, args: JsonObject = {}, task: JsonObject | undefined = {}) =>
  peer.request("tools/call", { name, arguments: args, ...(task === undefined ? undefined : { task }) })

const start = (peer: TestPeer.TestPeer, name: string, args?: JsonObject, task?: JsonObject) =>
  Effect.map(Effect.flatMap(call(peer, name, args, task), peer.expectResult), ({ task }) => task as JsonObject)

const ask = (peer: TestPeer.TestPeer, method: string, { taskId }: JsonObject) =>
  Effect.flatMap(peer.request(method, { taskId }), peer.expectResult)

const related = ({ taskId }: JsonObject) => ({ "io.modelcontextprotocol/related-task": { taskId } })

const text = ({ content }: JsonObject) => (content as ReadonlyArray<JsonObject>)[0]?.text

describe("A call that becomes a task at 2025-11-25", () => {
  it.effect("is declared with exactly what the server supports, and not to clients of other revisions", () =>
    onServer(Effect.gen(function*() {
      const declared = { cancel: {}, requests: { tools: { call: {} } } }
      for (
        const [version, tasks, slow, needed] of [
          ["2025-11-25", declared, "optional", "required"],
          ["2025-06-18", undefined, undefined, undefined]
        ] as const
      ) {
        const peer = yield* TestPeer.client({ oracle: true })
        const { capabilities } = yield* peer.initialize({ version })
        assert.deepStrictEqual((capabilities as JsonObject).tasks, tasks)
        const { tools } = yield* Effect.flatMap(peer.request("tools/list"), peer.expectResult)
        const supportOf = (name: string) =>
          (tools as ReadonlyArray<JsonObject>).find((tool) => tool.name === name)?.execution as JsonObject | undefined
        assert.deepStrictEqual(
          [supportOf("slow")?.taskSupport, supportOf("needed")?.taskSupport, supportOf("quick")],
          [slow, needed, undefined]
        )
      }
    })))

  it.effect("MUST be answered with the task alone, which is working, with its times and its time to live", () =>
    onServer(Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2025, 10, 25))
      const peer = yield* client
      const task = yield* start(peer, "waiting", {}, { ttl: 5000 })
      assert.deepStrictEqual({ ...task, taskId: "" }, {
        taskId: "",
        status: "working",
        createdAt: "2025-11-25T00:00:00.000Z",
        lastUpdatedAt: "2025-11-25T00:00:00.000Z",
        ttl: 5000,
        pollInterval: 1000
      })
      assert.deepStrictEqual(yield* ask(peer, "tasks/get", task), task)
    })))

  it.effect("sends progress and log messages meanwhile, and MUST give its result to `tasks/result` when it has ended", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* client
      const id = yield* peer.request("tools/call", {
        name: "slow",
        arguments: { seconds: 5 },
        task: {},
        _meta: { progressToken: "p" }
      })
      const { task } = yield* peer.expectResult(id)
      const _meta = related(task as JsonObject)
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/message"), {
        level: "warning",
        data: "begun",
        _meta
      })
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/progress"), {
        progressToken: "p",
        progress: 1,
        _meta
      })
      assert.deepInclude(yield* peer.expectNotification("notifications/tasks/status"), { statusMessage: "1" })
      const waiting = yield* peer.request("tasks/result", { taskId: (task as JsonObject).taskId })
      yield* peer.expectSilence
      yield* TestClock.adjust("5 seconds")
      const messages = yield* Effect.all([peer.next, peer.next])
      const status = messages.find((message) => "method" in message)
      const result = messages.find((message) => "result" in message)
      assert.deepInclude(status, { method: "notifications/tasks/status" })
      assert.deepInclude(result, { id: waiting, result: { content: [{ type: "text", text: "slept" }], _meta } })
    })))

  it.effect("MUST be `failed` with a result that has `isError`, which `tasks/result` gives unchanged", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* client
      const task = yield* start(peer, "needed")
      yield* peer.expectNotification("notifications/tasks/status")
      assert.strictEqual((yield* ask(peer, "tasks/get", task)).status, "failed")
      const { content, ...rest } = yield* ask(peer, "tasks/result", task)
      assert.deepStrictEqual(JSON.parse(String(text({ content }))), { _tag: "Broken", why: "no luck" })
      assert.deepStrictEqual(rest, { isError: true, _meta: related(task) })
    })))

  it.effect("MUST be what a tool that needs it is called with, and MUST NOT be asked of a tool without it", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* client
      const plain = yield* peer.expectError(yield* peer.request("tools/call", { name: "needed" }))
      assert.deepStrictEqual([plain.code, plain.message], [
        -32601,
        "Method not found: This tool runs only as a task: send the member `task` with the call"
      ])
      assert.strictEqual((yield* peer.expectError(yield* call(peer, "quick"))).code, -32601)
      const quick = yield* peer.expectResult(yield* peer.request("tools/call", { name: "quick" }))
      const unchecked = yield* TestPeer.client()
      yield* unchecked.initialize({ version: "2025-11-25" })
      const absent = yield* unchecked.expectResult(
        yield* unchecked.request("tools/call", { name: "quick", task: null })
      )
      assert.strictEqual(text(absent), "quick")
      assert.strictEqual(text(quick), "quick")
    })))

  it.effect("SHOULD ask its questions on `tasks/result`, with the task that they belong to", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* client
      const task = yield* start(peer, "deleting")
      const { status } = yield* peer.expectNotification("notifications/tasks/status")
      assert.strictEqual(status, "input_required")
      assert.strictEqual((yield* ask(peer, "tasks/get", task)).status, "input_required")
      const waiting = yield* peer.request("tasks/result", { taskId: task.taskId })
      const { id, params } = yield* peer.expectRequest("elicitation/create")
      assert.deepInclude(params, { message: "Sure?", _meta: related(task) })
      yield* peer.send({ jsonrpc: "2.0", id, result: { action: "accept", content: {} } })
      const { _meta, content } = yield* Effect.iterate<JsonObject | undefined, unknown, never>(undefined, {
        while: (found) => found === undefined,
        body: () =>
          Effect.map(
            peer.next,
            (message) => "result" in message && message.id === waiting ? message.result as JsonObject : undefined
          )
      }) as Effect.Effect<JsonObject>
      assert.deepStrictEqual([_meta, text({ content })], [related(task), "deleted"])
    })))

  it.effect("SHOULD ask one question after another on one request for the result", () =>
    Effect.gen(function*() {
      const peer = yield* client
      const { taskId } = yield* start(peer, "insisting")
      const result = yield* peer.request("tasks/result", { taskId })
      const statuses: Array<unknown> = []
      // Notifications of the status come in between.
      const next: Effect.Effect<any> = Effect.repeat(
        Effect.tap(peer.next as Effect.Effect<any>, ({ params }) => Effect.sync(() => statuses.push(params?.status))),
        { until: ({ method }) => method !== "notifications/tasks/status" }
      )
      for (const message of ["1?", "2?", "3?"]) {
        const question = yield* next
        assert.strictEqual(question.params.message, message)
        yield* peer.send({ jsonrpc: "2.0", id: question.id, result: { action: "accept", content: {} } })
      }
      const answer = yield* next
      assert.deepStrictEqual([answer.id, text(answer.result)], [result, "sure"])
      if (!statuses.includes("completed")) yield* peer.expectNotification("notifications/tasks/status")
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.provide(
        serve(Layer.merge(
          McpServer.tool(Tool.make("insisting", { task: "optional" }), () =>
            Effect.gen(function*() {
              const { ask } = yield* ServerSession
              for (const n of [1, 2, 3]) yield* ask({ sure: Ask.confirm(`${n}?`) })
              return "sure"
            })),
          TasksServer.layer
        )),
        TaskStore.layerMemory
      ))
    ))

  it.effect("fails a question that the client answers with an error, or cannot be asked", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* client
      const refusing = yield* start(peer, "refusing")
      yield* peer.expectNotification("notifications/tasks/status")
      const refused = yield* peer.expectError(yield* peer.request("tasks/result", { taskId: refusing.taskId }))
      assert.include(refused.message, "roots")
      const task = yield* start(peer, "deleting")
      yield* peer.expectNotification("notifications/tasks/status")
      const waiting = yield* peer.request("tasks/result", { taskId: task.taskId })
      const { id } = yield* peer.expectRequest("elicitation/create")
      yield* peer.send({ jsonrpc: "2.0", id, error: { code: -1, message: "not now" } })
      const messages = yield* Effect.all([peer.next, peer.next, peer.next])
      assert.deepInclude(messages.find((message) => "error" in message), {
        id: waiting,
        error: { code: -1, message: "not now" }
      })
    })))

  it.effect("MUST be cancelled before the answer to `tasks/cancel`, and stays so", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const peer = yield* client
        const task = yield* start(peer, "waiting")
        const waiting = yield* peer.request("tasks/result", { taskId: task.taskId })
        yield* peer.expectSilence
        const cancelling = yield* peer.request("tasks/cancel", { taskId: task.taskId })
        const messages = yield* Effect.all([peer.next, peer.next, peer.next])
        const of = (id: unknown) => messages.find((message) => "id" in message && message.id === id)
        assert.nestedPropertyVal(of(cancelling), "result.status", "cancelled")
        assert.nestedPropertyVal(of(waiting), "error.message", "The task was cancelled")
        yield* Deferred.await(interrupted)
        const { code } = yield* peer.expectError(yield* peer.request("tasks/cancel", { taskId: task.taskId }))
        assert.strictEqual(code, -32602)
        assert.strictEqual((yield* ask(peer, "tasks/get", task)).status, "cancelled")
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(serve(features(undefined, interrupted)), TaskStore.layerMemory))
      )
    }))

  it.effect("MUST be unknown under any other id, and is not listed where clients have no principal", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* client
      yield* start(peer, "waiting")
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        assert.strictEqual((yield* peer.expectError(yield* peer.request(method, { taskId: "unknown" }))).code, -32602)
      }
      assert.strictEqual((yield* peer.expectError(yield* peer.request("tasks/list"))).code, -32601)
    })))

  it.effect("goes on when its client disconnects", () =>
    onServer(Effect.gen(function*() {
      const first = yield* client
      const task = yield* start(first, "slow", { seconds: 5 })
      yield* first.expectNotification("notifications/message")
      yield* first.hangUp
      yield* TestClock.adjust("5 seconds")
      const second = yield* client
      assert.strictEqual(text(yield* ask(second, "tasks/result", task)), "slept")
    })))

  it.effect("gives two readers of its result the same result", () =>
    onServer(Effect.gen(function*() {
      const one = yield* client
      const two = yield* client
      const task = yield* start(one, "slow", { seconds: 5 })
      yield* one.expectNotification("notifications/message")
      const reading = yield* Effect.fork(ask(two, "tasks/result", task))
      yield* Effect.yieldNow()
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(text(yield* Fiber.join(reading)), "slept")
      yield* one.expectNotification("notifications/tasks/status") // its progress
      yield* one.expectNotification("notifications/tasks/status")
      assert.strictEqual(text(yield* ask(one, "tasks/result", task)), "slept")
    })))

  it.effect("takes no place while its result is awaited, and has a limit of its own", () =>
    Effect.gen(function*() {
      const peer = yield* client
      const task = yield* start(peer, "waiting")
      const waiting = yield* Effect.forEach([1, 2, 3], () => peer.request("tasks/result", { taskId: task.taskId }))
      const { message } = yield* peer.expectError(yield* peer.request("tasks/result", { taskId: task.taskId }))
      assert.strictEqual(message, "Too many of these requests are open; end one first")
      // One request of the client may run, and none may wait.
      assert.strictEqual(text(yield* peer.expectResult(yield* peer.request("tools/call", { name: "quick" }))), "quick")
      yield* peer.request("tasks/cancel", { taskId: task.taskId })
      // Three results, the answer to the cancellation, and the status.
      const messages = yield* Effect.all(Array.from({ length: 5 }, () => peer.next))
      for (const id of waiting) {
        const answer = messages.find((message) => "id" in message && message.id === id)
        assert.nestedPropertyVal(answer, "error.message", "The task was cancelled")
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.provide(
        serve(features(TasksServer.layerWith({ limits: { maxRunning: 3 } })), {
          limits: { maxInFlight: 1, maxWaiting: 0 }
        }),
        TaskStore.layerMemory
      ))
    ))

  it.effect("can be read and cancelled while no other request of its client is served", () =>
    Effect.gen(function*() {
      const peer = yield* client
      const task = yield* start(peer, "waiting")
      yield* peer.request("tools/call", { name: "waiting" })
      const busy = yield* peer.expectError(yield* peer.request("tools/call", { name: "quick" }))
      assert.strictEqual(busy.code, -32000)
      assert.strictEqual((yield* ask(peer, "tasks/get", task)).status, "working")
      const cancelling = yield* peer.request("tasks/cancel", { taskId: task.taskId })
      const messages = yield* Effect.all([peer.next, peer.next])
      assert.nestedPropertyVal(
        messages.find((message) => "id" in message && message.id === cancelling),
        "result.status",
        "cancelled"
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.provide(serve(features(), { limits: { maxInFlight: 1, maxWaiting: 0 } }), TaskStore.layerMemory)
      )
    ))

  it.effect("is a call that waits for its result at earlier revisions, also of a tool that needs a task", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* connect("2025-06-18")
      const result = yield* peer.expectResult(yield* peer.request("tools/call", { name: "needed" }))
      assert.strictEqual(result.isError, true)
    })))
})

describe("A middleware around a call that becomes a task", () => {
  const logging = Middleware.make((_, next) =>
    Effect.flatMap(
      RequestContext,
      ({ log, method }) => method === "tools/call" ? Effect.zipLeft(next, log("warning", "after")) : next
    )
  )

  it.effect("still sends on the channel of the request, which knows no task yet", () =>
    Effect.gen(function*() {
      const peer = yield* client
      const id = yield* call(peer, "waiting")
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/message"), {
        level: "warning",
        data: "after"
      })
      assert.nestedProperty(yield* peer.expectResult(id), "task.taskId")
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.provide(serve(features(), { middleware: logging }), TaskStore.layerMemory))
    ))
})

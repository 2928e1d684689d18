import { assert, describe, it } from "@effect/vitest"
import { NotNegotiated, TaskEnded } from "@effect-mcp/core/ClientError"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import { Cause, Chunk, Effect, Fiber, Option, Stream, TestClock } from "effect"
import * as ModernServer from "./ModernServer.js"
import { answer, asking, connect, declared, ID, poll, refuse, result, silence, task, waiting } from "./TaskScripts.js"

const { beside } = ModernServer

describe("A call of a client with tasks", () => {
  it.scoped("MUST accept a result as well as a task", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect()
      const first = yield* beside(client.callTool("t"))
      yield* answer(server, "tools/call", result)
      assert.deepStrictEqual(yield* Fiber.join(first), result)
      const second = yield* beside(client.callTool("t"))
      yield* answer(server, "tools/call", task(), "task")
      yield* poll(server, "working")
      yield* poll(server, "completed", { result: { resultType: "complete", ...result } })
      assert.deepStrictEqual(yield* Fiber.join(second), result)
    }))

  it.scoped("MUST NOT be answered with a task on another method, nor by a server without tasks", () =>
    Effect.gen(function*() {
      for (const [capabilities, method] of [[declared, "prompts/get"], [{ tools: {} }, "tools/call"]] as const) {
        const { client, server } = yield* connect(capabilities)
        const call = method === "prompts/get" ? client.getPrompt("p") : client.callTool("t")
        const calling = yield* beside(Effect.flip(call as Effect.Effect<unknown, unknown>))
        yield* answer(server, method, task(), "task")
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Decode" })
      }
      const { calling, server } = yield* waiting()
      const failed = yield* beside(Effect.flip(Fiber.join(calling)))
      yield* TestClock.adjust(500)
      yield* answer(server, "tasks/get", task(), "task")
      yield* answer(server, "tasks/cancel", {})
      assert.deepInclude(yield* Fiber.join(failed), { _tag: "TransportError", reason: "Decode" })
    }))

  it.scoped("SHOULD poll at the pace of the server, which may change, within its own limits", () =>
    Effect.gen(function*() {
      const { calling, client, server } = yield* waiting()
      yield* TestClock.adjust(499)
      yield* silence(client, server)
      yield* TestClock.adjust(1)
      yield* answer(server, "tasks/get", task("working", { pollIntervalMs: -1 }))
      yield* TestClock.adjust(49)
      yield* silence(client, server)
      yield* TestClock.adjust(1)
      yield* answer(server, "tasks/get", task("working", { pollIntervalMs: Number.MAX_SAFE_INTEGER }))
      yield* TestClock.adjust(59_999)
      yield* silence(client, server)
      yield* TestClock.adjust(1)
      yield* answer(server, "tasks/get", task("completed", { result }))
      assert.deepStrictEqual(yield* Fiber.join(calling), result)
    }))

  it.scoped("has the parameter `taskId`, and nothing of the call, in the requests about the task", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect()
      const calling = yield* beside(client.callTool("t", { a: 1 }, { meta: { "com.example/a": 1 } }))
      yield* answer(server, "tools/call", task(), "task")
      yield* TestClock.adjust(500)
      const { params } = yield* answer(server, "tasks/get", task("completed", { result }))
      assert.deepStrictEqual(Object.keys(params!).sort(), ["_meta", "taskId"])
      assert.notProperty(params!._meta, "com.example/a")
      yield* Fiber.join(calling)
    }))

  it.scoped("fails as any call does when the task has failed, and with `TaskEnded` when there is no outcome", () =>
    Effect.gen(function*() {
      for (
        const [status, more, expected] of [
          ["failed", { error: { code: -32602, message: "bad" } }, { _tag: "InvalidParams", message: "bad" }],
          ["failed", { statusMessage: "broken" }, { _tag: "TaskEnded", reason: "Failed", statusMessage: "broken" }],
          ["cancelled", {}, { _tag: "TaskEnded", reason: "Cancelled", taskId: "t1" }],
          ["completed", {}, { _tag: "TransportError", reason: "Decode" }],
          ["completed", { result: { content: 1 } }, { _tag: "TransportError", reason: "Decode" }]
        ] as const
      ) {
        const { calling, server } = yield* waiting()
        const failed = yield* beside(Effect.flip(Fiber.join(calling)))
        yield* poll(server, status, more)
        assert.deepInclude(yield* Fiber.join(failed), expected)
      }
      const { calling, server } = yield* waiting()
      yield* poll(server, "completed", { result: { ...result, isError: true } })
      assert.deepStrictEqual(yield* Fiber.join(calling), { ...result, isError: true })
    }))

  it.scoped("leaves the task to the feature of the application that reads tasks, where there is one", () =>
    Effect.gen(function*() {
      const features = ClientFeatures.result(
        TasksClient.extension.results.created,
        ({ taskId }) => Effect.succeed({ content: [{ type: "text" as const, text: taskId }] })
      )
      const { client, server } = yield* connect(declared, { features })
      const calling = yield* beside(client.callTool("t"))
      yield* answer(server, "tools/call", task(), "task")
      assert.deepStrictEqual(yield* Fiber.join(calling), { content: [{ type: "text", text: "t1" }] })
    }))
})

describe("The handle of a task", () => {
  const start = (options?: Parameters<typeof connect>[1]) =>
    Effect.gen(function*() {
      const { client, server } = yield* connect(declared, options)
      const starting = yield* beside(TasksClient.start(client, "t"))
      yield* answer(server, "tools/call", task(), "task")
      return { client, server, task: yield* Fiber.join(starting) }
    })

  it.scoped("MUST NOT send anything of tasks without the extension on both sides", () =>
    Effect.gen(function*() {
      for (
        const [capabilities, extensions, declaredBy] of [
          [declared, [], "client"],
          [{ tools: {} }, [TasksClient.extension], "server"]
        ] as const
      ) {
        const { client } = yield* connect(capabilities, { extensions })
        const attached = TasksClient.attach(client, "t", "t1")
        for (
          const one of [
            (yield* attached).result,
            (yield* attached).cancel,
            Stream.runDrain((yield* attached).status)
          ]
        ) {
          const error = yield* Effect.flip(one as Effect.Effect<unknown, unknown>)
          assert.instanceOf(error, NotNegotiated)
          assert.deepInclude(error, { capability: `extensions.${ID}`, declaredBy })
        }
        assert.instanceOf(yield* Effect.flip(Stream.runDrain(TasksClient.list(client))), NotNegotiated)
      }
    }))

  it.scoped("subscribes to the task while its status is read, and reads it when it is notified", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* start()
      const states = yield* beside(Stream.runCollect(one.status))
      const listening = yield* server.expectRequest("subscriptions/listen")
      assert.deepStrictEqual(listening.params?.notifications, { taskIds: ["t1"] })
      yield* ModernServer.acknowledge(server, listening)
      yield* TestClock.adjust(100)
      yield* server.notify("notifications/tasks", {
        ...task("completed"),
        _meta: { "io.modelcontextprotocol/subscriptionId": listening.id }
      })
      yield* answer(server, "tasks/get", task("completed", { result }))
      yield* server.expectNotification("notifications/cancelled")
      const seen = Chunk.toReadonlyArray(yield* Fiber.join(states)).map(({ pollInterval, status, ttl }) => ({
        pollInterval,
        status,
        ttl
      }))
      assert.deepStrictEqual(seen, [
        { pollInterval: 500, status: "working", ttl: 60_000 },
        { pollInterval: 500, status: "completed", ttl: 60_000 }
      ])
    }))

  it.scoped("reads the status at the pace of the server when it is refused the subscription", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* start()
      const states = yield* beside(Stream.runDrain(one.status))
      yield* refuse(server, "subscriptions/listen", -32601)
      yield* poll(server, "completed", { result })
      yield* Fiber.join(states)
    }))

  it.scoped("reports a task that the server has no longer, and goes on when single requests are lost", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* start()
      const waiting = yield* beside(Effect.flip(one.result))
      yield* TestClock.adjust(500)
      const { id } = yield* server.expectRequest("tasks/get")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* server.expectNotification("notifications/cancelled")).requestId, id)
      yield* TestClock.adjust(500)
      yield* refuse(server, "tasks/get")
      const error = yield* Fiber.join(waiting)
      assert.instanceOf(error, TaskEnded)
      assert.include((error as TaskEnded).message, "The server does not have the task \"t1\"")
    }))

  it.scoped("fails with the error of the server when that is none of a missing task", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* start()
      const waiting = yield* beside(Effect.flip(one.result))
      yield* TestClock.adjust(500)
      yield* refuse(server, "tasks/get", -32603)
      assert.instanceOf(yield* Fiber.join(waiting), McpError.InternalError)
    }))

  for (const isSent of [false, true]) {
    it.scoped(`asks the user ${isSent ? "no" : "the"} question again whose responses were ${isSent ? "" : "not "}sent`, () =>
      Effect.gen(function*() {
        let asked = 0
        const features = ClientFeatures.elicitation(() =>
          Effect.suspend(() => ++asked === 1 && !isSent ? Effect.never : Effect.succeed({ action: "accept" as const }))
        )
        const { server, task: one } = yield* start({ features })
        const first = yield* beside(one.result)
        yield* poll(server, "input_required", asking("a"))
        if (isSent) yield* server.expectRequest("tasks/update")
        // Its caller waits no longer for the result.
        yield* Fiber.interrupt(first)
        if (isSent) yield* server.expectNotification("notifications/cancelled")
        const second = yield* beside(one.result)
        if (!isSent) yield* answer(server, "tasks/update", {})
        yield* poll(server, "input_required", asking("a"))
        assert.strictEqual(asked, isSent ? 1 : 2)
        yield* poll(server, "completed", { result })
        assert.deepStrictEqual(yield* Fiber.join(second), result)
      }))
  }

  it.scoped("ends with the session", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* start()
      const waiting = yield* beside(Effect.exit(one.result))
      yield* TestClock.adjust(500)
      yield* server.expectRequest("tasks/get")
      yield* server.hangUp
      const exit = yield* Fiber.join(waiting)
      assert.isTrue(exit._tag === "Failure" && Option.isSome(Cause.failureOption(exit.cause)))
    }))
})

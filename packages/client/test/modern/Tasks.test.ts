import { assert, describe, it } from "@effect/vitest"
import { NotNegotiated, TaskEnded } from "@effect-mcp/client/ClientError"
import * as Features from "@effect-mcp/client/Features"
import * as Tasks from "@effect-mcp/client/Tasks"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as McpError from "@effect-mcp/protocol/McpError"
import type * as TestClient from "@effect-mcp/testing/TestClient"
import { Cause, Chunk, Effect, Fiber, Option, Queue, Stream, TestClock } from "effect"
import * as ModernServer from "./ModernServer.js"

const { beside } = ModernServer

const ID = "io.modelcontextprotocol/tasks"

const declared = { tools: {}, prompts: {}, extensions: { [ID]: {} } }

const form = {
  method: "elicitation/create",
  params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } }
}

const result = { content: [{ type: "text" as const, text: "done" }] }

const task = (status = "working", more: JsonObject = {}): JsonObject => ({
  taskId: "t1",
  status,
  createdAt: "2026-07-28T10:00:00Z",
  lastUpdatedAt: "2026-07-28T10:00:00Z",
  ttlMs: 60_000,
  pollIntervalMs: 500,
  ...more
})

type Server = TestClient.TestClient["server"]

const connect = (
  capabilities: Record<string, unknown> = declared,
  client: TestClient.Options<never, Features.Features>["client"] = {}
) => ModernServer.connect(capabilities, { extensions: [Tasks.extension], ...client })

/** Receives a request, and answers it. */
const answer = (server: Server, method: string, result: JsonObject, resultType = "complete") =>
  Effect.flatMap(
    server.expectRequest(method),
    (request) => Effect.as(server.send(Message.success(request.id, { resultType, ...result })), request)
  )

const refuse = (server: Server, method: string, code = -32602) =>
  Effect.flatMap(
    server.expectRequest(method),
    ({ id }) => server.send({ jsonrpc: "2.0", id, error: { code, message: "no" } })
  )

/** A client whose call of a tool has become a task, and waits for its result. */
const waiting = (client?: TestClient.Options<never, Features.Features>["client"], more?: JsonObject) =>
  Effect.gen(function*() {
    const { client: session, server } = yield* connect(declared, client)
    const calling = yield* beside(session.callTool("t"))
    yield* answer(server, "tools/call", task("working", more), "task")
    return { calling, client: session, server }
  })

/** Checks that the client has sent nothing more. */
const silence = (client: TestClient.TestClient["client"], server: Server) =>
  Effect.zipRight(client.notify("com.example/marker"), server.expectNotification("com.example/marker"))

/** Answers the next poll, when it is due. */
const poll = (server: Server, status: string, more?: JsonObject) =>
  Effect.zipRight(TestClock.adjust(500), answer(server, "tasks/get", task(status, more)))

const asking = (...keys: ReadonlyArray<string>) => ({
  inputRequests: Object.fromEntries(keys.map((key) => [key, form]))
})

const accepts = Features.elicitation(() => Effect.succeed({ action: "accept" }))

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
      const features = Features.result(
        Tasks.extension.results.created,
        ({ taskId }) => Effect.succeed({ content: [{ type: "text" as const, text: taskId }] })
      )
      const { client, server } = yield* connect(declared, { features })
      const calling = yield* beside(client.callTool("t"))
      yield* answer(server, "tools/call", task(), "task")
      assert.deepStrictEqual(yield* Fiber.join(calling), { content: [{ type: "text", text: "t1" }] })
    }))
})

describe("A task that needs input", () => {
  it.scoped("MUST have each question answered once, though it is listed again", () =>
    Effect.gen(function*() {
      let asked = 0
      const features = Features.elicitation(() =>
        Effect.sync(() => {
          asked++
          return { action: "accept" as const }
        })
      )
      const { calling, server } = yield* waiting({ features })
      yield* poll(server, "input_required", asking("a", "b"))
      const { params } = yield* answer(server, "tasks/update", {})
      assert.deepInclude(params, {
        taskId: "t1",
        inputResponses: { a: { action: "accept", content: {} }, b: { action: "accept", content: {} } }
      })
      // The server has not seen the responses yet, and asks one more question.
      yield* poll(server, "input_required", asking("a", "b", "c"))
      const next = yield* answer(server, "tasks/update", {})
      assert.deepStrictEqual(Object.keys(next.params!.inputResponses as object), ["c"])
      yield* poll(server, "completed", { result })
      yield* Fiber.join(calling)
      assert.strictEqual(asked, 3)
    }))

  it.scoped("MUST have its questions refused as those of a call: what the client did not declare, and more than a thousand", () =>
    Effect.gen(function*() {
      const many = asking(...Array.from({ length: 1001 }, (_, i) => `${i}`))
      for (
        const [features, more, expected] of [
          [undefined, asking("a"), { _tag: "InputRefused", input: "elicitation/create" }],
          [accepts, { inputRequests: { a: { method: "tools/call", params: {} } } }, { reason: "Decode" }],
          [accepts, many, { reason: "Decode" }]
        ] as const
      ) {
        const { calling, server } = yield* waiting({ features })
        const failed = yield* beside(Effect.flip(Fiber.join(calling)))
        yield* poll(server, "input_required", more)
        yield* answer(server, "tasks/cancel", {})
        assert.deepInclude(yield* Fiber.join(failed), expected)
      }
    }))

  it.scoped("is given up after as many rounds of questions as a call may have", () =>
    Effect.gen(function*() {
      const { calling, server } = yield* waiting({ features: accepts, maxRounds: 2 })
      const failed = yield* beside(Effect.flip(Fiber.join(calling)))
      for (const key of ["a", "b"]) {
        yield* poll(server, "input_required", asking(key))
        yield* answer(server, "tasks/update", {})
      }
      yield* poll(server, "input_required", asking("c"))
      yield* answer(server, "tasks/cancel", {})
      assert.deepInclude(yield* Fiber.join(failed), { _tag: "TooManyRounds", rounds: 2 })
    }))

  it.scoped("withdraws a question from the user when it was answered elsewhere, or has ended", () =>
    Effect.gen(function*() {
      const shown = yield* Queue.unbounded<string>()
      const closed = yield* Queue.unbounded<string>()
      const features = Features.elicitation(({ message }) =>
        Effect.zipRight(
          Queue.offer(shown, message),
          Effect.onInterrupt(Effect.never, () => Queue.offer(closed, message))
        )
      )
      const { calling, server } = yield* waiting({ features })
      yield* poll(server, "input_required", asking("a"))
      yield* Queue.take(shown)
      yield* poll(server, "working")
      yield* Queue.take(closed)
      yield* poll(server, "input_required", asking("b"))
      yield* Queue.take(shown)
      yield* poll(server, "completed", { result })
      assert.deepStrictEqual(yield* Fiber.join(calling), result)
      yield* Queue.take(closed)
    }))

  it.scoped("has responses sent again whose acknowledgement was lost, without asking the user again", () =>
    Effect.gen(function*() {
      const { calling, server } = yield* waiting({ features: accepts, timeout: "2 seconds" })
      yield* poll(server, "input_required", asking("a"))
      const lost = yield* server.expectRequest("tasks/update")
      yield* poll(server, "input_required", asking("a"))
      yield* poll(server, "input_required", asking("a"))
      yield* poll(server, "input_required", asking("a"))
      yield* poll(server, "input_required", asking("a"))
      yield* server.expectNotification("notifications/cancelled")
      yield* poll(server, "input_required", asking("a"))
      yield* poll(server, "input_required", asking("a"))
      const again = yield* answer(server, "tasks/update", {})
      assert.deepStrictEqual(again.params?.inputResponses, lost.params?.inputResponses)
      yield* poll(server, "completed", { result })
      yield* Fiber.join(calling)
    }))

  it.scoped("that ends while its responses are sent has the outcome of its end", () =>
    Effect.gen(function*() {
      const { calling, server } = yield* waiting({ features: accepts })
      yield* poll(server, "input_required", asking("a"))
      yield* refuse(server, "tasks/update")
      yield* poll(server, "completed", { result })
      assert.deepStrictEqual(yield* Fiber.join(calling), result)
    }))
})

describe("The handle of a task", () => {
  const start = Effect.gen(function*() {
    const { client, server } = yield* connect()
    const starting = yield* beside(Tasks.start(client, "t"))
    yield* answer(server, "tools/call", task(), "task")
    return { client, server, task: yield* Fiber.join(starting) }
  })

  it.scoped("MUST NOT send anything of tasks without the extension on both sides", () =>
    Effect.gen(function*() {
      for (
        const [capabilities, extensions, declaredBy] of [
          [declared, [], "client"],
          [{ tools: {} }, [Tasks.extension], "server"]
        ] as const
      ) {
        const { client } = yield* connect(capabilities, { extensions })
        const attached = Tasks.attach(client, "t", "t1")
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
        assert.instanceOf(yield* Effect.flip(Stream.runDrain(Tasks.list(client))), NotNegotiated)
      }
    }))

  it.scoped("subscribes to the task while its status is read, and reads it when it is notified", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* start
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
      const { server, task: one } = yield* start
      const states = yield* beside(Stream.runDrain(one.status))
      yield* refuse(server, "subscriptions/listen", -32601)
      yield* poll(server, "completed", { result })
      yield* Fiber.join(states)
    }))

  it.scoped("reports a task that the server has no longer, and goes on when single requests are lost", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* start
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
      const { server, task: one } = yield* start
      const waiting = yield* beside(Effect.flip(one.result))
      yield* TestClock.adjust(500)
      yield* refuse(server, "tasks/get", -32603)
      assert.instanceOf(yield* Fiber.join(waiting), McpError.InternalError)
    }))

  it.scoped("ends with the session", () =>
    Effect.gen(function*() {
      const { server, task: one } = yield* start
      const waiting = yield* beside(Effect.exit(one.result))
      yield* TestClock.adjust(500)
      yield* server.expectRequest("tasks/get")
      yield* server.hangUp
      const exit = yield* Fiber.join(waiting)
      assert.isTrue(exit._tag === "Failure" && Option.isSome(Cause.failureOption(exit.cause)))
    }))
})

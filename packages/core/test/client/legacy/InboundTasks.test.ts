import { assert, describe, it } from "@effect/vitest"
import { FeatureContext } from "@effect-mcp/core/FeatureContext"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { InternalError } from "@effect-mcp/core/protocol/McpError"
import { Chunk, Deferred, Effect, Fiber, Stream, TestClock } from "effect"
import { waiting } from "../Scripts.js"
import { client, form, prompt, refused, related, request, sampled, start, statusOf } from "./AskedTasks.js"

describe("A question as a task at 2025-11-25", () => {
  it.scoped("MUST be answered with a task that works, under an id that cannot be guessed, and with nothing else", () =>
    Effect.gen(function*() {
      const { server } = yield* client(Effect.never)
      const ids = new Set<unknown>()
      for (let i = 0; i < 3; i++) {
        const { task, ...rest } = yield* request(server, "sampling/createMessage", { ...prompt, task: { ttl: 60_000 } })
        const { createdAt, lastUpdatedAt, taskId, ...facts } = task as JsonObject
        assert.deepStrictEqual(rest, {})
        assert.deepStrictEqual(facts, { status: "working", ttl: 60_000, pollInterval: 1000 })
        assert.match(String(taskId), /^[\w-]{22}$/)
        assert.strictEqual(createdAt, "1970-01-01T00:00:00.000Z")
        assert.strictEqual(lastUpdatedAt, createdAt)
        ids.add(taskId)
      }
      assert.strictEqual(ids.size, 3)
    }))

  it.scoped("is served after its response: the status goes on, and the result MUST be the handler's, marked with the task", () =>
    Effect.gen(function*() {
      const answered = yield* Deferred.make<void>()
      const { server } = yield* client(Effect.as(Deferred.await(answered), sampled))
      const task = yield* start(server)
      assert.deepStrictEqual(yield* request(server, "tasks/get", { taskId: task.taskId }), task)
      yield* TestClock.adjust(1500)
      yield* Deferred.succeed(answered, undefined)
      const ended = { ...task, status: "completed", lastUpdatedAt: "1970-01-01T00:00:01.500Z" }
      // SHOULD NOT have the mark: the notification names the task itself.
      assert.deepStrictEqual(yield* server.expectNotification("notifications/tasks/status"), ended)
      assert.deepStrictEqual(yield* request(server, "tasks/get", { taskId: task.taskId }), ended)
      for (let i = 0; i < 2; i++) {
        assert.deepStrictEqual<unknown>(
          yield* request(server, "tasks/result", { taskId: task.taskId }),
          { ...sampled, _meta: related(task) }
        )
      }
    }))

  it.scoped("MUST keep a request for its result waiting until it has ended", () =>
    Effect.gen(function*() {
      const answered = yield* Deferred.make<void>()
      const { server } = yield* client(Effect.as(Deferred.await(answered), sampled))
      const { taskId } = yield* start(server)
      const id = yield* server.request("tasks/result", { taskId })
      yield* server.expectSilence
      yield* Deferred.succeed(answered, undefined)
      assert.strictEqual(yield* statusOf(server), "completed")
      assert.strictEqual((yield* server.expectResult(id)).model, "m")
    }))

  it.scoped("asks the user as well", () =>
    Effect.gen(function*() {
      const { server } = yield* client(Effect.never)
      const { task } = yield* request(server, "elicitation/create", { ...form, task: {} })
      const { taskId } = task as JsonObject
      assert.strictEqual(yield* statusOf(server), "completed")
      assert.deepStrictEqual<unknown>(
        yield* request(server, "tasks/result", { taskId }),
        { action: "accept", content: { name: "Ada" }, _meta: related({ taskId }) }
      )
    }))

  it.scoped("fails with the error of its handler, and the result MUST be that error", () =>
    Effect.gen(function*() {
      const { server } = yield* client(Effect.fail(new InternalError({ message: "No model", data: { left: 0 } })))
      const { taskId } = yield* start(server)
      const { status, statusMessage } = yield* server.expectNotification("notifications/tasks/status")
      assert.deepStrictEqual([status, statusMessage], ["failed", "No model"])
      assert.deepStrictEqual(
        yield* refused(server, "tasks/result", { taskId }),
        { code: -32603, message: "No model", data: { left: 0 } }
      )
    }))

  it.scoped("that dies is reported once, and the server reads no more than that it failed", () =>
    Effect.gen(function*() {
      const { client: session, server } = yield* client(Effect.die(new Error("a secret")))
      const reading = yield* waiting(Stream.runCollect(Stream.take(session.diagnostics, 1)))
      const { taskId } = yield* start(server)
      assert.strictEqual(yield* statusOf(server), "failed")
      for (let i = 0; i < 2; i++) {
        assert.deepStrictEqual(yield* refused(server, "tasks/result", { taskId }), {
          code: -32603,
          message: "Internal error"
        })
      }
      const [diagnostic] = Chunk.toReadonlyArray(yield* Fiber.join(reading))
      assert.deepInclude(diagnostic, { _tag: "HandlerDied", method: "sampling/createMessage" })
    }))

  it.scoped("MUST be cancelled before the response says so, and MUST NOT be anything else afterwards", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      // This handler answers although it is interrupted.
      const answering = Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(release))
      const { server } = yield* client(Effect.uninterruptible(Effect.as(answering, sampled)))
      const { taskId } = yield* start(server)
      yield* Deferred.await(begun)
      const id = yield* server.request("tasks/cancel", { taskId })
      assert.strictEqual(yield* statusOf(server), "cancelled")
      assert.strictEqual((yield* server.expectResult(id)).status, "cancelled")
      yield* Deferred.succeed(release, undefined)
      yield* server.expectSilence
      assert.strictEqual((yield* request(server, "tasks/get", { taskId })).status, "cancelled")
      assert.strictEqual((yield* refused(server, "tasks/result", { taskId })).code, -32800)
      const again = yield* refused(server, "tasks/cancel", { taskId })
      assert.deepStrictEqual(again, {
        code: -32602,
        message: "Invalid params: the task has ended already, it is cancelled"
      })
    }))

  it.scoped("is interrupted by its cancellation, also while a request waits for its result", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const { server } = yield* client(
        Effect.onInterrupt(
          Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never),
          () => Deferred.succeed(interrupted, undefined)
        )
      )
      const { taskId } = yield* start(server)
      yield* Deferred.await(begun)
      const result = yield* server.request("tasks/result", { taskId })
      const id = yield* server.request("tasks/cancel", { taskId })
      assert.strictEqual(yield* statusOf(server), "cancelled")
      const answers = [yield* server.next, yield* server.next]
      assert.sameMembers(answers.map((answer) => "id" in answer ? answer.id : undefined), [result, id])
      yield* Deferred.await(interrupted)
    }))

  it.scoped("MUST refuse what is about no task of this session, and a cursor that it did not give", () =>
    Effect.gen(function*() {
      const { server } = yield* client(Effect.never)
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        assert.strictEqual((yield* refused(server, method, { taskId: "none" })).code, -32602)
      }
      assert.strictEqual((yield* refused(server, "tasks/list", { cursor: "none" })).code, -32602)
    }))

  it.scoped("MUST be listed when it can be read, and MUST be found by the parameter, whatever the mark says", () =>
    Effect.gen(function*() {
      const { server } = yield* client(Effect.never)
      const one = yield* start(server)
      const two = yield* start(server)
      assert.deepStrictEqual(yield* request(server, "tasks/list", {}), { tasks: [one, two] })
      const marked = { taskId: one.taskId, _meta: related(two) }
      assert.strictEqual((yield* request(server, "tasks/get", marked)).taskId, one.taskId)
    }))

  it.scoped("MUST mark what its handler sends, after the response as well", () =>
    Effect.gen(function*() {
      const { server } = yield* client(Effect.flatMap(FeatureContext, ({ notify, progress }) =>
        Effect.as(Effect.zipRight(progress(1), notify("notifications/ours", { a: 1 })), sampled)))
      const task = yield* start(server, {}, { _meta: { progressToken: "p" } })
      assert.deepStrictEqual(
        yield* server.expectNotification("notifications/progress"),
        { progressToken: "p", progress: 1, _meta: related(task) }
      )
      assert.deepStrictEqual(yield* server.expectNotification("notifications/ours"), { a: 1, _meta: related(task) })
      assert.strictEqual(yield* statusOf(server), "completed")
    }))

  it.scoped("makes the time-outs of the client's calls stand still while it runs", () =>
    Effect.gen(function*() {
      const answered = yield* Deferred.make<void>()
      const { client: session, server } = yield* client(Effect.as(Deferred.await(answered), sampled))
      const calling = yield* Effect.fork(session.callTool("slow", {}, { timeout: "1 minute" }))
      const { id } = yield* server.expectRequest("tools/call")
      yield* start(server, { ttl: 3_600_000 })
      yield* TestClock.adjust("10 minutes")
      yield* Deferred.succeed(answered, undefined)
      assert.strictEqual(yield* statusOf(server), "completed")
      yield* server.send({ jsonrpc: "2.0", id, result: { content: [] } })
      assert.deepStrictEqual((yield* Fiber.join(calling)).content, [])
    }))
})

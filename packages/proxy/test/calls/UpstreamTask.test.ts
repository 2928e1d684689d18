import { assert, describe, it } from "@effect/vitest"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import * as UpstreamTask from "../../src/calls/UpstreamTask.js"

describe("A task of the upstream whose call has ended", () => {
  it.effect("is waited for at most a second, when the upstream does not acknowledge that it cancels it", () =>
    Effect.gen(function*() {
      const waiting = yield* Deferred.make<void>()
      const cancelled = yield* Deferred.make<void>()
      const task = {
        result: Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never),
        cancel: Effect.zipRight(Deferred.succeed(cancelled, undefined), Effect.never)
      }
      const session = { tasks: { attach: () => Effect.succeed(task) } } as unknown as ClientSessionService
      const call = yield* Effect.fork(UpstreamTask.legacy(session, "task-1"))
      yield* Deferred.await(waiting)
      const ending = yield* Effect.fork(Fiber.interrupt(call))
      yield* Deferred.await(cancelled)
      yield* TestClock.adjust("999 millis")
      assert.strictEqual((yield* Fiber.poll(ending))._tag, "None")
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(ending)
    }))
})

describe("A task of the upstream that asks what the client refuses to answer", () => {
  const refusal = new InvalidRequest({ message: "refused" })
  const state = {
    status: "input_required",
    pollIntervalMs: 1000,
    inputRequests: { q: { method: "elicitation/create" } }
  }

  for (const [does, cancelled] of [["acknowledges", Effect.succeed({})], ["ignores", Effect.never]] as const) {
    it.effect(`is cancelled, and the call fails with the refusal, also when the upstream ${does} that`, () =>
      Effect.gen(function*() {
        const sent = yield* Deferred.make<unknown>()
        const request = (method: string, { taskId }: { readonly taskId: string }) =>
          method === "tasks/cancel"
            ? Effect.zipRight(Deferred.succeed(sent, taskId), cancelled)
            : Effect.succeed(state)
        const call = yield* Effect.fork(Effect.flip(UpstreamTask.modern(
          { request } as unknown as ClientSessionService,
          "task-1",
          {
            start: Effect.void,
            ask: () => Effect.fail(refusal),
            pass: () => undefined,
            responses: undefined,
            capabilities: {}
          }
        )))
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual(yield* Fiber.join(call), refusal)
        assert.isTrue(yield* Deferred.isDone(sent))
        assert.strictEqual(yield* Deferred.await(sent), "task-1")
      }))
  }
})

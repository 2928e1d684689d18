import { assert, describe, it } from "@effect/vitest"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
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

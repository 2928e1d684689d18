import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { Effect, Fiber, Queue, TestClock } from "effect"
import * as ModernServer from "./ModernServer.js"
import { accepts, answer, asking, poll, refuse, result, waiting } from "./TaskScripts.js"

const { beside } = ModernServer

describe("A task that needs input", () => {
  it.scoped("MUST have each question answered once, though it is listed again", () =>
    Effect.gen(function*() {
      let asked = 0
      const features = ClientFeatures.elicitation(() =>
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
      const { calling, server } = yield* waiting({ features: accepts, limits: { maxRounds: 2 } })
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
      const features = ClientFeatures.elicitation(({ message }) =>
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
      const { calling, server } = yield* waiting({ features: accepts, timeout: "2200 millis" })
      yield* poll(server, "input_required", asking("a"))
      const lost = yield* server.expectRequest("tasks/update")
      yield* poll(server, "input_required", asking("a"))
      yield* poll(server, "input_required", asking("a"))
      yield* poll(server, "input_required", asking("a"))
      yield* poll(server, "input_required", asking("a"))
      // The times of the request and of the polls are never over at once.
      yield* TestClock.adjust(200)
      yield* server.expectNotification("notifications/cancelled")
      yield* TestClock.adjust(100)
      yield* poll(server, "input_required", asking("a"))
      yield* TestClock.adjust(400)
      const again = yield* answer(server, "tasks/update", {})
      assert.deepStrictEqual(again.params?.inputResponses, lost.params?.inputResponses)
      yield* poll(server, "completed", { result })
      yield* Fiber.join(calling)
    }))

  it.scoped("has its responses on their way although it lists the question no longer", () =>
    Effect.gen(function*() {
      const { calling, server } = yield* waiting({ features: accepts })
      yield* poll(server, "input_required", asking("a"))
      const { id } = yield* server.expectRequest("tasks/update")
      for (let n = 0; n < 2; n++) yield* poll(server, "working")
      yield* ModernServer.complete(server, id, {})
      yield* poll(server, "completed", { result })
      assert.deepStrictEqual(yield* Fiber.join(calling), result)
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

/**
 * Tasks of a server on two nodes that share a store: the task runs at one, and its client is connected to the other.
 */
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Effect, Layer } from "effect"
import { byHeader } from "../Serving.js"
import { accept, begin, legacy, modern, reached, result, serving, start } from "../Tasking.js"

const nodes = Effect.gen(function*() {
  const tasks = yield* TaskStore.memory()
  const node = Layer.build(Layer.fresh(serving(tasks, {}, byHeader)))
  return [yield* node, yield* node] as const
})

/** Polls until the task asks the question with this key. */
const asked = (peer: TestPeer, taskId: unknown, key: string): Effect.Effect<JsonObject, any> =>
  Effect.flatMap(
    reached(peer, taskId as string, "input_required"),
    (task) => key in (task.inputRequests as object) ? Effect.succeed(task) : asked(peer, taskId, key)
  )

describe("a task that runs at another node", () => {
  it.scoped("is polled and cancelled, by a client of 2025-11-25", () =>
    Effect.gen(function*() {
      const [here, there] = yield* nodes
      const one = yield* Effect.provide(legacy("ada"), here)
      const two = yield* Effect.provide(legacy("ada"), there)
      const { taskId } = yield* start(one, "wait")
      assert.strictEqual((yield* result(two, "tasks/get", { taskId })).status, "working")
      yield* result(two, "tasks/cancel", { taskId })
      yield* reached(one, taskId, "cancelled")
    }))

  it.scoped("is polled, answered and cancelled, by a client of 2026-07-28", () =>
    Effect.gen(function*() {
      const [here, there] = yield* nodes
      const one = yield* Effect.provide(modern("ada"), here)
      const two = yield* Effect.provide(modern("ada"), there)
      const refused = yield* begin(one, "ask")
      yield* reached(two, refused.taskId, "input_required")
      // The other node cannot check it: the question is asked once more.
      yield* result(two, "tasks/update", { taskId: refused.taskId, inputResponses: { "elicit-1": { action: "odd" } } })
      const again = yield* asked(two, refused.taskId, "elicit-2")
      yield* result(two, "tasks/update", { taskId: again.taskId, inputResponses: { "elicit-2": accept } })
      yield* reached(two, refused.taskId, "completed")
      const asking = yield* begin(one, "ask")
      const { inputRequests } = yield* reached(two, asking.taskId, "input_required")
      const [key] = Object.keys(inputRequests as object)
      yield* result(two, "tasks/update", { taskId: asking.taskId, inputResponses: { [key!]: accept } })
      yield* reached(two, asking.taskId, "completed")
      const waiting = yield* begin(one, "wait")
      assert.strictEqual((yield* result(two, "tasks/get", { taskId: waiting.taskId })).status, "working")
      yield* result(two, "tasks/cancel", { taskId: waiting.taskId })
      yield* reached(one, waiting.taskId, "cancelled")
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { FeatureContext } from "@effect-mcp/core/FeatureContext"
import { Effect, Option, Queue } from "effect"
import { legacyClient } from "../Scripts.js"

const answering = (answer: Effect.Effect<unknown, never, FeatureContext>) =>
  Effect.map(
    legacyClient({ client: { features: ClientFeatures.request("ours/do", () => Effect.as(answer, {})) } }),
    ({ server }) => server
  )

describe("The context of a request", () => {
  it.scoped("MUST send progress that increases: other progress is dropped, and a total that is not a number left out", () =>
    Effect.gen(function*() {
      const server = yield* answering(Effect.flatMap(FeatureContext, ({ progress }) =>
        Effect.all([
          progress(1, { total: NaN }),
          progress(1),
          progress(0.5),
          progress(NaN),
          progress(Infinity),
          progress(2, { message: "two" })
        ])))
      const id = yield* server.request("ours/do", { _meta: { progressToken: 0 } })
      const progressed = server.expectNotification("notifications/progress")
      assert.deepStrictEqual(yield* progressed, { progressToken: 0, progress: 1 })
      assert.deepStrictEqual(yield* progressed, { progressToken: 0, progress: 2, message: "two" })
      yield* server.expectResult(id)
    }))

  it.scoped("sends no progress when the server has not requested it", () =>
    Effect.gen(function*() {
      const server = yield* answering(Effect.flatMap(FeatureContext, ({ progress }) => progress(1)))
      yield* server.expectResult(yield* server.request("ours/do"))
    }))

  it.scoped("has the reason that the server cancels with, for finalizers of the handler", () =>
    Effect.gen(function*() {
      const reasons = yield* Queue.unbounded<Option.Option<string>>()
      const server = yield* answering(Effect.flatMap(FeatureContext, ({ cancelReason }) =>
        Effect.flatMap(cancelReason, (before) =>
          Queue.offer(reasons, before)).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() =>
              Effect.flatMap(cancelReason, (after) => Queue.offer(reasons, after))
            )
          )))
      const requestId = yield* server.request("ours/do")
      yield* server.notify("notifications/cancelled", { requestId, reason: "enough" })
      assert.deepStrictEqual([yield* Queue.take(reasons), yield* Queue.take(reasons)], [
        Option.none(),
        Option.some("enough")
      ])
    }))

  it.scoped("sends notifications to the server", () =>
    Effect.gen(function*() {
      const server = yield* answering(Effect.flatMap(FeatureContext, ({ notify }) => notify("ours/done", { n: 1 })))
      const id = yield* server.request("ours/do")
      assert.deepStrictEqual(yield* server.expectNotification("ours/done"), { n: 1 })
      yield* server.expectResult(id)
    }))
})

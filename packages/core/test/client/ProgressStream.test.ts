import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as ProgressStream from "@effect-mcp/core/ProgressStream"
import { Chunk, Deferred, Effect, Fiber, Stream } from "effect"
import { failure, legacyClient } from "./Scripts.js"

const calling = Effect.map(legacyClient(), ({ client, server }) => ({
  server,
  updates: ProgressStream.make((onProgress) => client.callTool("build", {}, { onProgress }))
}))

const progress = (progressToken: Message.RequestId, progress: number) =>
  ["notifications/progress", { progressToken, progress, total: 3 }] as const

describe("A call as a stream", () => {
  it.scoped("has the progress in order, then the result, and ends", () =>
    Effect.gen(function*() {
      const { server, updates } = yield* calling
      const reading = yield* Effect.fork(Stream.runCollect(updates))
      const { id } = yield* server.expectRequest("tools/call")
      for (const n of [1, 2, 3]) yield* server.notify(...progress(id, n))
      yield* server.send(Message.success(id, { content: [] }))
      const received = Chunk.toReadonlyArray(yield* Fiber.join(reading))
      assert.deepStrictEqual<unknown>(received, [
        ...[1, 2, 3].map((progress) => ({ _tag: "Progress", progress: { progress, total: 3 } })),
        { _tag: "Result", result: { content: [] } }
      ])
    }))

  it.scoped("fails as the call does, after the progress that came before", () =>
    Effect.gen(function*() {
      const { server, updates } = yield* calling
      let count = 0
      const reading = yield* Effect.fork(failure(Stream.runForEach(updates, () => Effect.sync(() => count++))))
      const { id } = yield* server.expectRequest("tools/call")
      yield* server.notify(...progress(id, 1))
      yield* server.send(Message.failure(id, { code: -32603, message: "no" }))
      assert.strictEqual((yield* Fiber.join(reading))._tag, "InternalError")
      assert.strictEqual(count, 1)
    }))

  it.scoped("interrupts the call when the reader stops", () =>
    Effect.gen(function*() {
      const { server, updates } = yield* calling
      const reading = yield* Effect.fork(Stream.runHead(updates))
      const { id } = yield* server.expectRequest("tools/call")
      yield* server.notify(...progress(id, 1))
      yield* Fiber.join(reading)
      assert.strictEqual((yield* server.expectNotification("notifications/cancelled")).requestId, id)
    }))

  it.scoped("has 256 updates at most while they wait for a slow reader, and 16 Mi characters: the newest, with the result", () =>
    Effect.gen(function*() {
      for (const [length, most] of [[1, 256], [1024 * 1024, 17]] as const) {
        const first = yield* Deferred.make<void>()
        const wake = yield* Deferred.make<void>()
        const message = "x".repeat(length)
        const updates = ProgressStream.make((onProgress) =>
          Effect.gen(function*() {
            yield* onProgress({ progress: 0 })
            yield* Deferred.await(first)
            yield* Effect.forEach(Array.from({ length: 300 }), (_, n) => onProgress({ progress: n + 1, message }))
            // The reader goes on after the result.
            yield* Effect.forkDaemon(Deferred.succeed(wake, undefined))
            return "done"
          })
        )
        const slow = Stream.tap(
          updates,
          () => Effect.zipRight(Deferred.succeed(first, undefined), Deferred.await(wake))
        )
        const received = Chunk.toReadonlyArray(yield* Stream.runCollect(slow))
        assert.lengthOf(received, 1 + most)
        assert.deepInclude(received.at(-2), { progress: { progress: 300, message } })
        assert.deepStrictEqual<unknown>(received.at(-1), { _tag: "Result", result: "done" })
      }
    }))

  it.scoped("sends nothing before it is read", () =>
    Effect.gen(function*() {
      const { server } = yield* calling
      yield* server.expectSilence
    }))
})

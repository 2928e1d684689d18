import { assert, describe, it } from "@effect/vitest"
import type { CallOptions, ClientSessionService, Options } from "@effect-mcp/core/ClientSession"
import * as Message from "@effect-mcp/core/Message"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Fiber, TestClock } from "effect"
import { answered, failure, legacyClient } from "./Scripts.js"

/** A call that the server receives and does not answer. */
const unanswered = (client: ClientSessionService, server: TestPeer.TestPeer, options?: CallOptions) =>
  Effect.gen(function*() {
    const calling = yield* Effect.fork(client.callTool("slow", undefined, options))
    const { id, params } = yield* server.expectRequest("tools/call")
    const { progressToken } = (params?._meta ?? {}) as { readonly progressToken?: Message.RequestId }
    let last = 0
    return {
      id,
      calling,
      isWaiting: () => calling.unsafePoll() === null,
      progress: Effect.suspend(() => server.notify("notifications/progress", { progressToken, progress: ++last })).pipe(
        // The client has received it when it answers the message after it.
        Effect.zipRight(server.expectSilence)
      )
    }
  })

/** Waits no longer than this, and tells the server to stop. */
const endsAfter = (millis: number, options?: CallOptions, session?: Options) =>
  Effect.gen(function*() {
    const made = yield* legacyClient({ client: session })
    const { calling, id, isWaiting } = yield* unanswered(made.client, made.server, options)
    yield* TestClock.adjust(millis - 1)
    assert.isTrue(isWaiting())
    yield* TestClock.adjust(1)
    const error = yield* failure(Fiber.join(calling))
    assert.deepInclude(error, { _tag: "RequestTimeout", method: "tools/call", millis })
    assert.strictEqual(error.message, `Request "tools/call" timed out after ${millis} ms`)
    const cancelled = yield* made.server.expectNotification("notifications/cancelled")
    assert.deepStrictEqual(cancelled, { requestId: id, reason: `timed out after ${millis} ms` })
    return { ...made, id }
  })

describe("A call", () => {
  it.scoped("waits for 60 seconds", () => endsAfter(60_000))

  it.scoped("waits as long as the client's option says", () => endsAfter(300_000, {}, { timeout: "5 minutes" }))

  it.scoped("waits as long as its own option says, whatever the client's says", () =>
    endsAfter(1000, { timeout: "1 second" }, { timeout: "5 minutes" }))

  it.scoped("waits longer than the client's option says, when its own says so", () =>
    endsAfter(600_000, { timeout: "10 minutes" }, { timeout: "1 second" }))

  it.scoped("waits no longer than its maximum", () => endsAfter(3000, { maxTotalTimeout: 3000 }))

  it.scoped("waits without limit when its timeout is infinite", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const { calling, id, isWaiting } = yield* unanswered(client, server, { timeout: Infinity })
      yield* TestClock.adjust("365 days")
      assert.isTrue(isWaiting())
      yield* server.send(Message.success(id, { content: [] }))
      assert.deepStrictEqual(yield* Fiber.join(calling), { content: [] })
    }))

  it.scoped("with a timeout of 0 fails at once and sends nothing", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      for (const options of [{ timeout: 0 }, { maxTotalTimeout: 0 }]) {
        assert.deepInclude(yield* failure(client.ping(options)), { _tag: "RequestTimeout", method: "ping", millis: 0 })
      }
      yield* server.expectSilence
    }))

  it.scoped("that was not answered in time does not affect the client; the late answer is a diagnostic", () =>
    Effect.gen(function*() {
      const { client, id, server } = yield* endsAfter(1000, { timeout: "1 second" })
      yield* server.send(Message.success(id, { content: [] }))
      yield* answered(server, client.ping(), "ping", {})
    }))

  describe("with `resetTimeoutOnProgress`", () => {
    const reset = { timeout: "10 seconds", resetTimeoutOnProgress: true } as const

    it.scoped("waits the whole timeout again after each notification", () =>
      Effect.gen(function*() {
        const { client, server } = yield* legacyClient()
        const { calling, id, isWaiting, progress } = yield* unanswered(client, server, reset)
        for (const _ of [1, 2, 3]) {
          yield* TestClock.adjust("9 seconds")
          yield* progress
        }
        yield* TestClock.adjust("9 seconds")
        assert.isTrue(isWaiting())
        yield* TestClock.adjust("1 second")
        assert.deepInclude(yield* failure(Fiber.join(calling)), { _tag: "RequestTimeout", millis: 37_000 })
        assert.strictEqual((yield* server.expectNotification("notifications/cancelled")).requestId, id)
      }))

    it.scoped("waits no longer than its maximum, whatever progress comes", () =>
      Effect.gen(function*() {
        const { client, server } = yield* legacyClient()
        const { calling, progress } = yield* unanswered(client, server, { ...reset, maxTotalTimeout: "25 seconds" })
        yield* TestClock.adjust("9 seconds")
        yield* progress
        yield* TestClock.adjust("9 seconds")
        yield* progress
        yield* TestClock.adjust("7 seconds")
        assert.deepInclude(yield* failure(Fiber.join(calling)), { _tag: "RequestTimeout", millis: 25_000 })
        yield* server.expectNotification("notifications/cancelled")
      }))

    it.scoped("may have `onProgress`, too", () =>
      Effect.gen(function*() {
        const { client, server } = yield* legacyClient()
        const seen: Array<number> = []
        const { calling, id, progress } = yield* unanswered(client, server, {
          ...reset,
          onProgress: ({ progress }) => Effect.sync(() => seen.push(progress))
        })
        yield* TestClock.adjust("9 seconds")
        yield* progress
        yield* TestClock.adjust("9 seconds")
        yield* server.send(Message.success(id, { content: [] }))
        yield* Fiber.join(calling)
        assert.deepStrictEqual(seen, [1])
      }))
  })

  it.scoped("without `resetTimeoutOnProgress` does not restart its timeout", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const { calling, progress } = yield* unanswered(client, server, {
        timeout: "10 seconds",
        onProgress: () => Effect.void
      })
      yield* TestClock.adjust("9 seconds")
      yield* progress
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* failure(Fiber.join(calling)), { _tag: "RequestTimeout", millis: 10_000 })
      yield* server.expectNotification("notifications/cancelled")
    }))

  it.scoped("with `cancelOnAbandon` false sends nothing when the time is over", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const { calling } = yield* unanswered(client, server, { timeout: "1 second", cancelOnAbandon: false })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* failure(Fiber.join(calling)))._tag, "RequestTimeout")
      yield* server.expectSilence
    }))
})

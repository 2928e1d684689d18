import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type { Progress } from "@effect-mcp/core/Progress"
import { Chunk, Deferred, Effect, Fiber, Stream } from "effect"
import { answered, legacyClient, waiting } from "./Scripts.js"

const tokenOf = ({ params }: Message.Request) =>
  (params?._meta as { readonly progressToken?: unknown } | undefined)?.progressToken

describe("Progress", () => {
  it.scoped("is requested with the id of the request as token, and only with `onProgress`", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const calls = [
        client.callTool("a", {}, { onProgress: () => Effect.void }),
        client.callTool("b"),
        client.callTool("c", {}, { resetTimeoutOnProgress: true }),
        client.listTools({ onProgress: () => Effect.void })
      ]
      yield* Effect.fork(Effect.all(calls, { concurrency: "unbounded" }))
      const requests = [
        yield* server.expectRequest("tools/call"),
        yield* server.expectRequest("tools/call"),
        yield* server.expectRequest("tools/call"),
        yield* server.expectRequest("tools/list")
      ]
      const ids = requests.map(({ id }) => id)
      assert.deepStrictEqual(requests.map(tokenOf), [ids[0], undefined, ids[2], ids[3]])
    }))

  it.scoped("reaches the callback in order, all of it, before the result", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const seen: Array<Progress | string> = []
      const calling = yield* Effect.fork(Effect.tap(
        client.callTool("slow", {}, {
          onProgress: (progress) =>
            // Slower than the server.
            Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 20), Effect.sync(() => seen.push(progress)))
        }),
        () => Effect.sync(() => seen.push("result"))
      ))
      const request = yield* server.expectRequest("tools/call")
      const progressToken = tokenOf(request)
      yield* server.notify("notifications/progress", { progressToken, progress: 0 })
      yield* server.notify("notifications/progress", { progressToken, progress: 0.5, total: 3 })
      yield* server.notify("notifications/progress", { progressToken, progress: 3, total: 3, message: "done" })
      yield* server.send(Message.success(request.id, { content: [] }))
      yield* Fiber.join(calling)
      assert.deepStrictEqual(seen, [
        { progress: 0 },
        { progress: 0.5, total: 3 },
        { progress: 3, total: 3, message: "done" },
        "result"
      ])
    }))

  it.scoped("reaches the callback of its own call", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const seen: Array<string> = []
      const call = (name: string) =>
        client.callTool(name, {}, { onProgress: ({ progress }) => Effect.sync(() => seen.push(`${name} ${progress}`)) })
      const calling = yield* Effect.fork(Effect.all([call("a"), call("b")], { concurrency: "unbounded" }))
      const a = yield* server.expectRequest("tools/call")
      const b = yield* server.expectRequest("tools/call")
      yield* server.notify("notifications/progress", { progressToken: tokenOf(b), progress: 1 })
      yield* server.notify("notifications/progress", { progressToken: tokenOf(a), progress: 2 })
      yield* server.notify("notifications/progress", { progressToken: String(tokenOf(b)), progress: 3 })
      yield* server.send(Message.success(a.id, { content: [] }))
      yield* server.send(Message.success(b.id, { content: [] }))
      yield* Fiber.join(calling)
      assert.deepStrictEqual(seen, ["b 1", "a 2", "b 3"])
    }))

  it.scoped("with an unknown token, or for a call that has ended, is an ordinary notification", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const received = yield* waiting(Stream.runCollect(Stream.take(client.notifications, 3)))
      let seen = 0
      const calling = yield* Effect.fork(client.callTool("quick", {}, { onProgress: () => Effect.sync(() => seen++) }))
      const request = yield* server.expectRequest("tools/call")
      yield* server.send(Message.success(request.id, { content: [] }))
      yield* Fiber.join(calling)
      for (const progressToken of [tokenOf(request), "never given out", true]) {
        yield* server.notify("notifications/progress", { progressToken, progress: 1 })
      }
      const tokens = Chunk.toArray(yield* Fiber.join(received)).map(({ params }) => params?.progressToken)
      assert.deepStrictEqual(tokens, [tokenOf(request), "never given out", true])
      assert.strictEqual(seen, 0)
    }))

  it.scoped("at which the callback fails is lost, and nothing else", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const seen: Array<number> = []
      const calling = yield* Effect.fork(client.callTool("slow", {}, {
        onProgress: ({ progress }) => {
          if (progress === 1) throw new Error("thrown")
          return progress === 2 ? Effect.die("dead") : Effect.sync(() => seen.push(progress))
        }
      }))
      const request = yield* server.expectRequest("tools/call")
      for (const progress of [1, 2, 3]) {
        yield* server.notify("notifications/progress", { progressToken: tokenOf(request), progress })
      }
      yield* server.send(Message.success(request.id, { content: [] }))
      assert.deepStrictEqual(yield* Fiber.join(calling), { content: [] })
      assert.deepStrictEqual(seen, [3])
    }))

  it.scoped("does not reach the callback after the call is interrupted", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const hearing = yield* Deferred.make<void>()
      let stopped = false
      const calling = yield* Effect.fork(client.callTool("slow", {}, {
        onProgress: () =>
          Deferred.succeed(hearing, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Effect.sync(() => stopped = true))
          )
      }))
      const request = yield* server.expectRequest("tools/call")
      yield* server.notify("notifications/progress", { progressToken: tokenOf(request), progress: 1 })
      yield* Deferred.await(hearing)
      yield* Fiber.interrupt(calling)
      assert.isTrue(stopped)
      yield* server.expectNotification("notifications/cancelled")
    }))
})

describe("Interrupting a call", () => {
  it.scoped("does not affect the client; a late answer is a diagnostic", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const diagnostics = yield* waiting(Stream.runHead(client.diagnostics))
      const calling = yield* Effect.fork(client.callTool("slow"))
      const { id } = yield* server.expectRequest("tools/call")
      yield* Fiber.interrupt(calling)
      yield* server.expectNotification("notifications/cancelled")
      yield* server.send(Message.success(id, { content: [] }))
      const diagnostic = yield* Effect.flatten(Fiber.join(diagnostics))
      assert.deepInclude(diagnostic, { _tag: "UnknownResponse", late: true })
      yield* answered(server, client.ping(), "ping", {})
    }))

  it.scoped("happens to the loser of a race, and at a timeout of Effect", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const over = yield* Deferred.make<string>()
      const racing = yield* Effect.fork(Effect.race(client.callTool("slow"), Deferred.await(over)))
      const { id } = yield* server.expectRequest("tools/call")
      yield* Deferred.succeed(over, "quick")
      assert.strictEqual(yield* Fiber.join(racing), "quick")
      assert.strictEqual((yield* server.expectNotification("notifications/cancelled")).requestId, id)
    }))
})

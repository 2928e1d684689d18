import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Deferred, Effect, Fiber, Queue, Schedule, TestClock } from "effect"
import * as Member from "../../src/group/Member.js"
import { failure } from "../Scripts.js"

const all = { tools: { listChanged: true }, resources: {}, prompts: {} }

const answer = (server: TestClient.TestClient["server"], answers: Readonly<Record<string, JsonObject>>) =>
  Effect.forEach(Object.keys(answers), () =>
    Effect.flatMap(server.next, (message) => {
      const { id, method } = message as Message.Request
      return server.send(Message.success(id, answers[method]!))
    }))

describe("What a server offers", () => {
  it.scoped("is asked for where it says that it has it, all pages of it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: { tools: {} } })
      const offer = yield* Effect.fork(Member.offer(client))
      const tool = (name: string) => ({ name, inputSchema: { type: "object" } })
      yield* answer(server, { "tools/list": { tools: [tool("a")], nextCursor: "b" } })
      yield* answer(server, { "tools/list": { tools: [tool("b")] } })
      const { prompts, resources, templates, tools } = yield* Fiber.join(offer)
      assert.deepStrictEqual(tools.map(({ name }) => name), ["a", "b"])
      assert.deepStrictEqual([prompts, resources, templates], [[], [], []])
    }))

  it.scoped("is nothing where it refuses to list it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: { prompts: {} } })
      const offer = yield* Effect.fork(Member.offer(client))
      const { id } = yield* server.expectRequest("prompts/list")
      yield* server.send(Message.failure(id, { code: -32601, message: "Method not found" }))
      assert.deepStrictEqual((yield* Fiber.join(offer)).prompts, [])
    }))

  it.scoped("is not known when the server goes meanwhile", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: all })
      const offer = yield* Effect.fork(failure(Member.offer(client)))
      for (const _ of [1, 2, 3, 4]) yield* server.next
      yield* server.hangUp
      assert.strictEqual((yield* Fiber.join(offer))._tag, "ConnectionClosed")
    }))
})

describe("A change", () => {
  it.scoped("is heard from when listening began, and many are one", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: all })
      const change = yield* Member.changed(client)
      for (const _ of [1, 2, 3]) yield* server.notify("notifications/tools/list_changed")
      // All of them have come when a call that was answered after them is over.
      yield* Effect.zip(client.ping(), answer(server, { ping: {} }), { concurrent: true })
      yield* change
      const again = yield* Effect.fork(change)
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      assert.isNull(again.unsafePoll())
      yield* server.notify("notifications/tools/list_changed")
      yield* Fiber.join(again)
    }))

  it.scoped("refreshes until the conversation ends, whatever comes of refreshing", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ capabilities: all })
      const refreshed = yield* Queue.unbounded<void>()
      const watching = yield* Effect.fork(Member.watch(
        client,
        yield* Member.changed(client),
        Effect.zipRight(refreshed.offer(), client.request("gone", {}, { timeout: 0 }))
      ))
      for (const _ of [1, 2]) {
        yield* server.notify("notifications/tools/list_changed")
        yield* refreshed.take
      }
      yield* server.hangUp
      yield* Fiber.join(watching)
    }))
})

describe("A session that lives", () => {
  it.scoped("is over when it ends the first time, without a schedule", () =>
    Effect.gen(function*() {
      const end = yield* Deferred.make<void>()
      const left = yield* Deferred.make<void>()
      const value = yield* Member.live(
        (entered: (n: number) => Effect.Effect<void>) => Effect.zipRight(entered(1), Deferred.await(end)),
        undefined,
        Deferred.succeed(left, undefined)
      )
      assert.strictEqual(value, 1)
      yield* Deferred.succeed(end, undefined)
      yield* Deferred.await(left)
    }))

  it.scoped("fails as its first time does, and is not tried again", () =>
    Effect.gen(function*() {
      let tries = 0
      const error = yield* failure(Member.live(
        () => Effect.suspend(() => Effect.fail(`no ${++tries}`)),
        Schedule.spaced("1 second"),
        Effect.dieMessage("nobody has left")
      ))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(error, "no 1")
      assert.strictEqual(tries, 1)
    }))

  it.scoped("is tried again as the schedule says, which begins anew with who got in", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const outcomes = yield* Queue.unbounded<"in" | "out">()
      yield* outcomes.offerAll(["in", "out", "out", "in", "out"])
      const start = yield* TestClock.currentTimeMillis
      yield* Member.live(
        (entered: (n: number) => Effect.Effect<void>) =>
          Effect.gen(function*() {
            const outcome = yield* outcomes.take
            log.push(`${outcome} ${((yield* TestClock.currentTimeMillis) - start) / 1000}`)
            if (outcome === "out") return yield* Effect.fail("out")
            yield* entered(1)
          }),
        Schedule.exponential("1 second"),
        Effect.void
      )
      for (let i = 0; i < 20; i++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(log, ["in 0", "out 1", "out 3", "in 7", "out 8"])
    }))

  it.scoped("leaves when the schedule is over", () =>
    Effect.gen(function*() {
      const left = yield* Deferred.make<void>()
      yield* Member.live(
        (entered: (n: number) => Effect.Effect<void>) => entered(1),
        Schedule.intersect(Schedule.spaced("1 second"), Schedule.stop),
        Deferred.succeed(left, undefined)
      )
      yield* TestClock.adjust("5 seconds")
      yield* Deferred.await(left)
    }))
})

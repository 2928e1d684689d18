import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as TestClient from "@effect-mcp/testing/TestClient"
import { Effect, Fiber, Logger, Queue, TestClock } from "effect"
import * as ServerLists from "../../../src/client/group/ServerLists.js"
import * as ListPace from "../../../src/client/session/ListPace.js"
import { failure, legacyClient } from "../Scripts.js"

const all = { tools: { listChanged: true }, resources: {}, prompts: {} }

const listing = (isComplete: boolean, pages = 1): ServerLists.Listing => ({ isComplete, pages })

const answer = (server: TestClient.TestClient["server"], answers: Readonly<Record<string, JsonObject>>) =>
  Effect.forEach(Object.keys(answers), () =>
    Effect.flatMap(server.next, (message) => {
      const { id, method } = message as Message.Request
      return server.send(Message.success(id, answers[method]!))
    }))

describe("The lists of a server", () => {
  it.scoped("are read where the server declares the capability, all pages of them", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: { tools: {} } })
      const reading = yield* Effect.fork(ServerLists.read(client))
      const tool = (name: string) => ({ name, inputSchema: { type: "object" } })
      yield* answer(server, { "tools/list": { tools: [tool("a")], nextCursor: "b" } })
      yield* answer(server, { "tools/list": { tools: [tool("b")] } })
      const { isComplete, lists: { prompts, resources, templates, tools } } = yield* Fiber.join(reading)
      assert.isTrue(isComplete)
      assert.deepStrictEqual(tools.map(({ name }) => name), ["a", "b"])
      assert.deepStrictEqual([prompts, resources, templates], [[], [], []])
    }))

  it.scoped("is empty where the server answers with an error", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: { prompts: {} } })
      const reading = yield* Effect.fork(ServerLists.read(client))
      const { id } = yield* server.expectRequest("prompts/list")
      yield* server.send(Message.failure(id, { code: -32601, message: "Method not found" }))
      const { isComplete, lists } = yield* Fiber.join(reading)
      assert.deepStrictEqual([isComplete, lists.prompts], [true, []])
    }))

  it.scoped("is as it was before, and not complete, where the server fails to list it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: { prompts: {} } })
      for (const before of [undefined, { tools: [], resources: [], templates: [], prompts: [{ name: "p" }] }]) {
        const reading = yield* Effect.fork(ServerLists.read(client, before))
        const { id } = yield* server.expectRequest("prompts/list")
        yield* server.send(Message.failure(id, { code: -32603, message: "busy" }))
        const { isComplete, lists } = yield* Fiber.join(reading)
        assert.deepStrictEqual([isComplete, lists.prompts], [false, before?.prompts ?? []])
      }
    }))

  it.scoped("are cut, with a warning, where the server lists too much or without end", () => {
    const logged: Array<unknown> = []
    return Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: { prompts: {} }, oracle: false })
      const prompt = { name: "p", description: "x".repeat(9 * 1024 * 1024) }
      for (
        const pages of [[{ prompts: [prompt], nextCursor: "1" }, { prompts: [prompt] }], [
          { prompts: [{ name: "p" }], nextCursor: "1" },
          { prompts: [], nextCursor: "1" }
        ]]
      ) {
        const reading = yield* Effect.fork(ServerLists.read(client))
        for (const page of pages) yield* answer(server, { "prompts/list": page })
        const { isComplete, lists } = yield* Fiber.join(reading)
        assert.deepStrictEqual([isComplete, lists.prompts.map(({ name }) => name)], [true, ["p"]])
      }
      assert.include(String(logged[0]), "the entries after the first 1 are left out")
      assert.include(String(logged[1]), "nextCursor is a cursor that the server has sent before")
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(message)))))
  })

  it.scoped("fail to be read when the server hangs up", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: all })
      const reading = yield* Effect.fork(failure(ServerLists.read(client)))
      for (const _ of [1, 2, 3, 4]) yield* server.next
      yield* server.hangUp
      assert.strictEqual((yield* Fiber.join(reading))._tag, "ConnectionClosed")
    }))
})

describe("A change of the lists", () => {
  it.scoped("counts from when listening began; several count as one", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: all })
      const change = yield* ServerLists.changes(client)
      for (const _ of [1, 2, 3]) yield* server.notify("notifications/tools/list_changed")
      // All of them have come when a call that was answered after them is over. Then the listener has its turns.
      yield* Effect.zip(client.ping(), answer(server, { ping: {} }), { concurrent: true })
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      yield* change
      const again = yield* Effect.fork(change)
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      assert.isNull(again.unsafePoll())
      yield* server.notify("notifications/tools/list_changed")
      yield* Fiber.join(again)
    }))

  it.scoped("refreshes until the session ends, again after a while when a refresh failed or was not complete", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: all })
      let refreshes = 0
      const outcomes = yield* Queue.unbounded<"complete" | "incomplete" | "fails">()
      const watching = yield* Effect.fork(ServerLists.follow(
        client,
        true,
        yield* ServerLists.changes(client),
        Effect.flatMap(Queue.take(outcomes), (outcome) => {
          refreshes++
          return outcome === "fails"
            ? client.request("gone", {}, { timeout: 0 }).pipe(Effect.as(listing(true)))
            : Effect.succeed(listing(outcome === "complete"))
        })
      ))
      const passes = (seconds: number) => TestClock.adjust(`${seconds} seconds`)
      yield* Queue.offerAll(outcomes, ["incomplete", "fails", "incomplete", "complete", "complete"])
      yield* server.notify("notifications/tools/list_changed")
      yield* Effect.repeat(Effect.yieldNow(), { until: () => refreshes === 1 })
      for (const [seconds, expected] of [[0.9, 1], [0.1, 2], [1.9, 2], [0.1, 3], [4, 4], [1000, 4]] as const) {
        yield* passes(seconds)
        assert.strictEqual(refreshes, expected)
      }
      yield* server.notify("notifications/tools/list_changed")
      yield* Effect.repeat(Effect.yieldNow(), { until: () => refreshes === 5 })
      yield* server.hangUp
      yield* Fiber.join(watching)
    }))

  it.scoped("refreshes at most once a second, and the last change is never lost", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: all })
      let refreshes = 0
      const refresh = Effect.sync(() => listing(++refreshes > 0))
      yield* Effect.fork(ServerLists.follow(client, true, yield* ServerLists.changes(client), refresh))
      const change = server.notify("notifications/tools/list_changed")
      yield* change
      yield* Effect.repeat(Effect.yieldNow(), { until: () => refreshes === 1 })
      for (let n = 0; n < 100; n++) yield* Effect.zipRight(change, TestClock.adjust("9 millis"))
      assert.strictEqual(refreshes, 1)
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(refreshes, 2)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(refreshes, 2)
    }))

  for (
    const [name, pages, isOwn, expected] of [
      ["a second later where this client has called nothing", 1, false, 1000],
      ["soon after a call of this client", 1, true, 50],
      ["not sooner after a call of this client where the lists are long", 3, true, 1000],
      ["later where the lists are longer", 16, true, 2000]
    ] as const
  ) {
    it.scoped(`is read ${name}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* legacyClient({ capabilities: all })
        const refreshes = yield* Queue.unbounded<void>()
        const refresh = Effect.as(Queue.offer(refreshes, undefined), listing(true, pages))
        const calls = new ListPace.OwnCalls()
        yield* Effect.fork(ServerLists.follow(client, true, yield* ServerLists.changes(client), refresh, calls))
        const change = server.notify("notifications/tools/list_changed")
        yield* change
        yield* Queue.take(refreshes)
        if (isOwn) yield* calls.around(Effect.void)
        for (let n = 0; n < 10; n++) yield* change
        yield* TestClock.adjust(expected - 1)
        assert.strictEqual(yield* Queue.size(refreshes), 0)
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* Queue.size(refreshes), 1)
      }))
  }

  it.scoped("is not needed for a refresh when the lists were not complete at first; the pause grows to a minute", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: all })
      let refreshes = 0
      const watching = yield* Effect.fork(ServerLists.follow(
        client,
        false,
        Effect.never,
        Effect.sync(() => {
          refreshes++
          return listing(false)
        })
      ))
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(refreshes, 7 + 8)
      yield* server.hangUp
      yield* Fiber.join(watching)
    }))
})

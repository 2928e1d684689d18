import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { LegacyVersion } from "@effect-mcp/core/protocol/Version"
import * as TestClient from "@effect-mcp/testing/TestClient"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import { legacyClient } from "../Scripts.js"
import { client, Form, Page, prompt, refused, request, sampled, Sampling, start, statusOf } from "./AskedTasks.js"

/** The capabilities that a client with these features declares, when it may speak no later revision than this. */
const declaredTo = (version: LegacyVersion, features: Layer.Layer<never, never, ClientFeatures.ClientFeatures>) =>
  Effect.scoped(Effect.gen(function*() {
    const [server, connector] = yield* TestPeer.server()
    const connecting = yield* Effect.fork(Effect.exit(Client.make(connector, { versions: [version], features })))
    const { params } = yield* server.expectRequest("initialize")
    yield* server.hangUp
    yield* Fiber.join(connecting)
    return params?.capabilities as JsonObject
  }))

describe("Tasks of a client", () => {
  it.scoped("MUST be declared with exactly the questions that it answers", () =>
    Effect.gen(function*() {
      const sampling = { createMessage: {} }
      const elicitation = { create: {} }
      const Sample = Sampling(Effect.succeed(sampled))
      for (
        const [version, features, requests] of [
          ["2025-11-25", Layer.mergeAll(Sample, Form, ClientFeatures.tasks()), { sampling, elicitation }],
          ["2025-11-25", Layer.mergeAll(Sample, ClientFeatures.tasks()), { sampling }],
          ["2025-11-25", Layer.mergeAll(Page, ClientFeatures.tasks()), { elicitation }],
          ["2025-11-25", ClientFeatures.tasks(), undefined],
          ["2025-11-25", Layer.mergeAll(Sample, Form), undefined],
          ["2025-06-18", Layer.mergeAll(Sample, Form, ClientFeatures.tasks()), undefined]
        ] as const
      ) {
        const declared = yield* declaredTo(version, features)
        assert.deepStrictEqual<unknown>(
          declared.tasks,
          requests === undefined ? undefined : { list: {}, cancel: {}, requests }
        )
      }
    }))

  it.scoped("are not declared from 2026-07-28 on", () =>
    Effect.gen(function*() {
      const features = Layer.mergeAll(Sampling(Effect.succeed(sampled)), ClientFeatures.tasks())
      const { client: session, server } = yield* TestClient.make({ client: { features } })
      yield* Effect.fork(session.listTools())
      const { params } = yield* server.expectRequest("tools/list")
      const meta = params?._meta as JsonObject
      const capabilities = meta["io.modelcontextprotocol/clientCapabilities"] as JsonObject
      assert.deepStrictEqual(Object.keys(capabilities), ["sampling"])
    }))

  it.scoped("that are not declared MUST NOT change the answer of a question", () =>
    Effect.gen(function*() {
      const features = Layer.mergeAll(
        Sampling(Effect.succeed(sampled)),
        ClientFeatures.roots(Effect.succeed([]))
      )
      const withTasks = Layer.merge(features, ClientFeatures.tasks())
      for (
        const [version, features, method] of [
          ["2025-11-25", Layer.mergeAll(Sampling(Effect.succeed(sampled)), Form), "sampling/createMessage"],
          ["2025-06-18", withTasks, "sampling/createMessage"],
          ["2025-11-25", withTasks, "roots/list"]
        ] as const
      ) {
        const { server } = yield* TestClient.make({ version, client: { features } })
        const params = method === "roots/list" ? {} : prompt
        const answer = yield* request(server, method, { ...params, task: { ttl: 1000 } })
        assert.deepStrictEqual<unknown>(answer, method === "roots/list" ? { roots: [] } : sampled)
      }
    }))

  it.scoped("have no methods where they are not declared", () =>
    Effect.gen(function*() {
      const { server } = yield* legacyClient({ client: { features: Form } })
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"]) {
        assert.strictEqual((yield* refused(server, method, { taskId: "none" })).code, -32601)
      }
    }))

  it.scoped("are limited in the number that runs: one more is refused until one has ended", () =>
    Effect.gen(function*() {
      const { server } = yield* client(Effect.never, { maxRunning: 2 })
      const { taskId } = yield* start(server)
      yield* start(server)
      const error = yield* refused(server, "sampling/createMessage", { ...prompt, task: {} })
      assert.strictEqual(error.code, -32603)
      assert.include(error.message, "2 tasks are running")
      yield* server.request("tasks/cancel", { taskId })
      assert.strictEqual(yield* statusOf(server), "cancelled")
      yield* server.next
      yield* start(server)
    }))

  it.scoped("are limited in the number that is stored: those whose result was fetched make room, others do not", () =>
    Effect.gen(function*() {
      const { server } = yield* client(Effect.succeed(sampled), { maxTasks: 2 })
      const one = yield* start(server)
      yield* statusOf(server)
      const two = yield* start(server)
      yield* statusOf(server)
      const error = yield* refused(server, "sampling/createMessage", { ...prompt, task: {} })
      assert.include(error.message, "2 tasks are stored")
      yield* request(server, "tasks/result", { taskId: two.taskId })
      const three = yield* start(server)
      yield* statusOf(server)
      const { tasks } = yield* request(server, "tasks/list", {})
      assert.deepStrictEqual(
        (tasks as ReadonlyArray<JsonObject>).map(({ taskId }) => taskId),
        [one.taskId, three.taskId]
      )
    }))

  it.scoped("are limited in the size of their results: one that does not fit fails its task", () =>
    Effect.gen(function*() {
      const { server } = yield* client(Effect.succeed(sampled), { maxSize: 100 })
      const one = yield* start(server)
      assert.strictEqual(yield* statusOf(server), "completed")
      const two = yield* start(server)
      assert.strictEqual(yield* statusOf(server), "failed")
      assert.include((yield* refused(server, "tasks/result", { taskId: two.taskId })).message, "has no room")
      yield* request(server, "tasks/result", { taskId: one.taskId })
      yield* start(server)
      assert.strictEqual(yield* statusOf(server), "completed")
    }))

  it.scoped("are read and cancelled while no other request is served, and their results take no place from others", () =>
    Effect.gen(function*() {
      const { server } = yield* legacyClient({
        client: {
          features: Layer.mergeAll(
            Sampling(Effect.never),
            ClientFeatures.roots(Effect.succeed([])),
            ClientFeatures.tasks({ maxRunning: 2 })
          ),
          limits: { maxInFlight: 1, maxWaiting: 0 }
        }
      })
      const { taskId } = yield* start(server)
      const results = [
        yield* server.request("tasks/result", { taskId }),
        yield* server.request("tasks/result", { taskId })
      ]
      const { message } = yield* refused(server, "tasks/result", { taskId })
      assert.strictEqual(message, "Too many of these requests are open; end one first")
      assert.deepStrictEqual(yield* request(server, "roots/list", {}), { roots: [] })
      const waiting = yield* server.request("sampling/createMessage", prompt)
      assert.strictEqual((yield* refused(server, "roots/list", {})).code, -32000)
      assert.strictEqual((yield* request(server, "tasks/get", { taskId })).status, "working")
      const id = yield* server.request("tasks/cancel", { taskId })
      assert.strictEqual(yield* statusOf(server), "cancelled")
      const answers = [yield* server.next, yield* server.next, yield* server.next]
      assert.sameMembers(answers.map((answer) => "id" in answer ? answer.id : undefined), [id, ...results])
      yield* server.notify("notifications/cancelled", { requestId: waiting })
      yield* server.expectSilence
    }))

  it.scoped("are served outside of the client's calls, also when it refuses questions there", () =>
    Effect.gen(function*() {
      const features = Layer.mergeAll(Sampling(Effect.succeed(sampled)), ClientFeatures.tasks())
      const { client: session, server } = yield* legacyClient({ client: { features, refuseUnassociated: true } })
      assert.strictEqual((yield* refused(server, "sampling/createMessage", { ...prompt, task: {} })).code, -32602)
      const calling = yield* Effect.fork(session.callTool("slow"))
      const { id } = yield* server.expectRequest("tools/call")
      const { taskId } = yield* start(server)
      yield* statusOf(server)
      yield* server.send({ jsonrpc: "2.0", id, result: { content: [] } })
      yield* Fiber.join(calling)
      assert.strictEqual((yield* request(server, "tasks/result", { taskId })).model, "m")
    }))

  it.scoped("are stored for as long as the server asks for, and no longer than the client lets it; MUST say how long", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const { server } = yield* client(
        Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined)),
        { ttl: "2 seconds", maxTtl: "3 seconds", pollInterval: "5 seconds" }
      )
      for (
        const [asked, given] of [[{ ttl: 1000 }, 1000], [{}, 2000], [{ ttl: 4000 }, 3000], [{ ttl: -1 }, 1]] as const
      ) {
        const { pollInterval, taskId, ttl } = yield* start(server, asked)
        assert.deepStrictEqual([ttl, pollInterval], [given, 5000])
        const result = yield* server.request("tasks/result", { taskId })
        yield* TestClock.adjust(given - 1)
        yield* server.expectSilence
        yield* TestClock.adjust(1)
        // The handler still ran.
        assert.strictEqual((yield* server.expectError(result)).code, -32602)
        assert.strictEqual((yield* refused(server, "tasks/get", { taskId })).code, -32602)
        yield* Deferred.await(interrupted)
      }
    }))

  it.effect("end with the session, whichever side ends it", () =>
    Effect.gen(function*() {
      for (const side of ["client", "server"]) {
        const interrupted = yield* Deferred.make<void>()
        const scope = yield* Scope.make()
        const { server } = yield* Scope.extend(
          client(Effect.onInterrupt(Effect.never, () => Effect.delay(Deferred.succeed(interrupted, undefined), 0))),
          scope
        )
        yield* start(server)
        const closing = yield* Effect.fork(side === "client" ? Scope.close(scope, Exit.void) : server.hangUp)
        yield* TestClock.adjust(0)
        yield* Deferred.await(interrupted)
        yield* Fiber.join(closing)
        yield* Scope.close(scope, Exit.void)
      }
    }))

  it.effect("do not keep the client from closing when their handlers cannot be interrupted", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { server } = yield* Scope.extend(client(Effect.uninterruptible(Effect.never)), scope)
      yield* start(server)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(closing)
    }))

  it.effect("are one feature", () =>
    Effect.gen(function*() {
      const features = Layer.mergeAll(ClientFeatures.tasks(), ClientFeatures.tasks({ maxRunning: 1 }))
      const building = Layer.build(
        Layer.provide(features, Layer.effect(ClientFeatures.ClientFeatures, ClientFeatures.make))
      )
      const exit = yield* Effect.exit(Effect.scoped(building))
      assert.include(
        Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
        "Two features of this client are for \"tasks\""
      )
    }))
})

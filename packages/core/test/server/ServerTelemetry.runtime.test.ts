import { assert, describe, it } from "@effect/vitest"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Resource from "@effect-mcp/core/Resource"
import * as ServerTelemetry from "@effect-mcp/core/ServerTelemetry"
import { Effect, Exit, Fiber, Layer, Metric, Scope, TestClock } from "effect"
import { answered, call, makeClient, proper, withEndpoint } from "./http/TestExchange.js"
import { after, log, resuming } from "./legacy/Resuming.js"
import * as Posting from "./modern/Posting.js"
import * as Cluster from "./nodes/Cluster.js"
import { act, connect, GreetLive, serve, unchecked, until } from "./Serving.js"

const { runtime } = ServerTelemetry

/** How much a counter grows while an effect runs. */
const growth = <A, E, R>(counter: Metric.Metric.Counter<number>, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = (yield* Metric.value(counter)).count
    yield* effect
    return (yield* Metric.value(counter)).count - before
  })

const rejected = (reason: string) => Metric.tagged(runtime.rejected, "reason", reason)

describe("The metrics of a server at work", () => {
  it.scoped("count what is open when they are read, in both eras and on a pipe", () => {
    const Readme = McpServer.resource(Resource.make("readme", { uri: "file:///readme" }), Effect.succeed("text"))
    const open = Effect.all([runtime.sessions, runtime.requests, runtime.streams, runtime.subscriptions].map(
      (gauge) => Effect.map(Metric.value(gauge), ({ value }) => value)
    ))
    return Effect.gen(function*() {
      const before = yield* open
      const gate = yield* Effect.makeLatch()
      yield* withEndpoint(serve(Layer.merge(act(gate.await), Readme)), (http) =>
        Effect.gen(function*() {
          const now = Effect.map(open, (all) => all.map((value, at) => value - before[at]!))
          /** Waits for it, which takes only turns of the scheduler. */
          const becomes = (expected: ReadonlyArray<number>) =>
            Effect.repeat(Effect.zipRight(Effect.yieldNow(), now), { until: (all) => all.join() === expected.join() })
          assert.deepStrictEqual(yield* now, [0, 0, 0, 0])
          const client = yield* http.open()
          assert.deepStrictEqual(yield* now, [1, 0, 0, 0])
          const stream = client.get()
          yield* client.ask(Message.request(1, "resources/subscribe", { uri: "file:///readme" }))
          assert.deepStrictEqual(yield* now, [1, 0, 1, 1])
          const running = client.post(call(2, "act"))
          const modern = Posting.post(http, Posting.request("tools/call", { name: "act" }))
          const peer = yield* connect()
          yield* peer.request("tools/call", { name: "act" })
          yield* becomes([1, 3, 1, 1])
          const listening = Posting.post(
            http,
            Posting.request("subscriptions/listen", { notifications: { toolsListChanged: true } })
          )
          yield* becomes([1, 4, 2, 2])
          yield* gate.open
          yield* answered(running)
          yield* answered(modern)
          yield* peer.next
          listening.hangUp()
          stream.hangUp()
          yield* answered(client.delete())
          yield* becomes([0, 0, 0, 0])
        }))
      assert.deepStrictEqual(yield* open, before)
    })
  })

  it.scoped("are in the snapshot of all metrics, with descriptions", () =>
    Effect.gen(function*() {
      const client = yield* Effect.flatMap(makeClient(), (http) => http.open())
      const pairs = yield* Metric.snapshot
      const found = pairs.filter(({ metricKey }) => metricKey.name === "mcp.runtime.sessions.active")
      assert.lengthOf(found, 1)
      assert.isAtLeast((found[0]!.metricState as unknown as { readonly value: number }).value, 1)
      assert.strictEqual(found[0]!.metricKey.description._tag, "Some")
      client.delete()
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("count requests that are passed on, sessions that are taken over, and leases that are lost", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const greet = two.of(client).ask(call(1, "greet", { name: "you" }))
      assert.strictEqual(yield* growth(runtime.forwarded, greet), 1)
      assert.strictEqual(yield* growth(runtime.takeovers, greet), 0)
      const lost = yield* growth(runtime.leaseLost, Effect.zipRight(one.closeInbox, TestClock.adjust("1 millis")))
      assert.strictEqual(lost, 1)
      yield* one.stop
      assert.strictEqual(yield* growth(runtime.takeovers, greet), 1)
      assert.strictEqual(yield* growth(runtime.forwarded, greet), 0)
    }))

  it.effect("count the events that clients get when they read on", () =>
    resuming(act(Effect.forEach(["a", "b", "c"], log, { discard: true })), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const first = yield* answered(client.post(call(1, "act")))
        const [, event] = first.events
        const resume = Effect.suspend(() => answered(client.get(after(event!.id!))))
        // Two notifications and the response.
        assert.strictEqual(yield* growth(runtime.replayed, resume), 3)
      }).pipe(Effect.orDie)))

  it.effect("count the readers that were cut because they are slow", () =>
    withEndpoint(
      serve(act(Effect.zipRight(
        Effect.yieldNow(),
        Effect.forEach(Array.from({ length: 20 }), () => log("x"), { discard: true })
      ))),
      (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const slow = client.post(call(1, "act"))
          slow.stalled = true
          yield* until(() => slow.text !== "")
          assert.strictEqual(yield* growth(runtime.slowReaders, TestClock.adjust("31 seconds")), 1)
          assert.isTrue(slow.cut)
        }),
      { limits: { capacity: 4 } }
    ))

  it.scoped("count what was refused by its reason, and peers cannot add a reason", () => {
    const busy = new HttpRefusal.HttpRefusal({ status: 429, error: { code: -32000, message: "busy" } })
    const odd = new HttpRefusal.HttpRefusal({ status: 418, error: { code: -32000, message: "teapot" } })
    const refusing = (failure: HttpRefusal.HttpRefusal) =>
      FeatureMiddleware.around(FeatureMiddleware.make(() => Effect.fail(failure)))
    const features = Layer.merge(act(Effect.void).pipe(refusing(busy)), act(Effect.void, "odd").pipe(refusing(odd)))
    return withEndpoint(serve(features), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const peer = yield* unchecked()
        const modern = (name: string) => Posting.ask(http, Posting.request("tools/call", { name }))
        const cases: ReadonlyArray<readonly [string, Effect.Effect<unknown, any>]> = [
          ["forbidden", Effect.sync(() => http.send("POST", { ...proper, host: "evil.example" }, "{}"))],
          ["invalid", Effect.sync(() => client.post("{"))],
          ["not_found", Effect.sync(() => http.post(call(1, "act"), { "mcp-session-id": "unknown" }))],
          ["unsupported_media_type", Effect.sync(() => http.post("{}", { "content-type": "text/plain" }))],
          ["too_many", client.ask(call(1, "act"))],
          ["too_many", modern("act")],
          ["_OTHER", modern("odd")],
          ["malformed", Effect.zipRight(peer.send({ jsonrpc: "1.0", id: 1 } as never), peer.next)]
        ]
        for (const [reason, sent] of cases) {
          assert.strictEqual(yield* growth(rejected(reason), sent), 1, reason)
        }
        const metrics = Effect.map(Metric.snapshot, ({ length }) => length)
        const before = yield* metrics
        for (let i = 0; i < 200; i++) {
          http.post(`{"jsonrpc":"2.0","id":${i},"method":"m${i}"}`, { host: `evil-${i}` })
          http.post(`{"x${i}":1}`, { "mcp-session-id": `unknown-${i}` })
        }
        assert.strictEqual(yield* metrics, before)
      }))
  })

  it.scoped("record how long an endpoint takes to end", () =>
    Effect.gen(function*() {
      const value = Effect.map(Metric.value(runtime.shutdown), ({ count, sum }) => [count, sum] as const)
      const [count, sum] = yield* value
      const scope = yield* Scope.make()
      yield* Scope.extend(makeClient({ health: { grace: "5 seconds" } }), scope)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      const [more, longer] = yield* value
      assert.strictEqual(more - count, 1)
      assert.closeTo(longer - sum, 5, 1e-6)
    }).pipe(Effect.provide(serve(GreetLive))))
})

import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Message from "@effect-mcp/core/Message"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { runtime } from "@effect-mcp/core/ServerTelemetry"
import { Effect, Fiber, Layer, Metric, Option, TestClock } from "effect"
import { answered, assertRefused, call, type TestExchange } from "../http/TestExchange.js"
import * as Posting from "../modern/Posting.js"
import { act, GreetLive, identified, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"
import { later } from "./Cluster.js"

const drainTimeout = "5 seconds"
const greet = (id: number) => call(id, "greet", { name: "you" })
const done = (id: number) => ({ jsonrpc: "2.0", id, result: { content: [] } })

/** Runs an effect until it waits. */
const beginning = <A>(effect: Effect.Effect<A>) => Effect.tap(Effect.fork(effect), () => Effect.yieldNow())

/** A server with a tool that waits until the gate opens. */
const waiting = Effect.gen(function*() {
  const gate = yield* Effect.makeLatch()
  let runs = 0
  const cluster = yield* Cluster.make(
    serve(Layer.merge(GreetLive, act(Effect.zipRight(Effect.sync(() => runs++), gate.await)))),
    { drainTimeout, isResumable: false }
  )
  return { ...cluster, gate, running: until(() => runs === 1) }
})

const isOk = ({ json, status }: TestExchange) => status === 200 && json.result !== undefined

describe("a node that shuts down", () => {
  it.scoped("finishes the request that runs; meanwhile one of the same session waits at another node, and goes on there", () =>
    Effect.gen(function*() {
      const { gate, node, running } = yield* waiting
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const first = one.of(client).post(call(1, "act"))
      yield* running
      const leaving = yield* beginning(one.leave)
      const direct = one.of(client).post(greet(2))
      assertRefused(yield* answered(direct), 503, -32000, /closing/)
      const before = yield* Metric.value(runtime.forwarded)
      const second = two.of(client).post(greet(3))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Metric.value(runtime.forwarded)).count - before.count, 1)
      assert.deepStrictEqual([first.ended, second.ended], [false, false])
      yield* gate.open
      yield* later(Effect.all([answered(first), answered(second), Fiber.join(leaving)]))
      assert.deepStrictEqual(first.json, done(1))
      assert.isTrue(isOk(second))
      assert.deepStrictEqual([one.endpoint.sessions(), two.endpoint.sessions()], [0, 1])
    }))

  it.scoped("gives an idle session away at once, while a request of another one runs", () =>
    Effect.gen(function*() {
      const { gate, node, running } = yield* waiting
      const [one, two] = [yield* node, yield* node]
      const [busy, idle] = [yield* one.http.open(), yield* one.http.open()]
      one.of(busy).post(call(1, "act"))
      yield* running
      const leaving = yield* beginning(one.leave)
      assert.isTrue(isOk(yield* later(answered(two.of(idle).post(greet(1))))))
      assert.deepStrictEqual([one.endpoint.sessions(), two.endpoint.sessions()], [1, 1])
      yield* gate.open
      yield* later(Fiber.join(leaving))
    }))

  it.scoped("refuses a request with 503 whose session it gives away while the client is authenticated", () =>
    Effect.gen(function*() {
      const [gate, authentication] = [yield* Effect.makeLatch(), yield* Effect.makeLatch(true)]
      let runs = 0
      const { node } = yield* Cluster.make(
        serve(
          Layer.merge(GreetLive, act(Effect.zipRight(Effect.sync(() => runs++), gate.await))),
          identified(() => Effect.as(authentication.await, "ada"))
        ),
        { drainTimeout, isResumable: false }
      )
      const one = yield* node
      const [busy, idle] = [yield* one.http.open(), yield* one.http.open()]
      one.of(busy).post(call(1, "act"))
      yield* until(() => runs === 1)
      yield* authentication.close
      const [post, get] = [one.of(idle).post(greet(2)), one.of(idle).get()]
      const leaving = yield* beginning(one.leave)
      yield* until(() => one.endpoint.sessions() === 1)
      yield* authentication.open
      for (const exchange of [post, get]) assertRefused(yield* answered(exchange), 503, -32000, /closing/)
      yield* gate.open
      yield* later(Fiber.join(leaving))
    }))

  it.scoped("gets the answers and cancellations of the requests that run there, wherever they arrive", () =>
    Effect.gen(function*() {
      const asks = Effect.flatMap(ServerSession, ({ ask }) => ask({ sure: Ask.confirm("Sure?") }))
      const { node } = yield* Cluster.make(
        serve(Layer.merge(act(asks as Effect.Effect<unknown, never, ServerSession>), act(Effect.never, "never"))),
        { drainTimeout }
      )
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open("2025-11-25", { elicitation: {} })
      const exchanges = ["here", "there"].map((at) => one.of(client).post(call(at, "act")))
      one.of(client).post(call("never", "never"))
      yield* until(() => exchanges.every(({ messages }) => messages.length === 1))
      const leaving = yield* beginning(one.leave)
      for (const [n, at] of [one, two].entries()) {
        const { id } = exchanges[n]!.messages[0]
        const answer = { jsonrpc: "2.0", id, result: { action: "accept", content: { confirmed: true } } }
        assert.strictEqual((yield* answered(at.of(client).post(answer))).status, 202)
      }
      two.of(client).post(Message.notification("notifications/cancelled", { requestId: "never" }))
      yield* later(Fiber.join(leaving))
      for (const { messages } of exchanges) assert.isDefined(messages.at(-1).result)
    }))

  it.scoped("ends the standalone streams with `retry`, those of its sessions and those that have arrived there", () =>
    Effect.gen(function*() {
      const { gate, node, running } = yield* waiting
      const [one, two] = [yield* node, yield* node]
      const [busy, idle, elsewhere] = [yield* one.http.open(), yield* one.http.open(), yield* two.http.open()]
      const streams = [one.of(busy).get(), two.of(idle).get(), one.of(elsewhere).get()]
      yield* until(() => streams.every(({ status }) => status === 200))
      one.of(busy).post(call(1, "act"))
      yield* running
      const leaving = yield* beginning(one.leave)
      for (const stream of streams) {
        yield* answered(stream)
        assert.deepStrictEqual([stream.events.at(-1)?.retry, stream.cut], [1000, false])
      }
      assert.strictEqual((yield* answered(one.of(elsewhere).get())).status, 503)
      for (const client of [idle, elsewhere]) {
        const stream = two.of(client).get()
        yield* later(until(() => stream.status === 200))
      }
      yield* gate.open
      yield* later(Fiber.join(leaving))
    }))

  it.scoped("refuses the standalone stream of another node's session that it has not found yet", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), { drainTimeout })
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      two.faults.finding = Effect.unsafeMakeLatch(false)
      const stream = two.of(client).get()
      const leaving = yield* beginning(two.leave)
      yield* two.faults.finding.open
      assertRefused(yield* later(answered(stream)), 503, -32000, /closing/)
      yield* later(Fiber.join(leaving))
    }))

  it.scoped("takes no session over that another node has left, and which a third one serves then", () =>
    Effect.gen(function*() {
      const { directory, gate, node, running } = yield* waiting
      const [one, two, three] = [yield* node, yield* node, yield* node]
      const [client, busy] = [yield* one.http.open(), yield* two.http.open()]
      two.of(busy).post(call(1, "act"))
      yield* running
      two.faults.finding = Effect.unsafeMakeLatch(false)
      const refused = two.of(client).post(greet(2))
      yield* later(one.leave)
      const { find } = yield* directory.join("watcher")
      const left = yield* find(client.session["mcp-session-id"]!)
      assert.isFalse(Option.getOrThrow(left).isServed)
      const leaving = yield* beginning(two.leave)
      yield* two.faults.finding.open
      assertRefused(yield* answered(refused), 503, -32000, /closing/)
      assert.deepStrictEqual(yield* find(client.session["mcp-session-id"]!), left)
      assert.isTrue(isOk(yield* later(answered(three.of(client).post(greet(3))))))
      assert.deepStrictEqual([two.endpoint.sessions(), three.endpoint.sessions()], [1, 1])
      yield* gate.open
      yield* later(Fiber.join(leaving))
    }))

  it.scoped("serves no request of a session that it has taken over before without knowing", () =>
    Effect.gen(function*() {
      const { gate, node, running } = yield* waiting
      const [one, two] = [yield* node, yield* node]
      const [client, busy] = [yield* one.http.open(), yield* two.http.open()]
      two.of(busy).post(call(1, "act"))
      yield* running
      yield* later(one.leave)
      Object.assign(two.faults, { hidesClaims: true, claiming: Effect.unsafeMakeLatch(false) })
      const first = two.of(client).post(greet(2))
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      two.faults.finding = Effect.unsafeMakeLatch(false)
      yield* two.faults.claiming.open
      assert.strictEqual((yield* answered(first)).status, 503)
      const second = two.of(client).post(greet(3))
      const leaving = yield* beginning(two.leave)
      yield* two.faults.finding.open
      assertRefused(yield* answered(second), 503, -32000, /closing/)
      yield* gate.open
      yield* later(Fiber.join(leaving))
    }))

  it.scoped("leaves the session of a request that waits for it, and whose client has gone, to the next request", () =>
    Effect.gen(function*() {
      const { gate, node, running } = yield* waiting
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const first = one.of(client).post(call(1, "act"))
      yield* running
      const leaving = yield* beginning(one.leave)
      const second = two.of(client).post(greet(2))
      yield* TestClock.adjust("1 second")
      second.hangUp()
      yield* TestClock.adjust("1 second")
      yield* gate.open
      yield* later(Effect.all([answered(first), Fiber.join(leaving)]))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(two.endpoint.sessions(), 0)
      assert.isTrue(isOk(yield* later(answered(two.of(client).post(greet(3))))))
    }))

  it.scoped("interrupts a request that runs longer than `drainTimeout`", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(act(Effect.never)), { drainTimeout })
      const one = yield* node
      const client = yield* one.http.open("2025-06-18")
      const exchange = one.of(client).post(call(1, "act"))
      const leaving = yield* beginning(one.leave)
      yield* TestClock.adjust("4 seconds")
      assert.isFalse(exchange.ended)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(leaving)
      assert.strictEqual(exchange.json.error.code, -32000)
    }))

  it.scoped("finishes requests from 2026-07-28 on, refuses new ones with 503, and ends subscriptions with their result", () =>
    Effect.gen(function*() {
      const { gate, node, running } = yield* waiting
      const one = yield* node
      const first = Posting.post(one.http, Posting.request("tools/call", { name: "act" }))
      const notifications = { toolsListChanged: true }
      const listen = Posting.post(one.http, Posting.request("subscriptions/listen", { notifications }, {}, 2))
      yield* running
      yield* until(() => listen.messages.length === 1)
      const leaving = yield* beginning(one.leave)
      assert.isDefined((yield* answered(listen)).messages.at(-1).result)
      assert.strictEqual((yield* Posting.ask(one.http, Posting.greet)).status, 503)
      assert.isFalse(first.ended)
      yield* gate.open
      yield* later(Fiber.join(leaving))
      assert.isDefined((yield* answered(first)).json.result)
    }))
})

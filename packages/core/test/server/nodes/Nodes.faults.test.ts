import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import type { Membership } from "@effect-mcp/core/SessionDirectory"
import { Context, Effect, Layer, TestClock } from "effect"
import { answered, assertRefused, call, type EndpointClient, proper, TestExchange } from "../http/TestExchange.js"
import { after, log, received } from "../legacy/Resuming.js"
import { act, GreetLive, identified, Sender, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"

const hello = { content: [{ type: "text", text: "Hello, you!" }] }

/** The response of an exchange, whether it is JSON or the end of a stream. */
const resultOf = (exchange: TestExchange) => (exchange.isStream ? exchange.messages.at(-1) : exchange.json).result

const failedAt = {
  code: -32000,
  message: "The node that served this request has ended; whether the request has run is not known"
}

class Counter extends Context.Tag("test/Counter")<Counter, { count: number }>() {}

describe("a node that others do not reach, or that does not reach them", () => {
  it.scoped("leaves the answer of a request to the next node, which has stored none", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const { node } = yield* Cluster.make(serve(Layer.merge(
        act(Effect.zipRight(Effect.zipRight(log("a"), gate.await), log("late"))),
        act(log("x"), "other")
      )))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = one.of(client).post(call(1, "act"))
      yield* until(() => exchange.messages.length === 1)
      exchange.hangUp()
      yield* one.expire
      yield* answered(two.of(client).post(call(2, "other")))
      yield* gate.open
      yield* until(() => one.endpoint.sessions() === 0)
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      const resumed = yield* answered(two.of(client).get(after(exchange.lastId)))
      assert.deepStrictEqual(resumed.messages.at(-1), { jsonrpc: "2.0", id: 1, error: failedAt })
    }))

  it.scoped("ends the calls of a node that has ended, once the event store answers again", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(act(Effect.zipRight(log("a"), Effect.never))))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchange = one.of(client).post(call(1, "act"))
      yield* until(() => exchange.messages.length === 1)
      yield* one.stop
      two.faults.isStoreAway = true
      assertRefused(yield* answered(two.of(client).get(after(exchange.lastId))), 503, -32000, /try again/)
      two.faults.isStoreAway = false
      const resumed = yield* answered(two.of(client).get(after(exchange.lastId)))
      assert.deepStrictEqual(resumed.messages, [{ jsonrpc: "2.0", id: 1, error: failedAt }])
    }))

  for (
    const [kind, send] of [
      ["request", (client) => client.post(call(3, "act"))],
      ["GET", (client) => client.get()]
    ] satisfies Array<[string, (client: EndpointClient) => TestExchange]>
  ) {
    it.scoped(`gives out no event id on the stream of a ${kind} that comes when another node serves the session`, () =>
      Effect.gen(function*() {
        const { node } = yield* Cluster.make(serve(act(log("a"))))
        const [one, two] = [yield* node, yield* node]
        const client = yield* one.http.open("2025-11-25")
        yield* one.expire
        const { lastId } = yield* answered(two.of(client).post(call(2, "act")))
        const exchange = yield* answered(send(one.of(client)))
        yield* until(() => one.endpoint.sessions() === 0)
        assert.strictEqual(exchange.status, 200)
        assert.deepStrictEqual(exchange.events.filter(({ id }) => id !== undefined), [])
        if (kind === "request") assert.strictEqual(exchange.messages.at(-1).id, 3)
        const resumed = yield* answered(two.of(client).get(after(lastId)))
        assert.strictEqual(resumed.status, 200)
      }))
  }

  it.scoped("ends its sessions at once when its inbox has expired, while the directory does not answer", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const one = yield* node
      yield* one.http.open()
      one.faults.releasing = Effect.unsafeMakeLatch(false)
      yield* one.closeInbox
      yield* until(() => one.endpoint.sessions() === 0)
      yield* one.faults.releasing.open
    }))

  it.scoped("passes no request on in the name that it had before it lost its inbox", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      two.faults.finding = Effect.unsafeMakeLatch(false)
      const exchange = two.of(client).post(call(2, "greet", { name: "you" }))
      yield* two.closeInbox
      // A request that begins now is refused at once.
      yield* until(() => two.of(client).post(call(3, "greet", { name: "you" })).status === 503)
      yield* two.faults.finding.open
      assert.strictEqual((yield* Cluster.later(answered(exchange))).status, 503)
    }))

  for (const answers of ["answers", "does not answer"]) {
    it.scoped(`serves no session that it has claimed in the name that it had before, when the directory ${answers}`, () =>
      Effect.gen(function*() {
        const { node } = yield* Cluster.make(serve(GreetLive))
        const [one, two, three] = [yield* node, yield* node, yield* node]
        const client = yield* one.http.open()
        yield* one.stop
        two.faults.hidesClaims = answers === "does not answer"
        two.faults.claiming = Effect.unsafeMakeLatch(false)
        const exchange = two.of(client).post(call(2, "greet", { name: "you" }))
        for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
        const finding = two.faults.finding = Effect.unsafeMakeLatch(false)
        if (two.faults.hidesClaims) {
          yield* two.faults.claiming.open
          assert.strictEqual((yield* answered(exchange)).status, 503)
        }
        yield* two.closeInbox
        yield* until(() => two.of(client).post(call(3, "greet", { name: "you" })).status === 503)
        yield* two.faults.claiming.open
        yield* finding.open
        assert.strictEqual((yield* answered(exchange)).status, 503)
        for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
        assert.strictEqual(two.endpoint.sessions(), 0)
        yield* two.expire
        assert.deepStrictEqual(resultOf(yield* three.of(client).ask(call(4, "greet", { name: "you" }))), hello)
      }))
  }

  it.scoped("leaves its sessions to others when its inbox has expired", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.closeInbox
      yield* until(() => one.endpoint.sessions() === 0)
      yield* one.expire
      assert.deepStrictEqual(resultOf(yield* two.of(client).ask(call(2, "greet", { name: "you" }))), hello)
    }))

  it.scoped("frees the standalone stream of a client that has disconnected at the next message, when the text that said so was lost", () =>
    Effect.gen(function*() {
      const changes = Effect.flatMap(ServerSession, ({ changed: { tools: toolListChanged } }) => toolListChanged)
      const { node } = yield* Cluster.make(serve(act(changes)))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const stream = two.of(client).get()
      yield* until(() => stream.status === 200)
      two.faults.losesTexts = true
      stream.hangUp()
      two.faults.losesTexts = false
      assert.strictEqual((yield* answered(one.of(client).get())).status, 409)
      yield* one.of(client).ask(call(1, "act"))
      yield* until(() => one.of(client).get().status === 200)
    }))

  it.scoped("refuses a request with 503 when the other node has no place for it, which has not run it", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      two.faults.isFull = true
      const refused = two.of(client).post(call(1, "greet", { name: "you" }))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* answered(refused)).status, 503)
      const later = two.of(client).post(call(2, "greet", { name: "you" }))
      two.faults.isFull = false
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(resultOf(yield* answered(later)), hello)
    }))

  it.scoped("refuses a request with 421 whose user the application hands over, when another node serves the session", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive, identified(() => Effect.succeed("ada"))))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const post = (at: Cluster.Node, id: number) => {
        const body = JSON.stringify(call(id, "greet", { name: "you" }))
        const exchange = new TestExchange("POST", "/mcp", { ...proper, ...client.session }, body)
        at.endpoint.handle(Object.assign(exchange, { services: Context.make(Sender, "ada") }))
        return answered(exchange)
      }
      assertRefused(yield* post(two, 1), 421, -32000, /authenticator find the user in the headers/)
      assert.deepStrictEqual(resultOf(yield* post(one, 2)), hello)
      yield* one.stop
      assert.deepStrictEqual(resultOf(yield* post(two, 3)), hello)
    }))

  it.scoped("takes no session over once it has closed", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two, three] = [yield* node, yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      two.faults.claiming = Effect.unsafeMakeLatch(false)
      const late = two.of(client).post(call(1, "greet", { name: "you" }))
      yield* two.endpoint.close
      yield* two.faults.claiming.open
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      const exchange = three.of(client).post(call(2, "greet", { name: "you" }))
      for (const _ of [1, 2, 3]) yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(resultOf(yield* answered(exchange)), hello)
      assert.strictEqual((yield* answered(late)).status, 503)
      assert.strictEqual(two.endpoint.sessions(), 0)
    }))

  it.scoped("sends the answer of a request again, which the node where it arrived could not take", () =>
    Effect.gen(function*() {
      let runs = 0
      const gate = yield* Effect.makeLatch()
      const acting = Effect.zipRight(Effect.sync(() => runs++), gate.await)
      const server = serve(Layer.merge(act(acting), act(Effect.zipRight(acting, log("a")), "logs")))
      const { node } = yield* Cluster.make(server, { isResumable: false })
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const exchanges = [two.of(client).post(call(1, "act")), two.of(client).post(call(2, "logs"))]
      yield* until(() => runs === 2)
      one.faults.isFull = true
      yield* gate.open
      yield* TestClock.adjust("2 seconds")
      one.faults.isFull = false
      yield* TestClock.adjust("1 second")
      for (const exchange of exchanges) yield* answered(exchange)
      assert.deepStrictEqual(resultOf(exchanges[0]!), { content: [] })
      assert.deepStrictEqual(exchanges[1]!.json, { jsonrpc: "2.0", id: 2, error: failedAt })
    }))

  it.scoped("sends an event id before all events that a slow store gets after it", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(act(Effect.forEach(["a", "b", "c"], log))))
      const one = yield* node
      const client = yield* one.http.open("2025-11-25")
      one.faults.opening = Effect.unsafeMakeLatch(false)
      const exchange = one.of(client).post(call(1, "act"))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      yield* one.faults.opening.open
      yield* answered(exchange)
      const [first, ...events] = exchange.events
      assert.strictEqual(first?.data, "")
      const resumed = yield* answered(one.of(client).get(after(first!.id!)))
      assert.deepStrictEqual(received(resumed), ["a", "b", "c", 1])
      const positions = [first!, ...events].map(({ id }) => Number(id!.split("_")[2]))
      assert.deepStrictEqual(positions, [...positions].sort((a, b) => a - b))
    }))

  it.scoped("serves a session that it has claimed, although the directory did not answer", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two, three] = [yield* node, yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      two.faults.hidesClaims = true
      assert.strictEqual((yield* two.of(client).ask(call(1, "greet", { name: "you" }))).status, 503)
      yield* until(() => two.endpoint.sessions() === 1)
      for (const at of [two, three]) {
        assert.deepStrictEqual(resultOf(yield* at.of(client).ask(call(2, "greet", { name: "you" }))), hello)
      }
    }))

  it.scoped("serves a session once, when the answer to its first look comes after the session has ended", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      two.faults.hidesClaims = true
      two.faults.claiming = Effect.unsafeMakeLatch(false)
      const refused = two.of(client).post(call(2, "greet", { name: "you" }))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      const found = two.faults.found = Effect.unsafeMakeLatch(false)
      yield* two.faults.claiming.open
      assert.strictEqual((yield* answered(refused)).status, 503)
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      two.faults.found = undefined
      two.faults.hidesClaims = false
      assert.deepStrictEqual(resultOf(yield* two.of(client).ask(call(3, "greet", { name: "you" }))), hello)
      assert.strictEqual((yield* answered(two.of(client).delete())).status, 200)
      yield* until(() => two.endpoint.sessions() === 0)
      yield* found.open
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      assert.strictEqual(two.endpoint.sessions(), 0)
    }))

  it.scoped("serves a session whose claim succeeds after the look for it", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      two.faults.delaysClaims = Effect.unsafeMakeLatch(false)
      assert.strictEqual((yield* answered(two.of(client).post(call(2, "greet", { name: "you" })))).status, 503)
      yield* TestClock.adjust("3 seconds")
      yield* two.faults.delaysClaims.open
      two.faults.delaysClaims = undefined
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      const exchange = two.of(client).post(call(3, "greet", { name: "you" }))
      assert.deepStrictEqual(resultOf(yield* Cluster.later(answered(exchange))), hello)
    }))

  it.scoped("serves a session whose claim succeeds after the look for it, before a request asks for it", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      const late = two.faults.delaysClaims = Effect.unsafeMakeLatch(false)
      assert.strictEqual((yield* answered(two.of(client).post(call(2, "greet", { name: "you" })))).status, 503)
      yield* TestClock.adjust("3 seconds")
      yield* late.open
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(two.endpoint.sessions(), 1)
    }))

  it.scoped("serves no session that another node has claimed, when the directory did not answer its own claim", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two, three] = [yield* node, yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      two.faults.hidesClaims = true
      two.faults.claiming = Effect.unsafeMakeLatch(false)
      const exchange = two.of(client).post(call(1, "greet", { name: "you" }))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      assert.deepStrictEqual(resultOf(yield* three.of(client).ask(call(2, "greet", { name: "you" }))), hello)
      yield* two.faults.claiming.open
      assert.strictEqual((yield* answered(exchange)).status, 503)
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      assert.deepStrictEqual([two.endpoint.sessions(), three.endpoint.sessions()], [0, 1])
      assert.deepStrictEqual(resultOf(yield* two.of(client).ask(call(3, "greet", { name: "you" }))), hello)
    }))
})

const Readme = Resource.make("readme", { uri: "file:///a" })
const License = Resource.make("license", { uri: "file:///b" })

describe("a session at its next node", () => {
  it.scoped("notifies a client of resources before it has sent a message", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(Layer.merge(
        McpServer.resource(Readme, Effect.succeed("text")),
        act(McpServer.resourceUpdated("file:///a"))
      )))
      const [one, two] = [yield* node, yield* node]
      const [client, other] = [yield* one.http.open(), yield* two.http.open()]
      yield* one.of(client).ask(Message.request(1, "resources/subscribe", { uri: "file:///a" }))
      yield* one.stop
      const stream = two.of(client).get()
      yield* until(() => stream.status === 200)
      yield* two.of(other).ask(call(1, "act"))
      yield* until(() => stream.messages.length === 1)
      assert.strictEqual(stream.messages[0].method, "notifications/resources/updated")
    }))

  it.scoped("has all subscriptions that its client has begun at the same time, when the directory is slow with the first", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      let updates = 0
      const { directory, node } = yield* Cluster.make(serve(Layer.mergeAll(
        McpServer.resource(Readme, Effect.succeed("text")),
        McpServer.resource(License, Effect.succeed("text")),
        act(Effect.zipRight(McpServer.resourceUpdated("file:///a"), McpServer.resourceUpdated("file:///b")))
      )))
      const { join } = directory
      Object.assign(directory, {
        join: (node: string) =>
          Effect.map(join(node), (own): Membership => ({
            ...own,
            update: (...args) =>
              ++updates === 1 ? Effect.zipRight(gate.await, own.update(...args)) : own.update(...args)
          }))
      })
      const [one, two] = [yield* node, yield* node]
      const [client, other] = [yield* one.http.open(), yield* two.http.open()]
      const subscribing = ["file:///a", "file:///b"].map((uri, n) =>
        one.of(client).post(Message.request(n + 1, "resources/subscribe", { uri }))
      )
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      yield* gate.open
      for (const exchange of subscribing) assert.deepStrictEqual(resultOf(yield* answered(exchange)), {})
      yield* one.stop
      const stream = two.of(client).get()
      yield* until(() => stream.status === 200)
      yield* two.of(other).ask(call(1, "act"))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      assert.deepStrictEqual(stream.messages.map(({ params }) => params.uri), ["file:///a", "file:///b"])
    }))

  it.scoped("goes on with a standalone stream that had no event", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open("2025-11-25")
      const stream = one.of(client).get()
      yield* until(() => stream.events.length === 1)
      yield* one.stop
      const resumed = two.of(client).get(after(stream.lastId))
      yield* until(() => resumed.status !== undefined)
      assert.strictEqual(resumed.status, 200)
    }))

  it.scoped("builds its session layer for the next request, when that failed for the first one", () =>
    Effect.gen(function*() {
      let builds = 0
      const gate = yield* Effect.makeLatch()
      const build = Effect.suspend(() => ++builds === 2 ? Effect.zipRight(gate.await, Effect.die("no")) : Effect.void)
      const { node } = yield* Cluster.make(serve(act(Counter), {
        session: Layer.effect(Counter, Effect.as(build, { count: 0 }))
      }))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      const first = two.of(client).post(call(2, "act"))
      yield* until(() => builds === 2)
      const second = two.of(client).post(call(3, "act"))
      for (let n = 0; n < 100; n++) yield* Effect.yieldNow()
      yield* gate.open
      for (const exchange of [first, second]) yield* answered(exchange)
      assert.strictEqual(first.messages.at(-1).error.code, -32603)
      assert.deepStrictEqual(resultOf(second), { content: [] })
      assert.strictEqual(builds, 3)
    }))
})

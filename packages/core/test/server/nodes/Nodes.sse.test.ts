import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Fiber, Layer } from "effect"
import { answered, assertRefused, call, initialize, proper, type TestExchange } from "../http/TestExchange.js"
import { act, byHeader, GreetLive, serve, until } from "../Serving.js"
import { later, type Node } from "./Cluster.js"
import * as Cluster from "./Cluster.js"

const options = { legacy: { ssePath: "/sse" } } as const
const greet = (id: number) => call(id, "greet", { name: "you" })

const openAt = ({ http }: Node, headers = {}) =>
  Effect.gen(function*() {
    const stream = http.send("GET", { host: "127.0.0.1:3000", accept: "text/event-stream", ...headers }, "", "/sse")
    yield* until(() => stream.events.length === 1)
    return stream
  })

/** A POST of the conversation that arrives at a node. */
const postAt = ({ http }: Node, stream: TestExchange, body: unknown, headers = {}) =>
  Effect.suspend(() => answered(http.send("POST", { ...proper, ...headers }, body, stream.events[0]!.data)))

const messages = ({ events }: TestExchange) => events.slice(1).map(({ data }) => JSON.parse(data!))

describe("HTTP+SSE on several nodes", () => {
  it.scoped("is answered on the stream, at whichever node its POSTs arrive", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), options)
      const [one, two, three] = [yield* node, yield* node, yield* node]
      const stream = yield* openAt(one)
      const posts = [
        [two, initialize("2024-11-05")],
        [three, Message.notification("notifications/initialized")],
        [one, greet(1)],
        [two, greet(2)]
      ] as const
      for (const [at, body] of posts) assert.strictEqual((yield* postAt(at, stream, body)).status, 202)
      yield* until(() => messages(stream).length === 3)
      assert.deepStrictEqual(messages(stream).map(({ id }) => id), [0, 1, 2])
    }))

  it.scoped("belongs to its principal, wherever a POST arrives", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive, byHeader), options)
      const [one, two] = [yield* node, yield* node]
      const stream = yield* openAt(one, { authorization: "ada" })
      const other = yield* postAt(two, stream, initialize("2024-11-05"), { authorization: "bob" })
      assertRefused(other, 404, -32001, /not found/i)
      const own = yield* postAt(two, stream, initialize("2024-11-05"), { authorization: "ada" })
      assert.strictEqual(own.status, 202)
    }))

  it.scoped("gets 404 everywhere when its stream or its node has ended", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), options)
      const [one, two] = [yield* node, yield* node]
      const [first, second] = [yield* openAt(one), yield* openAt(one)]
      first.hangUp()
      assertRefused(yield* postAt(two, first, greet(1)), 404, -32001, /not found/i)
      yield* one.stop
      assertRefused(yield* postAt(two, second, greet(1)), 404, -32001, /not found/i)
    }))

  it.scoped("ends when its node has lost its lease, because no other node reaches it", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), options)
      const one = yield* node
      const stream = yield* openAt(one)
      yield* one.closeInbox
      yield* answered(stream)
    }))

  it.scoped("answers the requests that run when its node shuts down, and then ends", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const { node } = yield* Cluster.make(serve(Layer.merge(GreetLive, act(gate.await))), {
        ...options,
        drainTimeout: "5 seconds"
      })
      const [one, two] = [yield* node, yield* node]
      const [busy, idle] = [yield* openAt(one), yield* openAt(one)]
      yield* postAt(two, busy, initialize("2024-11-05"))
      yield* until(() => messages(busy).length === 1)
      yield* postAt(two, busy, call(1, "act"))
      const leaving = yield* Effect.fork(one.leave)
      yield* answered(idle)
      assert.isFalse(busy.ended)
      yield* gate.open
      yield* later(Fiber.join(leaving))
      assert.deepStrictEqual(messages(busy).at(-1), { jsonrpc: "2.0", id: 1, result: { content: [] } })
      assert.isTrue(busy.ended)
    }))

  it.scoped("ignores the header of a session on the path of clients without sessions", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(GreetLive), { legacy: { ...options.legacy, sessions: false } })
      const { http } = yield* node
      assert.isDefined((yield* http.ask(greet(1), { "mcp-session-id": "s" })).json.result)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as Inbox from "@effect-mcp/core/Inbox"
import { Effect, Layer, TestClock } from "effect"
import { answered, assertRefused, call, initialize, proper } from "../http/TestExchange.js"
import { act, GreetLive, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"
import { later } from "./Cluster.js"

const greet = (id: number) => call(id, "greet", { name: "you" })

/** Two nodes whose inboxes can be full, and the texts with some content that they have got or refused. */
const serving = (content: string, options?: Parameters<typeof Cluster.make>[1]) =>
  Effect.gen(function*() {
    const gate = yield* Effect.makeLatch()
    const cluster = yield* Cluster.make(serve(Layer.merge(GreetLive, act(gate.await))), options)
    const state = { isFull: false, taken: Effect.void as Effect.Effect<void>, texts: [] as Array<string> }
    const { open } = cluster.inbox
    Object.assign(cluster.inbox, {
      open: (node: string) =>
        Effect.map(open(node), (mailbox) => ({
          ...mailbox,
          send: (to: string, text: string) => {
            if (text.includes(content)) state.texts.push(text)
            return state.isFull
              ? new Inbox.InboxError({ reason: "Full", message: "full" })
              : Effect.zipRight(state.taken, mailbox.send(to, text))
          }
        }))
    })
    return { gate, state, one: yield* cluster.node, two: yield* cluster.node }
  })

describe("a node that passes on more than the store takes", () => {
  it.scoped("refuses further requests at once with 503, and passes on again when the store has taken them", () =>
    Effect.gen(function*() {
      const { one, state, two } = yield* serving("greet")
      const client = yield* one.http.open()
      const large = (id: number) => two.of(client).post(call(id, "greet", { name: "x".repeat(3_900_000) }))
      const taken = yield* Effect.makeLatch()
      state.taken = taken.await
      const passed = [1, 2, 3, 4, 5].map(large)
      const refused = yield* answered(large(6))
      assertRefused(refused, 503, -32000, /too many requests wait for the node .*nothing has run; try again/)
      assert.strictEqual(refused.sent["retry-after"], "1")
      // One that is gone leaves its place when the store has it.
      passed[0]!.hangUp()
      yield* taken.open
      for (const exchange of passed.slice(1)) assert.include((yield* later(answered(exchange))).text, "Hello")
      assert.include((yield* later(answered(large(7)))).text, "Hello")
    }))
})

describe("a node whose inbox is full:", () => {
  it.scoped("a request is sent to it four times as it was, and then refused with 503", () =>
    Effect.gen(function*() {
      const { one, state, two } = yield* serving("greet")
      const client = yield* one.http.open()
      state.isFull = true
      assertRefused(yield* later(answered(two.of(client).post(greet(1)))), 503, -32000, /try again/)
      assert.deepStrictEqual([state.texts.length, new Set(state.texts).size], [4, 1])
    }))

  it.scoped("a request of a client that has disconnected is not sent again", () =>
    Effect.gen(function*() {
      const { one, state, two } = yield* serving("greet")
      const client = yield* one.http.open()
      state.isFull = true
      const exchange = two.of(client).post(greet(1))
      yield* until(() => state.texts.length === 1)
      exchange.hangUp()
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual([state.texts.length, exchange.answers], [1, 0])
    }))

  it.scoped("a request that waits for it is refused with 503 when its own node loses its place, and never runs", () =>
    Effect.gen(function*() {
      const { one, state, two } = yield* serving("greet")
      const client = yield* one.http.open()
      state.isFull = true
      const exchange = two.of(client).post(greet(1))
      yield* until(() => state.texts.length === 1)
      yield* two.closeInbox
      assertRefused(yield* answered(exchange), 503, -32000, /try again/)
      state.isFull = false
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(state.texts.length, 1)
    }))

  it.scoped("a message of HTTP+SSE is refused with 503: its conversation goes on", () =>
    Effect.gen(function*() {
      const { one, state, two } = yield* serving("initialize", { legacy: { ssePath: "/sse" } })
      const stream = one.http.send("GET", { host: "127.0.0.1:3000", accept: "text/event-stream" }, "", "/sse")
      yield* until(() => stream.events.length === 1)
      const post = () => two.http.send("POST", proper, initialize("2024-11-05"), stream.events[0]!.data)
      state.isFull = true
      assertRefused(yield* later(answered(post())), 503, -32000, /try again/)
      state.isFull = false
      assert.strictEqual((yield* answered(post())).status, 202)
    }))

  it.scoped("an answer is sent again for a minute, as it was and less and less often", () =>
    Effect.gen(function*() {
      const { gate, one, state, two } = yield* serving("reply", { isResumable: false })
      const client = yield* one.http.open()
      const exchange = two.of(client).post(call(1, "act"))
      yield* TestClock.adjust("1 second")
      state.isFull = true
      yield* gate.open
      yield* TestClock.adjust("50 seconds")
      assert.isBelow(state.texts.length, 20)
      assert.strictEqual(new Set(state.texts).size, 1)
      state.isFull = false
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual((yield* answered(exchange)).json.result, { content: [] })
    }))
})

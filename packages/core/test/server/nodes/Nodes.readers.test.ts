import { assert, describe, it } from "@effect/vitest"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Effect, Fiber } from "effect"
import { answered, assertRefused, call, type EndpointClient, TestExchange } from "../http/TestExchange.js"
import { after, log, received } from "../legacy/Resuming.js"
import { act, GreetLive, serve, until } from "../Serving.js"
import type { Node } from "./Cluster.js"
import * as Cluster from "./Cluster.js"

const announcing = () =>
  serve(act(Effect.flatMap(
    ServerSession,
    ({ standalone }) => standalone.notify("notifications/message", { level: "info", data: "a" })
  )))

/** A client with a reader of its standalone stream, which has had an event, at a node that does not know that another one serves it now. */
const overtaken = Effect.gen(function*() {
  const { node } = yield* Cluster.make(announcing())
  const [one, two] = [yield* node, yield* node]
  const client = yield* one.http.open()
  const reader = one.of(client).get()
  yield* one.of(client).ask(call(1, "act"))
  yield* until(() => received(reader).length === 1)
  yield* one.expire
  yield* two.of(client).ask(call(2, "act"))
  assert.strictEqual(one.endpoint.sessions(), 1)
  return { client, one, reader, two }
})

describe("a node that does not know that another one serves the session", () => {
  it.scoped("refuses a client with 503 that names an event of the other node", () =>
    Effect.gen(function*() {
      const { client, one, two } = yield* overtaken
      const other = two.of(client).get()
      yield* until(() => received(other).length === 1)
      assertRefused(yield* answered(one.of(client).get(after(other.lastId))), 503, -32000, /try again/)
    }))

  it.scoped("ends the session when its reader disconnects", () =>
    Effect.gen(function*() {
      const { one, reader } = yield* overtaken
      reader.hangUp()
      yield* until(() => one.endpoint.sessions() === 0)
    }))

  it.scoped("ends the stream of a client that resumes it, which goes on at the other node", () =>
    Effect.gen(function*() {
      const { client, one, reader, two } = yield* overtaken
      const resumed = yield* answered(one.of(client).get(after(reader.lastId)))
      assert.strictEqual(one.endpoint.sessions(), 0)
      const next = two.of(client).get(after(resumed.lastId ?? reader.lastId))
      yield* two.of(client).ask(call(3, "act"))
      const all = () => [...received(resumed), ...received(next)]
      yield* until(() => all().length === 2)
      assert.deepStrictEqual(all(), ["a", "a"])
    }))
})

describe("a client that opens its stream while the store is slow", () => {
  for (
    const [how, end] of [
      ["the node shuts down", ({ leave }) => leave],
      ["the inbox of the node expires", ({ closeInbox }) => closeInbox]
    ] satisfies Array<[string, (node: Node) => Effect.Effect<void>]>
  ) {
    it.scoped(`gets 503, and keeps its session, when ${how} meanwhile`, () =>
      Effect.gen(function*() {
        const { node } = yield* Cluster.make(serve(GreetLive))
        const [one, two] = [yield* node, yield* node]
        const client = yield* one.http.open()
        one.faults.opening = Effect.unsafeMakeLatch(false)
        const exchange = one.of(client).get()
        const ending = yield* Effect.fork(end(one))
        yield* until(() => one.endpoint.sessions() === 0)
        yield* one.faults.opening.open
        assertRefused(yield* answered(exchange), 503, -32000, /try again/)
        yield* Fiber.join(ending)
        yield* one.expire
        const next = two.of(client).get()
        yield* until(() => next.status === 200)
      }))
  }
})

describe("a stream that a node has taken over", () => {
  const many = act(Effect.forEach(Array.from({ length: 20 }, (_, n) => n), log, { discard: true }))

  /** A client, and a reader of a stream of the node before, that has taken one event and takes no more. */
  const replaying = Effect.gen(function*() {
    const { node } = yield* Cluster.make(serve(many), { limits: { capacity: 4 } })
    const [one, two] = [yield* node, yield* node]
    const client = yield* one.http.open()
    const { events } = yield* one.of(client).ask(call(1, "act"))
    yield* one.leave
    yield* two.of(client).ask(call(2, "act"))
    const get = { ...client.session, ...after(events[0]!.id!), accept: "text/event-stream", host: "localhost" }
    const stalled = new TestExchange("GET", "/mcp", get)
    stalled.stalled = true
    two.endpoint.handle(stalled)
    yield* until(() => stalled.messages.length === 1)
    return { client: two.of(client) satisfies EndpointClient, events, stalled }
  })

  it.scoped("has one reader: a later one replaces an earlier one", () =>
    Effect.gen(function*() {
      const { client, events, stalled } = yield* replaying
      const next = yield* answered(client.get(after(events[0]!.id!)))
      assert.deepStrictEqual([received(next).length, stalled.cut], [21, true])
    }))

  it.scoped("ends with its session, also while a client reads it", () =>
    Effect.gen(function*() {
      const { client, stalled } = yield* replaying
      client.delete()
      stalled.drain()
      yield* until(() => stalled.ended)
      assert.isBelow(stalled.messages.length, 21)
    }))
})

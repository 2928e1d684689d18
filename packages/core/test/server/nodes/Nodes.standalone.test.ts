import { assert, describe, it } from "@effect/vitest"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Effect, Fiber, Option } from "effect"
import { call, type EndpointClient, type TestExchange } from "../http/TestExchange.js"
import { after } from "../legacy/Resuming.js"
import { act, serve, until } from "../Serving.js"
import type { Node } from "./Cluster.js"
import * as Cluster from "./Cluster.js"

/** A server whose tool sends an event on the standalone stream: each of its own, so that none replaces another. */
const cluster = Effect.gen(function*() {
  let sent = 0
  const { events, node } = yield* Cluster.make(serve(act(Effect.flatMap(
    ServerSession,
    ({ standalone }) => standalone.notify("notifications/message", { level: "info", data: ++sent })
  ))))
  /** Sends an event, which is stored when this has ended. */
  const send = (at: Node, client: EndpointClient) =>
    Effect.gen(function*() {
      yield* at.of(client).ask(call(sent + 1, "act"))
      const key = { session: client.session["mcp-session-id"]!, stream: "g" }
      yield* Effect.repeat(events.after(key, -1), {
        until: Option.exists((all) => all.some(({ data }) => JSON.parse(data).params.data === sent))
      })
    })
  return { node, send }
})

const numbers = ({ messages }: TestExchange) => messages.map(({ params }) => params.data)

const opened = (exchange: TestExchange) => Effect.as(until(() => exchange.status === 200), exchange)

/** A reader has got these events, and no others up to now. */
const gets = (exchange: TestExchange, ...expected: Array<number>) =>
  Effect.gen(function*() {
    yield* until(() => numbers(exchange).length >= expected.length)
    for (let n = 0; n < 50; n++) yield* Effect.yieldNow()
    assert.deepStrictEqual(numbers(exchange), expected)
  })

describe("a node that shuts down while the store is slow", () => {
  it.scoped("leaves an event to the next node that its reader has not had", () =>
    Effect.gen(function*() {
      const { node, send } = yield* cluster
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open("2025-06-18")
      const first = yield* opened(one.of(client).get())
      yield* send(one, client)
      yield* gets(first, 1)
      one.faults.storing = Effect.unsafeMakeLatch(false)
      yield* one.of(client).ask(call(2, "act"))
      const leaving = yield* Effect.fork(one.leave)
      yield* until(() => first.ended)
      yield* one.faults.storing.open
      yield* Fiber.join(leaving)
      yield* gets(first, 1)
      yield* gets(yield* opened(two.of(client).get()), 2)
    }))
})

describe("a store that has lost an event", () => {
  it.scoped("still has the others, of which none is sent again that a reader has had", () =>
    Effect.gen(function*() {
      const { node, send } = yield* cluster
      const one = yield* node
      const client = yield* one.http.open("2025-06-18")
      const first = yield* opened(one.of(client).get())
      yield* send(one, client)
      yield* gets(first, 1)
      first.hangUp()
      yield* send(one, client)
      one.faults.hasGap = true
      yield* gets(yield* opened(one.of(client).get()), 2)
    }))
})

for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
  for (const end of ["leave", "stop"] as const) {
    const how = end === "leave" ? "shuts down" : "ends without a word"
    describe(`at ${version}, when a node ${how}, the next one`, () => {
      it.scoped("sends no event again that a reader has had, to a client that names none", () =>
        Effect.gen(function*() {
          const { node, send } = yield* cluster
          const [one, two, three] = [yield* node, yield* node, yield* node]
          const client = yield* one.http.open(version)
          const first = yield* opened(one.of(client).get())
          yield* send(one, client)
          yield* gets(first, 1)
          yield* one[end]
          yield* send(two, client)
          yield* gets(yield* opened(two.of(client).get()), 2)
          yield* send(two, client)
          yield* two[end]
          const third = yield* opened(three.of(client).get())
          yield* send(three, client)
          yield* gets(third, 4)
        }))

      it.scoped("sends the events that no reader has had, also those of a node before", () =>
        Effect.gen(function*() {
          const { node, send } = yield* cluster
          const [one, two, three] = [yield* node, yield* node, yield* node]
          const client = yield* one.http.open(version)
          const first = yield* opened(one.of(client).get())
          yield* send(one, client)
          yield* gets(first, 1)
          first.hangUp()
          yield* send(one, client)
          yield* one[end]
          yield* send(two, client)
          yield* two[end]
          const third = yield* opened(three.of(client).get())
          yield* gets(third, 2, 3)
          third.hangUp()
          yield* send(three, client)
          yield* gets(yield* opened(three.of(client).get()), 4)
        }))

      it.scoped("sends all events to a client that had no stream before", () =>
        Effect.gen(function*() {
          const { node, send } = yield* cluster
          const [one, two] = [yield* node, yield* node]
          const client = yield* one.http.open(version)
          yield* send(one, client)
          yield* one[end]
          yield* send(two, client)
          yield* gets(yield* opened(two.of(client).get()), 1, 2)
        }))

      it.scoped("sends what follows the event that a client names, and nothing of it to a later reader", () =>
        Effect.gen(function*() {
          const { node, send } = yield* cluster
          const [one, two, three] = [yield* node, yield* node, yield* node]
          const client = yield* one.http.open(version)
          const first = yield* opened(one.of(client).get())
          yield* send(one, client)
          yield* send(one, client)
          yield* gets(first, 1, 2)
          const [{ id }] = first.events.filter(({ data }) => data !== "" && data !== undefined) as [{ id: string }]
          yield* one[end]
          const second = yield* opened(two.of(client).get(after(id)))
          yield* gets(second, 2)
          yield* two[end]
          yield* send(three, client)
          yield* gets(yield* opened(three.of(client).get()), 3)
        }))
    })
  }
}

/** The first messages of a session at its next node, which builds its session layer and begins its subscriptions anew. */
import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Resource from "@effect-mcp/core/Resource"
import { Effect, Layer, Schema } from "effect"
import { answered, call, type EndpointClient, type TestExchange } from "../http/TestExchange.js"
import { act, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"

const Readme = Resource.make("readme", { uri: "file:///a" })
const ReadmeLive = McpServer.resource(Readme, Effect.succeed("text"))
const updated = McpServer.resourceUpdated("file:///a")
const subscribe = (client: EndpointClient) =>
  client.ask(Message.request(1, "resources/subscribe", { uri: "file:///a" }))

const note = Message.notification("example/note")

const settled = Effect.repeatN(Effect.yieldNow(), 100)

const resultOf = (exchange: TestExchange) => (exchange.isStream ? exchange.messages.at(-1) : exchange.json).result

/** A session layer that does what the test says, and how often it was built. */
const layer = () => {
  const state = { builds: 0, build: Effect.void as Effect.Effect<void> }
  const session = Layer.effectDiscard(Effect.suspend(() => {
    state.builds++
    return state.build
  }))
  return { state, session }
}

const notes = (handle: Effect.Effect<void>) =>
  MethodHandler.customNotification("example/note", Schema.Struct({}), () => handle)

describe("the session layer of a session at its next node", () => {
  it.scoped("is built once for a notification when that fails, and again for the next message", () =>
    Effect.gen(function*() {
      let noted = 0
      const { session, state } = layer()
      const features = Layer.merge(notes(Effect.sync(() => noted++)), act(Effect.void))
      const { node } = yield* Cluster.make(serve(features, { session }))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      state.build = Effect.suspend(() => state.builds < 50 ? Effect.die("no") : Effect.void)
      const first = two.of(client).post(note)
      yield* until(() => first.status === 202)
      yield* settled
      assert.deepStrictEqual([state.builds, noted], [2, 0])
      state.build = Effect.void
      two.of(client).post(note)
      yield* until(() => noted === 1)
      assert.deepStrictEqual(resultOf(yield* two.of(client).ask(call(2, "act"))), { content: [] })
      assert.deepStrictEqual([state.builds, noted], [3, 1])
    }))

  it.scoped("is built once for messages that arrive at the same time", () =>
    Effect.gen(function*() {
      let noted = 0
      const gate = yield* Effect.makeLatch()
      const { session, state } = layer()
      const features = Layer.merge(notes(Effect.sync(() => noted++)), act(Effect.void))
      const { node } = yield* Cluster.make(serve(features, { session }))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      state.build = gate.await
      two.of(client).post(note)
      const exchanges = [2, 3].map((id) => two.of(client).post(call(id, "act")))
      two.of(client).post(note)
      yield* until(() => state.builds === 2)
      yield* settled
      assert.deepStrictEqual([noted, ...exchanges.map(({ ended }) => ended)], [0, false, false])
      yield* gate.open
      for (const exchange of exchanges) assert.deepStrictEqual(resultOf(yield* answered(exchange)), { content: [] })
      yield* until(() => noted === 2)
      assert.strictEqual(state.builds, 2)
    }))

  it.scoped("does not keep requests waiting when the notification that it would be built for is dropped", () =>
    Effect.gen(function*() {
      let noted = 0
      const gate = yield* Effect.makeLatch()
      const { session, state } = layer()
      const features = Layer.merge(notes(Effect.zipRight(Effect.sync(() => noted++), Effect.never)), act(Effect.void))
      const { node } = yield* Cluster.make(serve(features, { session }))
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      yield* one.stop
      state.build = Effect.suspend(() =>
        state.builds === 2 ? Effect.zipRight(gate.await, Effect.die("no")) : Effect.void
      )
      const first = two.of(client).post(call(2, "act"))
      yield* until(() => state.builds === 2)
      // As many as may run.
      for (let n = 0; n < 64; n++) two.of(client).post(note)
      yield* gate.open
      yield* answered(first)
      yield* until(() => noted === 64)
      const dropped = two.of(client).post(note)
      yield* until(() => dropped.status === 202)
      yield* settled
      const next = two.of(client).post(call(3, "act"))
      yield* settled
      assert.isTrue(next.ended)
      assert.deepStrictEqual(resultOf(next), { content: [] })
    }))
})

describe("the subscriptions of a session at its next node", () => {
  it.scoped("notify its client also while its session layer is built", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const { session, state } = layer()
      const features = Layer.mergeAll(ReadmeLive, act(updated), act(Effect.void, "none"))
      const { node } = yield* Cluster.make(serve(features, { session }))
      const [one, two] = [yield* node, yield* node]
      const [client, other] = [yield* one.http.open(), yield* two.http.open()]
      yield* subscribe(one.of(client))
      yield* one.stop
      const stream = two.of(client).get()
      yield* until(() => stream.status === 200)
      state.build = gate.await
      const first = two.of(client).post(call(2, "none"))
      yield* until(() => state.builds === 3)
      yield* two.of(other).ask(call(3, "act"))
      yield* settled
      assert.deepStrictEqual(stream.messages.map(({ params }) => params), [{ uri: "file:///a" }])
      yield* gate.open
      yield* answered(first)
      yield* two.of(other).ask(call(4, "act"))
      yield* until(() => stream.messages.length > 1)
      yield* settled
      assert.strictEqual(stream.messages.length, 2)
    }))
})

/**
 * Everything that a client of a session sends over Streamable HTTP, in every revision that has sessions, also in 2024-11-05, which
 * is older than this transport: each message arrives at a node that does not serve the session.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type { Registry } from "@effect-mcp/core/Registry"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Deferred, Effect, Layer, TestClock } from "effect"
import { answered, call } from "../http/TestExchange.js"
import { after, log, received } from "../legacy/Resuming.js"
import { act, GreetLive, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"

const sampled = { role: "assistant", model: "m", content: { type: "text", text: "Paris" } }

for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
  describe(`a node that does not serve the session takes, at ${version},`, () => {
    const nodes = <E, R>(
      features: Layer.Layer<never, never, Registry>,
      test: (client: Clients) => Effect.Effect<void, E, R>
    ) =>
      Effect.gen(function*() {
        const { node } = yield* Cluster.make(serve(features))
        const [one, two, three] = [yield* node, yield* node, yield* node]
        const session = yield* one.http.open(version, { sampling: {} })
        yield* test({ one: one.of(session), two: two.of(session), three: three.of(session) })
        assert.deepStrictEqual([two.endpoint.sessions(), three.endpoint.sessions()], [0, 0])
      })

    it.scoped("a request, and a notification", () =>
      nodes(GreetLive, ({ three, two }) =>
        Effect.gen(function*() {
          const exchange = yield* answered(two.post(call(1, "greet", { name: "you" })))
          const response = exchange.isStream ? exchange.messages.at(-1) : exchange.json
          assert.deepStrictEqual(response.result.content, [{ type: "text", text: "Hello, you!" }])
          assert.strictEqual((yield* three.ask(Message.notification("notifications/x"))).status, 202)
        })))

    it.scoped("the answer to a request of the server", () =>
      nodes(act(asksModel), ({ three, two }) =>
        Effect.gen(function*() {
          const exchange = two.post(call(1, "act"))
          yield* until(() => exchange.messages.length === 1)
          assert.strictEqual(exchange.messages[0].method, "sampling/createMessage")
          three.post(Message.success(exchange.messages[0].id, sampled))
          assert.deepStrictEqual(received(yield* answered(exchange)).slice(1), ["Paris", 1])
        })))

    it.scoped("a cancellation", () =>
      Effect.gen(function*() {
        const [running, cancelled] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const waits = Effect.zipRight(Deferred.succeed(running, undefined), Effect.never)
        yield* nodes(act(Effect.onInterrupt(waits, () => Deferred.succeed(cancelled, undefined))), ({ three, two }) =>
          Effect.gen(function*() {
            two.post(call(1, "act"))
            yield* Deferred.await(running)
            three.post(Message.notification("notifications/cancelled", { requestId: 1 }))
            yield* Deferred.await(cancelled)
          }))
      }))

    it.scoped("a GET with Last-Event-ID, after the connection to another node was lost", () =>
      Effect.gen(function*() {
        const gate = yield* Effect.makeLatch()
        yield* nodes(act(Effect.zipRight(Effect.zipRight(log("a"), gate.await), log("b"))), ({ three, two }) =>
          Effect.gen(function*() {
            const exchange = two.post(call(1, "act"))
            yield* until(() =>
              exchange.messages.length === 1
            )
            exchange.hangUp()
            const resumed = three.get(after(exchange.lastId))
            yield* until(() => resumed.status === 200)
            yield* gate.open
            assert.deepStrictEqual(received(yield* answered(resumed)), ["b", 1])
          }))
      }))

    it.scoped("a DELETE, which ends the session on all nodes", () =>
      nodes(Layer.empty, ({ one, three, two }) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* answered(two.delete())).status, 200)
          for (const client of [one, two, three]) {
            const exchange = client.post(Message.request(1, "ping"))
            yield* TestClock.adjust("1 second")
            assert.strictEqual((yield* answered(exchange)).status, 404)
          }
        })))
  })
}

interface Clients {
  readonly one: Cluster.Node["http"]
  readonly two: Cluster.Node["http"]
  readonly three: Cluster.Node["http"]
}

const asksModel = Effect.flatMap(ServerSession, ({ createMessage }) =>
  Effect.orDie(createMessage({
    messages: [{ role: "user", content: { type: "text", text: "What is the capital of France?" } }],
    maxTokens: 10
  }))).pipe(Effect.flatMap(({ content }) => log("text" in content ? content.text : "?")))

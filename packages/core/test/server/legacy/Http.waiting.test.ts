/**
 * Requests of a session beyond those that run: each waits on its POST, which sends nothing until the request starts.
 */
import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Message from "@effect-mcp/core/Message"
import { Deferred, Effect, TestClock } from "effect"
import { answered, call, withEndpoint } from "../http/TestExchange.js"
import { act, serve } from "../Serving.js"

const ping = Message.request(1, "ping")

describe("requests over HTTP", () => {
  it.scoped("beyond the limit of a session wait, and nothing is sent until they start", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(serve(act(Deferred.await(gate)), { limits: { maxInFlight: 2, maxWaiting: 2 } }), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open()
          const [, , third, cancelled, fifth] = [1, 2, 3, 4, 5].map((id) =>
            client.post(call(id, "act"))
          )
          assert.strictEqual(fifth!.status, 200)
          assert.strictEqual(fifth!.json.error.code, -32000)
          assert.isUndefined(third!.status)
          client.post(Message.notification("notifications/cancelled", { requestId: 4 }))
          assert.strictEqual(cancelled!.json.error.code, -32800)
          // MUST respond promptly to a ping
          assert.deepStrictEqual((yield* client.ask(ping)).json.result, {})
          assert.isUndefined(third!.status)
          yield* Deferred.succeed(gate, undefined)
          yield* answered(third!)
          assert.strictEqual(third!.sent["content-type"], "application/json")
          assert.property(third!.json, "result")
        }))
    }))

  it.scoped("that wait on a stream which has begun send nothing further on it until they start", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(
        serve(act(Deferred.await(gate)), { limits: { maxInFlight: 1 } }),
        (http) =>
          Effect.gen(function*() {
            const client = yield* http.open()
            const [running, waiting] = [1, 2].map((id) => client.post(call(id, "act")))
            yield* TestClock.adjust("14 seconds")
            // The client of the request that runs can resume its stream; nothing of the other has begun.
            assert.deepStrictEqual([running!.events.length, waiting!.status, waiting!.text], [1, undefined, ""])
            // A connection that is silent for longer could be taken for a dead one.
            yield* TestClock.adjust("1 second")
            assert.isTrue(waiting!.isStream)
            assert.lengthOf(waiting!.events, 1)
            yield* TestClock.adjust("5 minutes")
            assert.deepStrictEqual([waiting!.events.length, waiting!.messages], [1, []])
            assert.match(waiting!.text, /\n:/)
            yield* Deferred.succeed(gate, undefined)
            yield* answered(waiting!)
            assert.deepStrictEqual(waiting!.messages.map(({ id }) => id), [2])
          })
      )
    }).pipe(Effect.provideServiceEffect(EventStore.EventStore, EventStore.memory())))

  it.scoped("that wait in a batch of 2025-03-26 are answered in its one array", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(serve(act(Deferred.await(gate)), { limits: { maxInFlight: 2, maxWaiting: 2 } }), (http) =>
        Effect.gen(function*() {
          const client = yield* http.open("2025-03-26")
          const batch = client.post([1, 2, 3, 4, 5].map((id) =>
            call(id, "act")
          ))
          assert.isUndefined(batch.status)
          yield* Deferred.succeed(gate, undefined)
          yield* answered(batch)
          assert.deepStrictEqual(
            batch.json.map(({ error, id }: any) => [id, error?.code]).sort(),
            [[1, undefined], [2, undefined], [3, undefined], [4, undefined], [5, -32000]]
          )
        }))
    }))

  it.scoped("that wait are answered once when the session ends", () =>
    withEndpoint(serve(act(Effect.never), { limits: { maxInFlight: 1 } }), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open()
        const posts = [1, 2, 3].map((id) => client.post(call(id, "act")))
        client.delete()
        for (const post of posts) {
          yield* answered(post)
          assert.strictEqual(post.json.error.code, -32000)
        }
      })))
})

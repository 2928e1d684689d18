import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Queue, Schema, TestClock } from "effect"
import { MAX_EARLIER } from "../../../src/server/dispatch/PipeClients.js"
import { act, call, connect, GreetLive, names, serve, uninitialized, until } from "../Serving.js"

class Visit extends Context.Tag("test/Visit")<Visit, number>() {}

/** A session layer that counts the clients, and says which sessions have closed. */
const visits = () => {
  const closed: Array<number> = []
  let count = 0
  const session = Layer.scoped(
    Visit,
    Effect.acquireRelease(Effect.sync(() => ++count), (visit) => Effect.sync(() => closed.push(visit)))
  )
  return { closed, session, count: () => count }
}

/** A tool that waits for its gate, and one that answers at once; both say whose session they see. */
const gated = Effect.map(Deferred.make<void>(), (gate) => {
  const ends: Array<string> = []
  const wait = McpServer.tool(Tool.make("wait", { success: Schema.String }), () =>
    Deferred.await(gate).pipe(
      Effect.zipRight(Effect.map(Visit, (visit) => `visit ${visit}`)),
      Effect.onExit((exit) => Effect.sync(() => ends.push(Exit.isInterrupted(exit) ? "interrupted" : "done")))
    ))
  const who = McpServer.tool(
    Tool.make("who", { success: Schema.String }),
    () => Effect.map(Visit, (visit) => `visit ${visit}`)
  )
  return { ends, features: Layer.merge(wait, who), open: Deferred.succeed(gate, undefined) }
})

const text = (peer: TestPeer.TestPeer, id: Message.RequestId) =>
  Effect.map(peer.expectResult(id), ({ content }) => (content as ReadonlyArray<{ readonly text: string }>)[0]!.text)

const roots = act(
  Effect.flatMap(
    ServerSession,
    (session) => Effect.ignore(session.request("roots/list", undefined, { timeout: "1 hour" }))
  ),
  "ask"
)

describe("A client that sends `initialize` on a pipe where another client was initialized", () => {
  it.scoped("has a revision, facts and a session of its own", () =>
    Effect.gen(function*() {
      const { features } = yield* gated
      const { closed, count, session } = visits()
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.initialize({ version: "2024-11-05" })
        assert.strictEqual(yield* text(peer, yield* call(peer, "who")), "visit 1")
        const { protocolVersion } = yield* peer.initialize({ version: "2025-11-25" })
        assert.strictEqual(protocolVersion, "2025-11-25")
        assert.strictEqual(yield* text(peer, yield* call(peer, "who")), "visit 2")
        yield* until(() => closed.length > 0)
        assert.deepStrictEqual([count(), closed], [2, [1]])
      }).pipe(Effect.scoped, Effect.provide(serve(features, { session })))
      assert.deepStrictEqual(closed, [1, 2])
    }))

  it.scoped("gets the answers of requests under way, which run to their end in the old session", () =>
    Effect.gen(function*() {
      const { closed, session } = visits()
      const { features, open } = yield* gated
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.initialize()
        const old = yield* call(peer, "wait")
        yield* peer.initialize()
        const young = yield* call(peer, "wait")
        assert.deepStrictEqual(closed, [])
        yield* open
        assert.strictEqual(yield* text(peer, old), "visit 1")
        assert.strictEqual(yield* text(peer, young), "visit 2")
        yield* until(() => closed.length > 0)
        assert.deepStrictEqual(closed, [1])
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(serve(features, { session })))
    }))

  it.scoped("may use each id that a request of the old client has: that request ends without an answer", () =>
    Effect.gen(function*() {
      const { closed, session } = visits()
      const { ends, features } = yield* gated
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.initialize()
        yield* peer.request("tools/call", { name: "wait" }, 1)
        yield* peer.request("tools/call", { name: "wait" }, 2)
        const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "b", version: "1" } }
        yield* peer.expectResult(yield* peer.request("initialize", hello, 1))
        yield* until(() => ends.length === 1)
        assert.strictEqual(yield* text(peer, yield* peer.request("tools/call", { name: "who" }, 2)), "visit 2")
        yield* until(() => closed.length > 0)
        assert.deepStrictEqual([ends, closed], [["interrupted", "interrupted"], [1]])
        // Among its own requests an id is busy, as before.
        yield* peer.request("tools/call", { name: "wait" }, 3)
        yield* peer.request("tools/call", { name: "who" }, 3)
        assert.strictEqual((yield* peer.expectError(3)).code, -32600)
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(serve(features, { session })))
    }))

  it.scoped("gets no question of the old session, and its answers reach the new session only", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      yield* peer.initialize({ capabilities: { roots: {} } })
      const old = yield* call(peer, "ask")
      const asked = yield* peer.expectRequest("roots/list")
      yield* peer.initialize({ capabilities: { roots: {} } })
      yield* peer.expectResult(old)
      const young = yield* call(peer, "ask")
      const { id } = yield* peer.expectRequest("roots/list")
      assert.notStrictEqual(id, asked.id)
      // A late answer to the old question.
      yield* peer.send(Message.success(asked.id, { roots: [] }))
      yield* peer.expectSilence
      yield* peer.send(Message.success(id, { roots: [] }))
      yield* peer.expectResult(young)
    }).pipe(Effect.provide(serve(roots))))

  it.scoped("gets progress and answers of requests of the old client, and none of their log messages", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const chatty = act(
        Effect.flatMap(
          RequestContext,
          ({ log, progress }) =>
            Deferred.await(gate).pipe(Effect.zipRight(log("info", "chatter")), Effect.zipRight(progress(1)))
        ),
        "chat"
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.initialize()
        const old = yield* call(peer, "chat", undefined, "token")
        yield* peer.initialize()
        yield* Deferred.succeed(gate, undefined)
        assert.deepInclude(yield* peer.expectNotification("notifications/progress"), { progressToken: "token" })
        yield* peer.expectResult(old)
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(serve(chatty)))
    }))

  it.scoped("changes nothing when its `initialize` is not valid", () =>
    Effect.gen(function*() {
      const { features } = yield* gated
      const { count, session } = visits()
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.initialize()
        const wrong = [
          { protocolVersion: 7 },
          { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x".repeat(70_000), version: "1" } }
        ]
        for (const params of wrong) {
          assert.strictEqual((yield* peer.expectError(yield* peer.request("initialize", params))).code, -32602)
        }
        assert.strictEqual(yield* text(peer, yield* call(peer, "who")), "visit 1")
        assert.strictEqual(count(), 1)
      }).pipe(Effect.scoped, Effect.provide(serve(features, { session })))
    }))

  it.scoped("hears nothing of the subscriptions, log levels and lists of the old client", () =>
    Effect.gen(function*() {
      const file = McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed("a"))
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.initialize()
        yield* peer.expectResult(yield* peer.request("resources/subscribe", { uri: "file:///a" }))
        const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "b", version: "1" } }
        yield* peer.expectResult(yield* peer.request("initialize", hello))
        const other = yield* connect()
        yield* other.expectResult(yield* call(other, "touch"))
        yield* peer.expectSilence
        yield* peer.notify("notifications/initialized")
        yield* peer.expectResult(yield* peer.request("resources/subscribe", { uri: "file:///a" }))
        yield* other.expectResult(yield* call(other, "touch"))
        yield* peer.expectNotification("notifications/resources/updated")
        yield* peer.expectSilence
      }).pipe(
        Effect.scoped,
        Effect.provide(serve(Layer.merge(file, act(McpServer.resourceUpdated("file:///a"), "touch"))))
      )
    }))

  it.scoped("hears nothing of a subscription of 2026-07-28 that was made before", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      yield* peer.initialize()
      const listening = yield* peer.modern().request("subscriptions/listen", {
        notifications: { toolsListChanged: true }
      })
      yield* peer.expectNotification("notifications/subscriptions/acknowledged")
      yield* peer.initialize()
      yield* peer.expectSilence
      // The id is free again.
      yield* peer.modern().request("subscriptions/listen", { notifications: { toolsListChanged: true } }, listening)
      yield* peer.expectNotification("notifications/subscriptions/acknowledged")
      yield* peer.hangUp
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is refused while the first `initialize` is being answered, and in a batch", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const session = Layer.effect(Visit, Effect.as(Deferred.await(gate), 1))
      const hello = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "b", version: "1" } }
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const first = yield* peer.request("initialize", hello)
        const second = yield* peer.request("initialize", hello)
        assert.strictEqual((yield* peer.expectError(second)).code, -32600)
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(first)
        yield* peer.send([Message.request("in a batch", "initialize", hello)] as never)
        assert.strictEqual((yield* peer.expectError("in a batch")).code, -32600)
      }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { session })))
    }))

  it.scoped("ends the oldest clients when too many have requests that run", () =>
    Effect.gen(function*() {
      const { closed, session } = visits()
      const { ends, features } = yield* gated
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const answers: Array<Message.RequestId> = []
        for (let visit = 0; visit <= MAX_EARLIER; visit++) {
          yield* peer.initialize()
          answers.push(yield* call(peer, "wait"))
        }
        assert.deepStrictEqual(ends, [])
        const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "b", version: "1" } }
        const last = yield* peer.request("initialize", hello)
        const got = [yield* peer.next, yield* peer.next].map((one) => Message.isResponse(one) ? one.id : undefined)
        assert.sameMembers(got, [last, answers[0]])
        yield* until(() => closed.length > 0)
        assert.deepStrictEqual([ends, closed], [["interrupted"], [1]])
        yield* peer.hangUp
      }).pipe(Effect.scoped, Effect.provide(serve(features, { session })))
      assert.lengthOf(closed, MAX_EARLIER + 2)
    }))

  it.scoped("is pinged in place of the old client", () =>
    Effect.gen(function*() {
      const peer = yield* TestPeer.client()
      yield* peer.initialize()
      yield* TestClock.adjust("9 seconds")
      yield* peer.initialize()
      yield* TestClock.adjust("10 seconds")
      const { id } = yield* peer.expectRequest("ping")
      yield* peer.send(Message.success(id, {}))
      assert.deepStrictEqual(yield* names(peer), ["greet"])
    }).pipe(Effect.provide(serve(GreetLive, { heartbeat: { interval: "10 seconds" } }))))

  it.scoped("sees the transport end for all, with an answer for each request that runs", () =>
    Effect.gen(function*() {
      const { closed, session } = visits()
      const { features } = yield* gated
      const answered = yield* Queue.unbounded<unknown>()
      const serving = yield* Effect.fork(
        Effect.gen(function*() {
          const peer = yield* uninitialized
          yield* peer.initialize()
          yield* call(peer, "wait")
          yield* peer.initialize()
          yield* call(peer, "wait")
          return peer
        }).pipe(
          Effect.flatMap((peer) => Effect.as(Queue.offer(answered, peer), peer)),
          Effect.zipRight(Effect.never),
          Effect.scoped,
          Effect.provide(serve(features, { session }))
        )
      )
      yield* Queue.take(answered)
      yield* Fiber.interrupt(serving)
      assert.deepStrictEqual([...closed].sort(), [1, 2])
    }))
})

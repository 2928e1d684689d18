import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Message from "@effect-mcp/core/Message"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import type { Channel } from "@effect-mcp/core/Side"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Exit, Fiber, FiberRef, Layer, Queue, Scope } from "effect"
import type * as RequestOrigin from "../../src/server/runtime/RequestOrigin.js"
import * as Entrances from "./Entrances.js"
import { act, call, GreetLive, names, serve, until } from "./Serving.js"

/** A channel beside the pipe, and what has left on it. */
const beside = (facts?: RequestOrigin.RequestOrigin) =>
  Effect.map(Queue.unbounded<Message.Message>(), (answers) => {
    const channel: Channel = {
      send: (message) => Effect.sync(() => Queue.unsafeOffer(answers, message)),
      unsafeSend: (message) => Queue.unsafeOffer(answers, message),
      ...(facts === undefined ? undefined : { origin: facts })
    }
    return { channel, next: Queue.take(answers), size: Queue.size(answers) }
  })

const hello = Message.request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "0.0.0" }
})

/** A conversation that is open and fed with what the client at its pipe says, until the scope closes. */
const opened = Effect.gen(function*() {
  const dispatcher = yield* Entrances.entrances
  const [mine, theirs] = yield* Transport.memory()
  const byServer = yield* Deferred.make<void>()
  const conversation = dispatcher.open(theirs, () => Deferred.unsafeDone(byServer, Effect.void))
  yield* Effect.addFinalizer(() => conversation.close)
  yield* Effect.forkScoped(Effect.interruptible(Transport.run(theirs, conversation.receive)))
  return { conversation, byServer, peer: yield* TestPeer.make(mine) }
})

describe("`open` of a dispatcher", () => {
  it.scoped("begins a conversation over a transport, and reports its version and its requests in flight", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const { conversation, peer } = yield* opened
        assert.deepStrictEqual([conversation.version(), conversation.inFlight()], [undefined, 0])
        assert.strictEqual(dispatcher.conversations(), 1)
        yield* peer.initialize({ version: "2025-03-26" })
        assert.strictEqual(conversation.version(), "2025-03-26")
        const id = yield* call(peer, "act")
        yield* peer.expectSilence
        assert.strictEqual(conversation.inFlight(), 1)
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(id)
        assert.strictEqual(conversation.inFlight(), 0)
      }).pipe(Effect.provide(serve(act(Deferred.await(gate)))))
    }))

  it.scoped("handles messages that are passed to receive, and answers each on its channel", () =>
    Effect.gen(function*() {
      const { conversation, peer } = yield* opened
      const [one, two] = yield* Effect.all([beside(), beside()])
      conversation.receive(hello, one.channel)
      assert.deepInclude(yield* one.next, { id: 1 })
      conversation.receive(Message.notification("notifications/initialized"), two.channel)
      // Equal ids on two channels are two requests.
      for (const { channel } of [one, two]) conversation.receive(Message.request(7, "tools/list"), channel)
      assert.deepInclude(yield* one.next, { id: 7 })
      assert.deepInclude(yield* two.next, { id: 7 })
      assert.deepStrictEqual(yield* names(peer), ["greet"])
      assert.deepStrictEqual([yield* one.size, yield* two.size], [0, 0])
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("sends on the channel of a request, and outside of requests on the transport", () =>
    Effect.gen(function*() {
      const live = act(Effect.gen(function*() {
        const session = yield* ServerSession
        yield* session.progress(1)
        yield* session.standalone.notify("notifications/example/all")
        yield* Effect.orDie(session.request("ping"))
      }))
      yield* Effect.gen(function*() {
        const { conversation, peer } = yield* opened
        yield* peer.initialize()
        const { channel, next } = yield* beside()
        conversation.receive(Message.request(1, "tools/call", { name: "act", _meta: { progressToken: 7 } }), channel)
        assert.deepInclude(yield* next, { method: "notifications/progress" })
        const ping = (yield* next) as Message.Request
        assert.strictEqual(ping.method, "ping")
        yield* peer.expectNotification("notifications/example/all")
        // The answer may come over any channel of the conversation.
        const other = yield* beside()
        conversation.receive(Message.success(ping.id, {}), other.channel)
        assert.deepInclude(yield* next, { id: 1 })
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("gives handlers the origin of each message", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      let closed = 0
      const live = act(Effect.gen(function*() {
        const { client: { sessionId }, closeStream, headers, principal } = yield* RequestContext
        seen.push([headers["x-tenant"], principal?.id, sessionId])
        yield* closeStream
      }))
      yield* Effect.gen(function*() {
        const { conversation, peer } = yield* opened
        yield* peer.initialize()
        yield* peer.expectResult(yield* call(peer, "act"))
        const { channel, next } = yield* beside({
          sessionId: "s1",
          headers: { "x-tenant": "a" },
          principal: { id: "ada" },
          closeStream: Effect.sync(() => closed++)
        })
        conversation.receive(Message.request(1, "tools/call", { name: "act" }), channel)
        yield* next
        assert.deepStrictEqual(seen, [[undefined, undefined, undefined], ["a", "ada", "s1"]])
        assert.strictEqual(closed, 1)
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("ends when it is closed, once or twice: its handlers are interrupted, their requests answered", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const { byServer, conversation, peer } = yield* opened
        yield* peer.initialize()
        const { channel, next } = yield* beside()
        conversation.receive(Message.request(1, "tools/call", { name: "act" }), channel)
        yield* Deferred.await(started)
        yield* Effect.all([conversation.close, conversation.close], { concurrency: 2 })
        assert.deepInclude(yield* next, { id: 1, error: { code: -32000, message: "Connection closed" } })
        assert.strictEqual(dispatcher.conversations(), 0)
        assert.isFalse(yield* Deferred.isDone(byServer))
      }).pipe(Effect.provide(serve(act(Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)))))
    }))

  it.scoped("ends with the server, and calls onEnd", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      const forever = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      const serverScope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(serve(act(forever)), serverScope)
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const { byServer, peer } = yield* opened
        yield* peer.initialize()
        const id = yield* call(peer, "act")
        yield* Deferred.await(started)
        yield* Scope.close(serverScope, Exit.void)
        yield* Deferred.await(stopped)
        yield* Deferred.await(byServer)
        assert.deepStrictEqual(yield* peer.expectError(id), { code: -32000, message: "Connection closed" })
        assert.strictEqual(dispatcher.conversations(), 0)
      }).pipe(Effect.provide(context))
    }))

  it.scoped("ends at once after the server has closed, calls onEnd, and runs no handler", () =>
    Effect.gen(function*() {
      let runs = 0
      const serverScope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(serve(act(Effect.sync(() => runs++))), serverScope)
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        yield* Scope.close(serverScope, Exit.void)
        const { byServer, conversation } = yield* opened
        yield* Deferred.await(byServer)
        assert.strictEqual(dispatcher.conversations(), 0)
        const { channel, next } = yield* beside()
        const error = { code: -32000, message: "Connection closed" }
        for (const request of [hello, Message.request(2, "tools/call", { name: "act" })]) {
          conversation.receive(request, channel)
          assert.deepInclude(yield* next, { id: request.id, error })
        }
        assert.deepStrictEqual([runs, dispatcher.conversations()], [0, 0])
      }).pipe(Effect.provide(context))
    }))

  it.scoped("does not call onEnd when the server closes after it was closed, and before it has ended", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const slow = Effect.uninterruptible(Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(gate)))
      const serverScope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(serve(act(slow)), serverScope)
      yield* Effect.gen(function*() {
        const { byServer, conversation, peer } = yield* opened
        yield* peer.initialize()
        const id = yield* call(peer, "act")
        yield* Deferred.await(started)
        const closing = [yield* Effect.fork(conversation.close)]
        yield* Effect.yieldNow()
        closing.push(yield* Effect.fork(Scope.close(serverScope, Exit.void)))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(gate, undefined)
        for (const fiber of closing) yield* Fiber.join(fiber)
        yield* peer.expectError(id)
        assert.isFalse(yield* Deferred.isDone(byServer))
      }).pipe(Effect.provide(context))
    }))

  it.effect("runs in the context of the server, not of its caller", () =>
    Effect.gen(function*() {
      const who = FiberRef.unsafeMake("nobody")
      const seen: Array<string> = []
      const live = serve(act(Effect.map(FiberRef.get(who), (name) => seen.push(name))))
      yield* Effect.gen(function*() {
        const { peer } = yield* Effect.locally(opened, who, "the one who opens")
        yield* peer.initialize()
        yield* peer.expectResult(yield* call(peer, "act"))
        assert.deepStrictEqual(seen, ["the server"])
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(live, Layer.scopedDiscard(Effect.locallyScoped(who, "the server"))))
      )
    }))

  it.scoped("leaves nothing behind when it is opened and closed again", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      for (let i = 0; i < 10; i++) yield* Effect.scoped(Effect.flatMap(opened, ({ peer }) => peer.initialize()))
      yield* until(() => dispatcher.conversations() === 0)
    }).pipe(Effect.provide(serve(GreetLive))))
})

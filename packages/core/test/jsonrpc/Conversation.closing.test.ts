import { assert, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Outcome from "@effect-mcp/core/Outcome"
import * as Transport from "@effect-mcp/core/Transport"
import { Deferred, Effect, Exit, Fiber, Scope, Stream, TestClock } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import { all as pairs } from "./Pairs.js"
import { connect, peer, refusal, side } from "./ScriptedPeer.js"

const closed = (id: Message.RequestId) =>
  Message.failure(id, { code: JsonRpcError.UNAVAILABLE, message: "Connection closed" })

/** An uninterruptible handler, behind a gate. */
const stubborn = Effect.gen(function*() {
  const [came, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  return {
    serve: () =>
      Effect.uninterruptible(
        Deferred.succeed(came, undefined).pipe(Effect.zipRight(Deferred.await(go)), Effect.as({ done: true }))
      ),
    came: Deferred.await(came),
    go: Deferred.succeed(go, undefined)
  }
})

describe("closing a conversation", () => {
  it.scoped("interrupts the requests in flight and answers each once, while the peer still reads", () =>
    Effect.gen(function*() {
      const finalized: Array<unknown> = []
      const t = yield* connect(side({
        endless: ({ id }) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => finalized.push(id)))
      }))
      for (const id of [1, "a", 0]) yield* t.peer.request(id, "endless")
      yield* t.peer.received
      yield* t.closeScope
      assert.deepStrictEqual<unknown>(yield* t.peer.closed, [closed(1), closed("a"), closed(0)])
      assert.deepStrictEqual(finalized, [1, "a", 0])
      assert.strictEqual(t.conversation.inFlight(), 0)
      assert.deepStrictEqual(t.diagnostics, [])
    }))

  it.scoped("answers a request whose handler waits for the peer, too", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({
        nested: (_, incoming) => incoming.request("ask"),
        forgiving: (_, incoming) => Effect.orElseSucceed(incoming.request("ask"), () => ({ forgiven: true }))
      }))
      yield* t.peer.request(1, "nested")
      yield* t.peer.request(2, "forgiving")
      yield* t.peer.received
      yield* t.closeScope
      assert.deepStrictEqual<unknown>(yield* t.peer.closed, [closed(1), closed(2)])
      assert.deepStrictEqual(t.diagnostics, [])
    }))

  it.scoped("lets no call of a finalizer leave, and cancels no call of a handler", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({
        nested: (_, incoming) =>
          Effect.onInterrupt(incoming.request("ask"), () => Effect.ignore(incoming.request("late")))
      }))
      yield* t.peer.request(1, "nested")
      assert.deepInclude(yield* t.peer.receive, { method: "ask" })
      yield* t.closeScope
      assert.deepStrictEqual<unknown>(yield* t.peer.closed, [closed(1)])
    }))

  it.scoped("lets a finalizer send notifications, and answers after it", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({
        polite: (_, incoming) => Effect.onInterrupt(Effect.never, () => incoming.notify("goodbye"))
      }))
      yield* t.peer.request(1, "polite")
      yield* t.peer.received
      yield* t.closeScope
      assert.deepStrictEqual<unknown>(yield* t.peer.closed, [Message.notification("goodbye"), closed(1)])
    }))

  it.scoped("waits for handlers that cannot be interrupted", () =>
    Effect.gen(function*() {
      const work = yield* stubborn
      const t = yield* connect(side({ stubborn: work.serve }))
      yield* t.peer.request(1, "stubborn")
      yield* work.came
      const leaving = yield* Effect.fork(t.closeScope)
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual(leaving.unsafePoll(), null)
      yield* work.go
      yield* Fiber.join(leaving)
      assert.deepStrictEqual<unknown>(yield* t.peer.closed, [closed(1)])
      assert.deepStrictEqual(t.diagnostics, [])
    }))

  it.scoped("sends the result of a handler that has succeeded and is being released", () =>
    Effect.gen(function*() {
      const work = yield* stubborn
      const t = yield* connect(side({
        done: () => ({
          effect: Effect.succeed({ done: true }),
          reply: Outcome.fromExit,
          release: () => Effect.asVoid(work.serve())
        })
      }))
      yield* t.peer.request(1, "done")
      yield* work.came
      const leaving = yield* Effect.fork(t.closeScope)
      yield* Effect.yieldNow()
      yield* work.go
      yield* Fiber.join(leaving)
      assert.deepStrictEqual<unknown>(yield* t.peer.closed, [Message.success(1, { done: true })])
    }))

  for (const closeTimeout of [undefined, "1 second"] as const) {
    it.scoped(`answers for handlers that do not stop within ${closeTimeout ?? "5 seconds"}, and reports them`, () =>
      Effect.gen(function*() {
        const [request, notification, ended] = [yield* stubborn, yield* stubborn, yield* Deferred.make<void>()]
        const served = side({
          stubborn: () => ({
            effect: request.serve(),
            reply: Outcome.fromExit,
            release: () => Effect.asVoid(Deferred.succeed(ended, undefined))
          })
        }, () => Effect.asVoid(notification.serve()))
        const t = yield* connect(served, { closeTimeout })
        yield* t.peer.request(1, "stubborn")
        yield* t.peer.notify("stubborn too")
        yield* Effect.zipRight(request.came, notification.came)
        const closing = yield* Effect.fork(t.conversation.close)
        yield* TestClock.adjust(closeTimeout === undefined ? 4999 : 999)
        assert.strictEqual(closing.unsafePoll(), null)
        yield* TestClock.adjust(1)
        yield* Fiber.join(closing)
        assert.deepStrictEqual<unknown>(t.diagnostics, [
          { _tag: "Detached", method: "stubborn" },
          { _tag: "Detached", method: "stubborn too" }
        ])
        yield* request.go.pipe(Effect.zipRight(notification.go), Effect.zipRight(Deferred.await(ended)))
        yield* t.closeScope
        assert.deepStrictEqual<unknown>(yield* t.peer.closed, [closed(1)], "answered once")
        assert.strictEqual(t.conversation.inFlight(), 0)
      }))
  }

  it.scoped("answers with the code that its side has for requests that it cannot serve now", () =>
    Effect.gen(function*() {
      const served = side({
        waits: () => Effect.never,
        own: () => ({ effect: Effect.never, reply: Outcome.fromExit, closing: () => ({ result: { own: true } }) })
      })
      const t = yield* connect({ ...served, unavailableCode: ({ id }) => -Number(id) }, { maxInFlight: 1 })
      yield* t.peer.request(1, "own")
      yield* t.peer.request(2, "waits")
      while (t.conversation.inFlight() < 2) yield* Effect.yieldNow()
      yield* t.closeScope
      assert.sameDeepMembers<unknown>([...yield* t.peer.closed], [
        Message.success(1, { own: true }),
        Message.failure(2, { code: -2, message: "Connection closed" })
      ])
    }))

  it.scoped("waits no longer than that for a release or a report", () =>
    Effect.gen(function*() {
      const cut = yield* Deferred.make<void>()
      const t = yield* connect(
        side({
          released: () => ({ effect: Effect.succeed({}), reply: Outcome.fromExit, release: () => Effect.never })
        }),
        { report: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(cut, undefined)) }
      )
      yield* t.peer.request(1, "released")
      yield* t.peer.received
      const leaving = yield* Effect.fork(t.closeScope)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, closed(1))
      assert.strictEqual(leaving.unsafePoll(), null, "the report that the request was detached")
      yield* TestClock.adjust("5 seconds")
      yield* Effect.zipRight(Fiber.join(leaving), Deferred.await(cut))
    }))

  it.effect("waits no longer than that for a reader that does not stop", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const deaf: Transport.Transport = {
        incoming: Stream.fromEffect(Effect.uninterruptible(Effect.never)),
        send: () => Effect.void,
        unsafeSend: () => true
      }
      yield* Scope.extend(Conversation.make(deaf, side({})), scope)
      const leaving = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual(leaving.unsafePoll(), null)
      yield* TestClock.adjust(1)
      yield* Fiber.join(leaving)
    }))

  it.scoped("fails every call, drops every notification, refuses every request", () =>
    Effect.gen(function*() {
      const work = yield* stubborn
      const notified: Array<string> = []
      const t = yield* connect(side({ stubborn: work.serve }, ({ method }) => Effect.sync(() => notified.push(method))))
      const call = yield* Effect.fork(refusal(t.conversation.request("m")))
      yield* t.peer.receive
      yield* t.peer.request(1, "stubborn")
      yield* work.came
      const closing = yield* Effect.fork(t.conversation.close)
      assert.strictEqual((yield* Fiber.join(call))._tag, "ConnectionClosed")
      assert.strictEqual((yield* refusal(t.conversation.request("late")))._tag, "ConnectionClosed")
      yield* t.conversation.notify("late")
      yield* t.peer.notify("late")
      yield* t.peer.request(2, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, closed(2))
      yield* work.go
      yield* Fiber.join(closing)
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, closed(1))
      yield* t.peer.request(3, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, closed(3))
      assert.deepStrictEqual(notified, [])
    }))

  it.scoped("can be run any number of times, by any fiber, and ends the conversation once", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({ endless: () => Effect.never }))
      yield* t.peer.request(1, "endless")
      yield* t.peer.received
      yield* Effect.all(Array.from({ length: 100 }, () => t.conversation.close), { concurrency: "unbounded" })
      yield* t.conversation.ended
      yield* t.conversation.close
      yield* t.closeScope
      assert.deepStrictEqual<unknown>(yield* t.peer.closed, [closed(1)])
    }))

  it.scoped("continues when the fiber that ran it is interrupted", () =>
    Effect.gen(function*() {
      const work = yield* stubborn
      const t = yield* connect(side({ stubborn: work.serve }))
      yield* t.peer.request(1, "stubborn")
      yield* work.came
      const closing = yield* Effect.fork(t.conversation.close)
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(closing)
      yield* work.go
      yield* t.conversation.ended
    }))

  for (const how of ["close", "leave"] as const) {
    it.scoped(`can be run by a handler, through ${how}, which is then interrupted like the others`, () =>
      Effect.gen(function*() {
        const t: Effect.Effect.Success<ReturnType<typeof connect>> = yield* connect(side({
          quit: (): Effect.Effect<unknown> => Effect.as(how === "close" ? t.conversation.close : t.closeScope, {})
        }, (): Effect.Effect<void> => how === "close" ? t.conversation.close : t.closeScope))
        yield* t.peer.request(1, "quit")
        yield* t.peer.notify("quit")
        yield* t.conversation.ended
        assert.deepStrictEqual(t.diagnostics, [])
        yield* t.closeScope
        assert.isAtMost((yield* t.peer.closed).length, 1)
      }))
  }
})

describe("a peer that closes the pipe", () => {
  it.scoped("ends the conversation: handlers are interrupted, nothing is written, calls fail", () =>
    Effect.gen(function*() {
      const gone = yield* Deferred.make<void>()
      const t = yield* connect(side({
        endless: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(gone, undefined))
      }))
      yield* t.peer.request(1, "endless")
      const call = yield* Effect.fork(refusal(t.conversation.request("m")))
      yield* t.peer.receive
      yield* t.peer.disconnect
      yield* t.conversation.ended
      yield* Deferred.await(gone)
      assert.strictEqual((yield* Fiber.join(call))._tag, "ConnectionClosed")
      assert.strictEqual((yield* refusal(t.conversation.request("late")))._tag, "ConnectionClosed")
      assert.deepStrictEqual(yield* t.peer.closed, [])
      assert.deepStrictEqual(t.diagnostics, [])
    }))

  it.scoped("has all its earlier messages handled first", () =>
    Effect.gen(function*() {
      const notified: Array<string> = []
      const t = yield* connect(side({}, ({ method }) => Effect.sync(() => notified.push(method))))
      for (const method of ["a", "b"]) t.peer.transport.unsafeSend(Message.notification(method))
      yield* t.peer.disconnect
      yield* t.conversation.ended
      assert.deepStrictEqual(notified, ["a", "b"])
    }))

  for (
    const [name, incoming, reason] of [
      ["fails", Stream.fail(new LocalError.TransportError({ reason: "Read", message: "broken" })), "broken"],
      ["dies", Stream.die("bug"), "The transport died"]
    ] as const
  ) {
    it.scoped(`makes ended fail when the pipe ${name}`, () =>
      Effect.gen(function*() {
        const [here] = yield* Transport.memory()
        const { send, unsafeSend } = here
        const conversation = yield* Conversation.make({ incoming, send, unsafeSend }, side({}))
        const error = yield* Effect.flip(conversation.ended)
        assert.deepInclude(error, { _tag: "TransportError", reason: "Read", message: reason })
        assert.deepInclude(yield* refusal(conversation.request("m")), { _tag: "ConnectionClosed", cause: error })
      }))
  }

  it.scoped("is not a failure when the reader of the pipe is interrupted", () =>
    Effect.gen(function*() {
      const [here] = yield* Transport.memory()
      const conversation = yield* Conversation.make({ ...here, run: () => Effect.interrupt }, side({}))
      yield* conversation.ended
      const error = yield* refusal(conversation.request("m"))
      assert.deepStrictEqual([error._tag, error.cause], ["ConnectionClosed", undefined])
    }))

  it.scoped("ends the conversation when the pipe cannot be read at all", () =>
    Effect.gen(function*() {
      const [here] = yield* Transport.memory()
      const bug = () => {
        throw new Error("bug")
      }
      const conversation = yield* Conversation.make({ ...here, run: bug }, side({}))
      assert.strictEqual((yield* Effect.flip(conversation.ended)).message, "The transport died")
    }))

  it.scoped("ends the conversation when the pipe can no longer be written either", () =>
    Effect.gen(function*() {
      const fault = new LocalError.TransportError({ reason: "Write", message: "EPIPE" })
      const transport = yield* Transport.make({ incoming: Stream.never, write: () => Effect.fail(fault) })
      const conversation = yield* Conversation.make(transport, side({}))
      const error = yield* refusal(conversation.request("m"))
      assert.deepInclude(error, { _tag: "ConnectionClosed", cause: fault })
      assert.strictEqual(yield* Effect.flip(conversation.ended), fault)
    }))
})

describe("closing leaves no fiber and no timer", () => {
  for (const pair of pairs) {
    for (const order of ["left first", "right first", "both at once", "pipe first"] as const) {
      it.effect(`over ${pair.name}, ${order}`, () =>
        leavesNothing(Effect.gen(function*() {
          const pipe = yield* Scope.make()
          const [left, right] = yield* Scope.extend(pair.open, pipe)
          const served = side({
            endless: () => Effect.never,
            nested: (_, incoming) => incoming.request("endless", {}, { timeout: "1 hour" })
          }, () => Effect.never)
          const open = Effect.fnUntraced(function*(end: typeof left) {
            const scope = yield* Scope.make()
            const conversation = yield* Effect.flatMap(end, (transport) => Conversation.make(transport, served)).pipe(
              Scope.extend(scope)
            )
            return { conversation, close: Scope.close(scope, Exit.void) }
          })
          const sides = [yield* open(left), yield* open(right)] as const
          const calls: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
          for (const { conversation } of sides) {
            yield* conversation.notify("endless")
            for (const method of ["endless", "nested"]) {
              const onProgress = () => Effect.never
              calls.push(yield* Effect.fork(conversation.request(method, {}, { timeout: "1 hour", onProgress })))
            }
          }
          while (sides.some(({ conversation }) => conversation.inFlight() < 3)) yield* Effect.yieldNow()
          const [one, two] = order === "right first" ? [sides[1], sides[0]] : sides
          if (order === "pipe first") yield* Scope.close(pipe, Exit.void)
          yield* Effect.all([one.close, two.close], order === "both at once" ? { concurrency: 2 } : {})
          for (const call of calls) assert.isTrue(Exit.isFailure(yield* Fiber.await(call)))
          for (const { conversation } of sides) {
            yield* Effect.ignore(conversation.ended)
            assert.deepStrictEqual([conversation.inFlight(), conversation.pending()], [0, 0])
          }
          yield* Scope.close(pipe, Exit.void)
        })))
    }
  }

  it.effect("of a conversation without a message", () =>
    leavesNothing(Effect.gen(function*() {
      const [here, there] = yield* Transport.memory()
      yield* Conversation.make(here, side({}), { timeout: 100 })
      yield* peer(there)
    })))
})

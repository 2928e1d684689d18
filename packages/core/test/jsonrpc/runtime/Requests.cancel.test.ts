import { assert, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as Outcome from "@effect-mcp/core/Outcome"
import type * as Side from "@effect-mcp/core/Side"
import { Cause, Deferred, Effect, Exit, Queue } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import { connect, endless, refusal, side } from "../ScriptedPeer.js"

describe("notifications/cancelled", () => {
  for (const id of [1, 0, "", "0", "x", -1]) {
    it.scoped(`SHOULD stop the request ${JSON.stringify(id)}, and SHOULD NOT answer it`, () =>
      Effect.gen(function*() {
        const work = yield* endless
        const t = yield* connect(side({ endless: work.serve }))
        yield* t.peer.request(id, "endless")
        yield* t.peer.cancel(id)
        yield* work.stops(1)
        assert.deepStrictEqual(yield* t.peer.received, [])
        assert.strictEqual(t.conversation.inFlight(), 0)
        assert.deepStrictEqual(t.diagnostics, [])
        yield* t.peer.request(id, "ping")
        assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(id, {}))
      }))
  }

  it.scoped("stops a request once, however often it is cancelled: a fiber keeps the cause of each interruption", () =>
    Effect.gen(function*() {
      const causes = yield* Queue.unbounded<number>()
      const started = yield* Deferred.make<void>()
      const wait = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
      const t = yield* connect(side({
        wait: () =>
          Effect.onExit(wait, (exit) => Queue.offer(causes, Exit.isFailure(exit) ? Cause.size(exit.cause) : 0))
      }))
      yield* t.peer.request(1, "wait")
      yield* Deferred.await(started)
      for (let i = 0; i < 100; i++) {
        t.conversation.receive(Message.notification("notifications/cancelled", { requestId: 1 }))
      }
      assert.isAtMost(yield* Queue.take(causes), 2)
    }))

  it.scoped("stops that request only", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* connect(side({ endless: work.serve }))
      for (const id of [1, 2, 3]) yield* t.peer.request(id, "endless")
      yield* t.peer.cancel(2)
      yield* work.stops(1)
      assert.deepStrictEqual(work.stopped, [2])
      yield* t.peer.received
      assert.strictEqual(t.conversation.inFlight(), 2)
    }))

  for (const [id, cancelled] of [[7, "7"], ["7", 7]] as const) {
    it.scoped(`stops ${JSON.stringify(id)} when it names ${JSON.stringify(cancelled)}`, () =>
      Effect.gen(function*() {
        const work = yield* endless
        const t = yield* connect(side({ endless: work.serve }))
        yield* t.peer.request(id, "endless")
        yield* t.peer.cancel(cancelled)
        yield* work.stops(1)
        assert.deepStrictEqual(work.stopped, [id])
      }))
  }

  it.scoped("stops the exact id when both forms are in flight", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* connect(side({ endless: work.serve }))
      yield* t.peer.request(7, "endless")
      yield* t.peer.request("7", "endless")
      yield* t.peer.cancel("7")
      yield* work.stops(1)
      yield* t.peer.cancel(7)
      yield* work.stops(2)
      assert.deepStrictEqual(work.stopped, ["7", 7])
    }))

  for (const id of [2, "x", "", "01", true, false, null, undefined, 1.5, {}, [1]]) {
    it.scoped(`MAY be ignored when it names ${JSON.stringify(id) ?? "nothing"}, and 1 is in flight`, () =>
      Effect.gen(function*() {
        const work = yield* endless
        const t = yield* connect(side({ endless: work.serve }))
        yield* t.peer.request(1, "endless")
        yield* t.peer.cancel(id)
        assert.deepStrictEqual(yield* t.peer.received, [])
        yield* Effect.yieldNow()
        assert.deepStrictEqual(work.stopped, [])
        assert.strictEqual(t.conversation.inFlight(), 1)
      }))
  }

  it.scoped("MAY be ignored when the request is answered, or has no params at all", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      yield* t.peer.request(1, "ping")
      yield* t.peer.receive
      yield* t.peer.cancel(1)
      yield* t.peer.notify("notifications/cancelled")
      assert.deepStrictEqual(yield* t.peer.received, [])
      assert.deepStrictEqual(t.diagnostics, [])
    }))

  it.scoped("is passed to the notification handler as well, whether the id is known or not", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const notified: Array<unknown> = []
      const t = yield* connect(side({ endless: work.serve }, ({ params }) => {
        notified.push(params?.requestId)
        return undefined
      }))
      yield* t.peer.request(1, "endless")
      for (const id of [1, 2, null]) yield* t.peer.cancel(id)
      yield* work.stops(1)
      assert.deepStrictEqual(notified, [1, 2, null])
    }))

  it.scoped("never overtakes its request", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* connect(side({ endless: work.serve }))
      for (let id = 1; id <= 60; id++) {
        yield* t.peer.request(id, "endless")
        yield* t.peer.cancel(id)
      }
      yield* work.stops(60)
      assert.deepStrictEqual(yield* t.peer.received, [])
      assert.deepStrictEqual(work.started, work.stopped)
      assert.strictEqual(work.started.length, 60)
    }))

  it.scoped("stops a request that is cancelled in its own first steps", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const t = yield* connect((outbound) =>
        side({
          suicide: ({ id }) =>
            Effect.zipRight(
              Effect.sync(() =>
                outbound.receive(
                  Message.notification("notifications/cancelled", { requestId: id })
                )
              ),
              Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
            ),
          done: ({ id }) =>
            Effect.sync(() => {
              const note = Message.notification("notifications/cancelled", { requestId: id })
              outbound.receive(note)
              return { too: "late" }
            })
        })
      )
      t.conversation.receive(Message.request(1, "suicide"))
      yield* Deferred.await(stopped)
      t.conversation.receive(Message.request(2, "done"))
      assert.deepStrictEqual(yield* t.peer.received, [])
      assert.strictEqual(t.conversation.inFlight(), 0)
    }))
})

describe("a cancelled request", () => {
  const endings: ReadonlyArray<readonly [name: string, ending: Effect.Effect<unknown, unknown>]> = [
    ["succeeds", Effect.succeed({ late: true })],
    ["fails", new JsonRpcError.JsonRpcError({ code: 5, message: "late" })],
    ["dies", Effect.die("late")]
  ]

  for (const [name, ending] of endings) {
    it.scoped(`is not answered when its handler ${name} afterwards, and keeps its id until then`, () =>
      Effect.gen(function*() {
        const [came, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const ended = yield* Deferred.make<void>()
        const t = yield* connect(side({
          stubborn: () => ({
            effect: Effect.uninterruptible(
              Deferred.succeed(came, undefined).pipe(Effect.zipRight(Deferred.await(go)), Effect.zipRight(ending))
            ),
            reply: Outcome.fromExit,
            release: () => Effect.asVoid(Deferred.succeed(ended, undefined))
          })
        }))
        yield* t.peer.request(1, "stubborn")
        yield* Deferred.await(came)
        yield* t.peer.cancel(1)
        yield* t.peer.received
        assert.strictEqual(t.conversation.inFlight(), 1)
        yield* Deferred.succeed(go, undefined)
        yield* Deferred.await(ended)
        assert.deepStrictEqual(yield* t.peer.received, [])
        assert.strictEqual(t.conversation.inFlight(), 0)
      }))
  }

  it.scoped("does not run its reply", () =>
    Effect.gen(function*() {
      const came = yield* Deferred.make<void>()
      const released = yield* Deferred.make<void>()
      let replies = 0
      const t = yield* connect(side({
        endless: () => ({
          effect: Effect.zipRight(Deferred.succeed(came, undefined), Effect.never),
          reply: (exit) => {
            replies++
            return Outcome.fromExit(exit)
          },
          release: () => Effect.asVoid(Deferred.succeed(released, undefined))
        })
      }))
      yield* t.peer.request(1, "endless")
      yield* Deferred.await(came)
      yield* t.peer.cancel(1)
      yield* Deferred.await(released)
      yield* t.peer.received
      assert.strictEqual(replies, 0)
    }))

  it.scoped("sends nothing more: notifications of its finalizers are dropped and their requests refused", () =>
    Effect.gen(function*() {
      const requests = yield* Deferred.make<Side.IncomingRequest>()
      const refused = yield* Deferred.make<string>()
      const t = yield* connect(side({
        talkative: (_, incoming) =>
          Effect.onInterrupt(
            Effect.zipRight(Deferred.succeed(requests, incoming), Effect.never),
            () =>
              Effect.zipRight(
                incoming.notify("goodbye"),
                Effect.flatMap(refusal(incoming.request("why")), ({ _tag }) => Deferred.succeed(refused, _tag))
              )
          )
      }))
      yield* t.peer.request(1, "talkative")
      yield* Deferred.await(requests)
      yield* t.peer.cancel(1)
      assert.strictEqual(yield* Deferred.await(refused), "NoBackChannel")
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))

  it.scoped("cancels the requests that it had sent to its sender", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({ nested: (_, incoming) => incoming.request("why") }))
      yield* t.peer.request(5, "nested")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.request(1, "why"))
      yield* t.peer.cancel(5)
      const notified = (yield* t.peer.receive) as Message.Notification
      assert.deepInclude(notified, { method: "notifications/cancelled" })
      assert.strictEqual(notified.params?.requestId, 1)
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))

  it.scoped("continues when it is not cancellable, and is answered", () =>
    Effect.gen(function*() {
      const [came, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const t = yield* connect(side({
        initialize: () => ({
          effect: Deferred.succeed(came, undefined).pipe(Effect.zipRight(Deferred.await(go)), Effect.as({ ok: true })),
          reply: Outcome.fromExit,
          cancellable: false
        })
      }))
      yield* t.peer.request(0, "initialize")
      yield* Deferred.await(came)
      yield* t.peer.cancel(0)
      yield* t.peer.received
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(0, { ok: true }))
    }))
})

describe("the reason of a cancel", () => {
  const reasons: ReadonlyArray<readonly [name: string, sent: unknown, seen: string | undefined]> = [
    ["is seen by the finalizers of the handler", "the user has left", "the user has left"],
    ["is cut to 1,024 characters", "x".repeat(5000), "x".repeat(1024)],
    ["is absent when the peer gives none", undefined, undefined],
    ["is absent when it is not a text", { a: 1 }, undefined]
  ]
  for (const [name, reason, expected] of reasons) {
    it.scoped(name, () =>
      Effect.gen(function*() {
        const seen = yield* Deferred.make<readonly [before: string | undefined, after: string | undefined]>()
        const t = yield* connect(side({
          work: (_, incoming) => {
            const before = incoming.cancelReason
            return Effect.onInterrupt(Effect.never, () => Deferred.succeed(seen, [before, incoming.cancelReason]))
          }
        }))
        yield* t.peer.request(1, "work")
        yield* t.peer.notify("notifications/cancelled", { requestId: 1, reason })
        assert.deepStrictEqual(yield* Deferred.await(seen), [undefined, expected])
      }))
  }
})

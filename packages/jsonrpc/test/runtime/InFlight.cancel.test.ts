import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type * as Side from "@effect-mcp/jsonrpc/Side"
import { Deferred, Effect } from "effect"
import { endless, refusal, side, talk } from "../Talk.js"

describe("notifications/cancelled", () => {
  for (const id of [1, 0, "", "0", "x", -1]) {
    it.scoped(`SHOULD stop the request ${JSON.stringify(id)}, and SHOULD NOT answer it`, () =>
      Effect.gen(function*() {
        const work = yield* endless
        const t = yield* talk(side({ endless: work.serve }))
        yield* t.peer.ask(id, "endless")
        yield* t.peer.cancel(id)
        yield* work.stops(1)
        assert.deepStrictEqual(yield* t.peer.heard, [])
        assert.strictEqual(t.conversation.inFlight(), 0)
        assert.deepStrictEqual(t.diagnostics, [])
        yield* t.peer.ask(id, "ping")
        assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(id, {}))
      }))
  }

  it.scoped("stops that request only", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* talk(side({ endless: work.serve }))
      for (const id of [1, 2, 3]) yield* t.peer.ask(id, "endless")
      yield* t.peer.cancel(2)
      yield* work.stops(1)
      assert.deepStrictEqual(work.stopped, [2])
      yield* t.peer.heard
      assert.strictEqual(t.conversation.inFlight(), 2)
    }))

  for (const [asked, cancelled] of [[7, "7"], ["7", 7]] as const) {
    it.scoped(`stops ${JSON.stringify(asked)} when it says ${JSON.stringify(cancelled)}`, () =>
      Effect.gen(function*() {
        const work = yield* endless
        const t = yield* talk(side({ endless: work.serve }))
        yield* t.peer.ask(asked, "endless")
        yield* t.peer.cancel(cancelled)
        yield* work.stops(1)
        assert.deepStrictEqual(work.stopped, [asked])
      }))
  }

  it.scoped("stops the exact id when both forms are in flight", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* talk(side({ endless: work.serve }))
      yield* t.peer.ask(7, "endless")
      yield* t.peer.ask("7", "endless")
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
        const t = yield* talk(side({ endless: work.serve }))
        yield* t.peer.ask(1, "endless")
        yield* t.peer.cancel(id)
        assert.deepStrictEqual(yield* t.peer.heard, [])
        yield* Effect.yieldNow()
        assert.deepStrictEqual(work.stopped, [])
        assert.strictEqual(t.conversation.inFlight(), 1)
      }))
  }

  it.scoped("MAY be ignored when the request is answered, or has no params at all", () =>
    Effect.gen(function*() {
      const t = yield* talk()
      yield* t.peer.ask(1, "ping")
      yield* t.peer.hear
      yield* t.peer.cancel(1)
      yield* t.peer.tell("notifications/cancelled")
      assert.deepStrictEqual(yield* t.peer.heard, [])
      assert.deepStrictEqual(t.diagnostics, [])
    }))

  it.scoped("is heard by the notification handler as well, known or not", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const told: Array<unknown> = []
      const t = yield* talk(side({ endless: work.serve }, ({ params }) => {
        told.push(params?.requestId)
        return undefined
      }))
      yield* t.peer.ask(1, "endless")
      for (const id of [1, 2, null]) yield* t.peer.cancel(id)
      yield* work.stops(1)
      assert.deepStrictEqual(told, [1, 2, null])
    }))

  it.scoped("never overtakes its request", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* talk(side({ endless: work.serve }))
      for (let id = 1; id <= 60; id++) {
        yield* t.peer.ask(id, "endless")
        yield* t.peer.cancel(id)
      }
      yield* work.stops(60)
      assert.deepStrictEqual(yield* t.peer.heard, [])
      assert.deepStrictEqual(work.started, work.stopped)
      assert.strictEqual(work.started.length, 60)
    }))

  it.scoped("stops a request that cancels itself in its own first steps", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const t = yield* talk((outbound) =>
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
      assert.deepStrictEqual(yield* t.peer.heard, [])
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
    it.scoped(`is not answered when its handler ${name} afterwards, and takes its place until then`, () =>
      Effect.gen(function*() {
        const [came, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const ended = yield* Deferred.make<void>()
        const t = yield* talk(side({
          stubborn: () => ({
            effect: Effect.uninterruptible(
              Deferred.succeed(came, undefined).pipe(Effect.zipRight(Deferred.await(go)), Effect.zipRight(ending))
            ),
            reply: Outcome.fromExit,
            release: () => Effect.asVoid(Deferred.succeed(ended, undefined))
          })
        }))
        yield* t.peer.ask(1, "stubborn")
        yield* Deferred.await(came)
        yield* t.peer.cancel(1)
        yield* t.peer.heard
        assert.strictEqual(t.conversation.inFlight(), 1)
        yield* Deferred.succeed(go, undefined)
        yield* Deferred.await(ended)
        assert.deepStrictEqual(yield* t.peer.heard, [])
        assert.strictEqual(t.conversation.inFlight(), 0)
      }))
  }

  it.scoped("is not asked for its answer", () =>
    Effect.gen(function*() {
      const came = yield* Deferred.make<void>()
      const released = yield* Deferred.make<void>()
      let asked = 0
      const t = yield* talk(side({
        endless: () => ({
          effect: Effect.zipRight(Deferred.succeed(came, undefined), Effect.never),
          reply: (exit) => {
            asked++
            return Outcome.fromExit(exit)
          },
          release: () => Effect.asVoid(Deferred.succeed(released, undefined))
        })
      }))
      yield* t.peer.ask(1, "endless")
      yield* Deferred.await(came)
      yield* t.peer.cancel(1)
      yield* Deferred.await(released)
      yield* t.peer.heard
      assert.strictEqual(asked, 0)
    }))

  it.scoped("says nothing more: its finalizers' notifications are dropped and their requests refused", () =>
    Effect.gen(function*() {
      const exchanges = yield* Deferred.make<Side.IncomingRequest>()
      const refused = yield* Deferred.make<string>()
      const t = yield* talk(side({
        talkative: (_, exchange) =>
          Effect.onInterrupt(
            Effect.zipRight(Deferred.succeed(exchanges, exchange), Effect.never),
            () =>
              Effect.zipRight(
                exchange.notify("goodbye"),
                Effect.flatMap(refusal(exchange.request("why")), ({ _tag }) => Deferred.succeed(refused, _tag))
              )
          )
      }))
      yield* t.peer.ask(1, "talkative")
      yield* Deferred.await(exchanges)
      yield* t.peer.cancel(1)
      assert.strictEqual(yield* Deferred.await(refused), "NoBackChannel")
      assert.deepStrictEqual(yield* t.peer.heard, [])
    }))

  it.scoped("cancels what it had asked its sender", () =>
    Effect.gen(function*() {
      const t = yield* talk(side({ nested: (_, exchange) => exchange.request("why") }))
      yield* t.peer.ask(5, "nested")
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.request(1, "why"))
      yield* t.peer.cancel(5)
      const told = (yield* t.peer.hear) as Message.Notification
      assert.deepInclude(told, { method: "notifications/cancelled" })
      assert.strictEqual(told.params?.requestId, 1)
      assert.deepStrictEqual(yield* t.peer.heard, [])
    }))

  it.scoped("goes on when it is not to be cancelled, and is answered", () =>
    Effect.gen(function*() {
      const [came, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const t = yield* talk(side({
        initialize: () => ({
          effect: Deferred.succeed(came, undefined).pipe(Effect.zipRight(Deferred.await(go)), Effect.as({ ok: true })),
          reply: Outcome.fromExit,
          cancellable: false
        })
      }))
      yield* t.peer.ask(0, "initialize")
      yield* Deferred.await(came)
      yield* t.peer.cancel(0)
      yield* t.peer.heard
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(0, { ok: true }))
    }))
})

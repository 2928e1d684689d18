import { assert, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as Outcome from "@effect-mcp/core/Outcome"
import type * as Side from "@effect-mcp/core/Side"
import { Deferred, Effect, Fiber } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import * as Requests from "../../../src/jsonrpc/runtime/Requests.js"
import { connect, endless, side } from "../ScriptedPeer.js"

describe("requests of their own", () => {
  it.scoped("are answered before those that wait for their end go on", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const requests = yield* Requests.make({
        limits: { running: 1, waiting: 1, text: 1000 },
        closeTimeout: 1000,
        report: () => Effect.void
      })
      const channel: Side.Channel = { send: () => Effect.void, unsafeSend: () => order.push("answer") > 0 }
      requests.start(channel, Message.request(1, "slow"), {
        onRequest: () => ({ effect: Deferred.await(gate), reply: () => ({ result: {} }) })
      })
      const waiting = yield* Effect.fork(Effect.map(requests.awaitIdle, () => order.push("idle")))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(order, ["answer", "idle"])
    }))

  it.scoped("are not started when they are abandoned while they wait, before those that run are", () =>
    Effect.gen(function*() {
      const begun: Array<Message.RequestId> = []
      const requests = yield* Requests.make({
        limits: { running: 1, waiting: 1, text: 1000 },
        closeTimeout: 1000,
        report: () => Effect.void
      })
      const channel: Side.Channel = { send: () => Effect.void, unsafeSend: () => true }
      for (const id of [1, 2]) {
        requests.start(channel, Message.request(id, "endless"), {
          onRequest: () => {
            begun.push(id)
            return { effect: Effect.never, reply: () => ({ result: {} }) }
          }
        })
      }
      requests.abandon(() => true)
      yield* requests.awaitIdle
      assert.deepStrictEqual(begun, [1])
    }))
})

describe("several channels in one conversation", () => {
  const channel = () => {
    const written: Array<Message.Message> = []
    const channel: Side.Channel = {
      send: (message) => Effect.sync(() => written.push(message)),
      unsafeSend: (message) => written.push(message) > 0
    }
    return { channel, written }
  }

  it.scoped("keep equal ids apart", () =>
    Effect.gen(function*() {
      const gates = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
      const t = yield* connect(side({
        echo: ({ params }, incoming) =>
          Effect.gen(function*() {
            yield* incoming.notify("note", params)
            yield* Deferred.await(gates[params!.n as number]!)
            return { n: params!.n }
          })
      }))
      const recorders = [channel(), channel()]
      recorders.forEach((recorder, n) => t.conversation.receive(Message.request(1, "echo", { n }), recorder.channel))
      assert.strictEqual(t.conversation.inFlight(), 2)
      for (const n of [1, 0]) {
        yield* Deferred.succeed(gates[n]!, undefined)
        while (t.conversation.inFlight() > n) yield* Effect.yieldNow()
      }
      for (const n of [0, 1]) {
        assert.deepStrictEqual<unknown>(recorders[n]!.written, [
          Message.notification("note", { n }),
          Message.success(1, { n })
        ])
      }
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))

  it.scoped("refuse an id that is in flight on the same channel, on that channel", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* connect(side({ endless: work.serve }))
      const recorder = channel()
      t.conversation.receive(Message.request(1, "endless"), recorder.channel)
      t.conversation.receive(Message.request(1, "ping"), recorder.channel)
      assert.deepInclude((recorder.written[0] as Message.Failure).error, { code: JsonRpcError.INVALID_REQUEST })
      yield* t.peer.request(1, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, {}))
    }))

  it.scoped("let a cancel reach the only request with its id, from any channel", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* connect(side({ endless: work.serve }))
      const recorders = [channel(), channel(), channel()]
      t.conversation.receive(Message.request("a", "endless"), recorders[0]!.channel)
      t.conversation.receive(Message.request(8, "endless"), recorders[1]!.channel)
      for (const requestId of ["a", "8"]) {
        t.conversation.receive(Message.notification("notifications/cancelled", { requestId }), recorders[2]!.channel)
      }
      yield* work.stops(2)
      yield* t.peer.received
      assert.deepStrictEqual(recorders.map(({ written }) => written.length), [0, 0, 0])
    }))

  for (const requestId of [1, "1"]) {
    it.scoped(`report a cancel of ${JSON.stringify(requestId)} that matches two requests, and stop neither`, () =>
      Effect.gen(function*() {
        const work = yield* endless
        const t = yield* connect(side({ endless: work.serve }))
        const recorders = [channel(), channel()]
        for (const recorder of recorders) t.conversation.receive(Message.request(1, "endless"), recorder.channel)
        yield* t.peer.cancel(requestId)
        assert.deepStrictEqual<unknown>(yield* t.diagnostic, { _tag: "AmbiguousCancel", id: requestId })
        yield* t.peer.received
        assert.deepStrictEqual(work.stopped, [])
        t.conversation.receive(Message.notification("notifications/cancelled", { requestId: 1 }), recorders[1]!.channel)
        yield* work.stops(1)
        yield* t.peer.received
        assert.strictEqual(t.conversation.inFlight(), 1)
      }))
  }

  /** Requests of no conversation, and a function that has each served by this effect. */
  const requests = (
    effect: Effect.Effect<unknown>,
    limits: Requests.Owner["limits"],
    options: { readonly perClient?: Requests.PerClient; readonly neverWaits?: (method: string) => boolean } = {}
  ) =>
    Effect.map(
      Requests.make({ limits, perClient: options.perClient, closeTimeout: 1000, report: () => Effect.void }),
      (requests) => ({
        requests,
        start: (channel: Side.Channel, request: Message.Request) =>
          requests.start(channel, request, {
            onRequest: () => ({ effect, reply: Outcome.fromExit }),
            neverWaits: options.neverWaits
          })
      })
    )

  it.scoped("are removed when no request is in flight on them", () =>
    Effect.gen(function*() {
      const limits = { running: 64, waiting: 64, text: 1024 }
      const { requests: all, start } = yield* requests(Effect.succeed({}), limits)
      for (let id = 0; id < 100; id++) assert.isDefined(start(channel().channel, Message.request(id, "m")))
      assert.isUndefined(all["channels"])
    }))

  it.scoped("leave no trace of a client whose only request never waits, when no place is free", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const clientOf = ({ origin }: Side.Channel) => origin as string | undefined
      const limits = { running: 2, waiting: 64, text: 1024 }
      const { requests: all, start } = yield* requests(Deferred.await(gate), limits, {
        neverWaits: (method) => method === "ping",
        perClient: { limit: 1, clientOf }
      })
      for (const _ of [1, 2]) start(channel().channel, Message.request(1, "m"))
      for (const origin of ["ada", "bob", "refused"]) {
        start({ ...channel().channel, origin }, Message.request(1, "ping"))
      }
      assert.strictEqual(all.size, 4)
      yield* Deferred.succeed(gate, undefined)
      while (all.size > 0) yield* Effect.yieldNow()
      assert.strictEqual(all["clients"]?.size ?? 0, 0)
    }))

  it.scoped("carry the requests on behalf of a request on its own channel, and their cancels", () =>
    Effect.gen(function*() {
      const fibers: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
      const t = yield* connect(side({
        nested: (_, incoming) =>
          Effect.flatMap(Effect.forkDaemon(incoming.request("why")), (fiber) => {
            fibers.push(fiber)
            return Fiber.join(fiber)
          })
      }))
      const recorder = channel()
      t.conversation.receive(Message.request(1, "nested"), recorder.channel)
      while (recorder.written.length === 0) yield* Effect.yieldNow()
      yield* Fiber.interrupt(fibers[0]!)
      while (t.conversation.inFlight() > 0) yield* Effect.yieldNow()
      assert.deepStrictEqual(
        recorder.written.map((message) => (message as Message.Request).method),
        ["why", "notifications/cancelled", undefined]
      )
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))

  it.scoped("are notified of the request that a cancel leaves without an answer", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* connect(side({ endless: work.serve }))
      const { channel: recorded, written } = channel()
      const unanswered: Array<Message.RequestId> = []
      t.conversation.receive(Message.request(1, "endless"), {
        ...recorded,
        onUnanswered: (id) => {
          unanswered.push(id)
          throw new Error("boom")
        }
      })
      yield* t.peer.cancel(1)
      yield* work.stops(1)
      yield* t.peer.received
      assert.deepStrictEqual(unanswered, [1])
      assert.deepStrictEqual(written, [])
      yield* t.peer.request(2, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(2, {}))
    }))

  it.scoped("may each refuse to carry requests", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({
        ask: (_, incoming) =>
          Effect.map(Effect.either(incoming.request("question")), (answer) => ({
            answer: answer._tag === "Left" ? answer.left.message : answer.right
          }))
      }))
      const { channel: recorded, written } = channel()
      t.conversation.receive(Message.request(1, "ask"), { ...recorded, canRequest: () => false })
      assert.include(JSON.stringify(written), "Cannot send")
      yield* t.peer.request(2, "ask")
      assert.deepInclude(yield* t.peer.receive, { method: "question" })
    }))
})

/**
 * The limits of a conversation for the requests of its peer: how many run, how many wait for a place, and what becomes of
 * those that wait.
 */
import { assert, it } from "@effect/vitest"
import type * as Conversation from "@effect-mcp/core/Conversation"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Outcome from "@effect-mcp/core/Outcome"
import type * as Side from "@effect-mcp/core/Side"
import { Deferred, Effect, FiberId } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import * as Requests from "../../../src/jsonrpc/runtime/Requests.js"
import * as EffectInternals from "../../../src/kit/EffectInternals.js"
import { connect, endless, side } from "../ScriptedPeer.js"

/** Methods that wait until the test lets them end, and the ids of the requests that have begun. */
const gated = Effect.gen(function*() {
  const gates = new Map<Message.RequestId, Deferred.Deferred<void>>()
  const begun: Array<Message.RequestId> = []
  const gate = (id: Message.RequestId) => {
    const found = gates.get(id) ?? Deferred.unsafeMake<void>(FiberId.none)
    gates.set(id, found)
    return found
  }
  return {
    begun,
    serve: ({ id }: Message.Request) =>
      Effect.suspend(() => {
        begun.push(id)
        return Effect.as(Deferred.await(gate(id)), { id })
      }),
    end: (id: Message.RequestId) => Deferred.succeed(gate(id), undefined)
  }
})

const refused = (id: Message.RequestId, running: number, waiting: number) =>
  Message.failure(id, {
    code: JsonRpcError.UNAVAILABLE,
    message:
      `Too many requests: ${running} are running and ${waiting} wait; send it again when another request is answered`
  })

const urgent = (served: Side.Side): Side.Side => ({ ...served, neverWaits: (method) => method === "ping" })

/** A conversation with two places, both taken by the requests 1 and 2. */
const full = (options: Conversation.Options = {}) =>
  Effect.gen(function*() {
    const work = yield* gated
    const t = yield* connect(urgent(side({ work: work.serve })), { maxInFlight: 2, ...options })
    yield* t.peer.request(1, "work")
    yield* t.peer.request(2, "work")
    while (work.begun.length < 2) yield* Effect.yieldNow()
    return { ...t, work }
  })

describe("requests beyond those that run", () => {
  it.scoped("wait, and run in order as soon as others end", () =>
    Effect.gen(function*() {
      const { conversation, peer, work } = yield* full()
      for (const id of [3, 4, 5]) yield* peer.request(id, "work")
      assert.deepStrictEqual(yield* peer.received, [])
      assert.deepStrictEqual(work.begun, [1, 2])
      assert.strictEqual(conversation.inFlight(), 5)
      yield* work.end(2)
      assert.deepStrictEqual<unknown>(yield* peer.receive, Message.success(2, { id: 2 }))
      assert.deepStrictEqual(work.begun, [1, 2, 3])
      yield* work.end(1)
      yield* work.end(3)
      assert.deepStrictEqual<unknown>(yield* peer.receive, Message.success(1, { id: 1 }))
      assert.deepStrictEqual<unknown>(yield* peer.receive, Message.success(3, { id: 3 }))
      assert.deepStrictEqual(work.begun, [1, 2, 3, 4, 5])
    }))

  it.scoped("all run when the requests before them end in their first steps", () =>
    Effect.gen(function*() {
      const work = yield* gated
      const t = yield* connect(side({ work: work.serve }), { maxInFlight: 1 })
      yield* t.peer.request("first", "work")
      for (let id = 1; id <= 1000; id++) yield* t.peer.request(id, "ping")
      yield* work.end("first")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success("first", { id: "first" }))
      for (let id = 1; id <= 1000; id++) assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(id, {}))
    }))

  it.scoped("run as a chain of 20,000, each beginning when the one before it was woken and has ended", () =>
    Effect.gen(function*() {
      let answered = 0
      const first = yield* Deferred.make<void>()
      let next = first
      const channel: Side.Channel = {
        send: () => Effect.void,
        unsafeSend: () => {
          answered++
          return true
        }
      }
      const requests = yield* Requests.make({
        limits: { running: 1, waiting: 20_000, text: Infinity },
        closeTimeout: 1000,
        report: () => Effect.void
      })
      for (let id = 1; id <= 20_000; id++) {
        const [before, own] = [next, next = Deferred.unsafeMake<void>(FiberId.none)]
        requests.start(channel, Message.request(id, "work"), {
          onRequest: () => ({
            effect: Effect.zipRight(Deferred.await(before), Effect.as(Deferred.succeed(own, undefined), {})),
            reply: Outcome.fromExit
          })
        })
      }
      EffectInternals.done(first, Effect.void)
      yield* requests.awaitIdle
      assert.strictEqual(answered, 20_000)
    }))

  it.scoped("are refused when too many wait: by default 64 run and 1,024 wait", () =>
    Effect.gen(function*() {
      const work = yield* gated
      const t = yield* connect(side({ work: work.serve }))
      for (let id = 1; id <= 64 + 1024; id++) yield* t.peer.request(id, "work")
      yield* t.peer.request("more", "work")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, refused("more", 64, 1024))
      assert.deepStrictEqual<unknown>(yield* t.diagnostic, { _tag: "Overloaded", method: "work", limit: 64 })
      yield* work.end(1)
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, { id: 1 }))
      yield* t.peer.request("more", "work")
      while (t.conversation.inFlight() < 64 + 1024) yield* Effect.yieldNow()
    }))

  it.scoped("are refused when the text of those that wait is too long, whether it was parsed or not", () =>
    Effect.gen(function*() {
      const { conversation, peer, work } = yield* full({ maxWaitingText: 20_000 })
      const ask = (id: number, length: number) => Message.request(id, "work", { text: "x".repeat(length) })
      conversation.receive(MessageText.parse(MessageText.stringify(ask(3, 9000))!))
      yield* peer.send(ask(4, 9000))
      yield* peer.send(ask(5, 9000))
      assert.deepStrictEqual<unknown>(yield* peer.receive, refused(5, 2, 2))
      yield* peer.send(ask(6, 100))
      yield* work.end(1)
      assert.deepStrictEqual<unknown>(yield* peer.receive, Message.success(1, { id: 1 }))
      // The first of them runs now, and its text no longer counts.
      yield* peer.send(ask(7, 9000))
      assert.deepStrictEqual(yield* peer.received, [])
      assert.deepStrictEqual(work.begun, [1, 2, 3])
    }))

  it.scoped("that never wait run at once, also when the limits are reached", () =>
    Effect.gen(function*() {
      const { peer } = yield* full({ maxWaiting: 1 })
      yield* peer.request(3, "work")
      for (let i = 0; i < 10; i++) {
        yield* peer.request("p", "ping")
        assert.deepStrictEqual<unknown>(yield* peer.receive, Message.success("p", {}))
      }
    }))

  it.scoped("that never wait are refused when as many of them run as requests may run", () =>
    Effect.gen(function*() {
      const work = yield* gated
      const slow = { ...side({ ping: work.serve }), neverWaits: () => true }
      const t = yield* connect(slow, { maxInFlight: 2 })
      for (let id = 1; id <= 4; id++) yield* t.peer.request(id, "ping")
      yield* t.peer.request(5, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, refused(5, 2, 0))
      assert.deepStrictEqual(work.begun, [1, 2, 3, 4])
    }))

  it.scoped("hold their ids while they wait", () =>
    Effect.gen(function*() {
      const { peer, work } = yield* full()
      yield* peer.request(3, "work")
      yield* peer.request(3, "work")
      const busy = { code: JsonRpcError.INVALID_REQUEST, message: "Invalid request: the id is already in flight" }
      assert.deepStrictEqual<unknown>(yield* peer.receive, Message.failure(3, busy))
      yield* work.end(1)
      yield* work.end(3)
      assert.deepStrictEqual<unknown>(yield* peer.receive, Message.success(1, { id: 1 }))
      assert.deepStrictEqual<unknown>(yield* peer.receive, Message.success(3, { id: 3 }))
    }))

  it.scoped("SHOULD NOT be answered when they are cancelled, and never run", () =>
    Effect.gen(function*() {
      const { conversation, peer, work } = yield* full()
      for (const id of [3, 4]) yield* peer.request(id, "work")
      yield* peer.cancel(3)
      assert.deepStrictEqual(yield* peer.received, [])
      assert.strictEqual(conversation.inFlight(), 3)
      yield* peer.request(3, "work")
      for (const id of [1, 4, 3]) {
        yield* work.end(id)
        assert.deepStrictEqual<unknown>(yield* peer.receive, Message.success(id, { id }))
      }
      assert.deepStrictEqual(work.begun, [1, 2, 4, 3])
    }))

  it.scoped("are answered once when the conversation closes, and never run", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* connect(side({ endless: work.serve }), { maxInFlight: 2 })
      for (let id = 1; id <= 4; id++) yield* t.peer.request(id, "endless")
      while (t.conversation.inFlight() < 4) yield* Effect.yieldNow()
      yield* t.closeScope
      const answers = (yield* t.peer.closed) as Array<Message.Failure>
      assert.deepStrictEqual(answers.map(({ id }) => id as number).sort(), [1, 2, 3, 4])
      assert.isTrue(answers.every(({ error }) => error.code === JsonRpcError.UNAVAILABLE))
      assert.deepStrictEqual(work.started, [1, 2])
    }))

  it.scoped("are dropped in silence when the peer has gone", () =>
    Effect.gen(function*() {
      const work = yield* endless
      const t = yield* connect(side({ endless: work.serve }), { maxInFlight: 2 })
      for (let id = 1; id <= 4; id++) yield* t.peer.request(id, "endless")
      while (t.conversation.inFlight() < 4) yield* Effect.yieldNow()
      yield* t.peer.disconnect
      yield* t.conversation.ended
      assert.deepStrictEqual([t.conversation.inFlight(), work.started], [0, [1, 2]])
    }))

  it.scoped("tell their channel that they wait, and when they start", () =>
    Effect.gen(function*() {
      const { conversation, work } = yield* full()
      const events: Array<unknown> = []
      const channel: Side.Channel = {
        send: () => Effect.void,
        unsafeSend: (message) => events.push(["send", (message as Message.Response).id]) > 0,
        onWaiting: (id) => events.push(["waiting", id]),
        onStarted: (id) => events.push(["started", id]),
        onUnanswered: (id) => events.push(["unanswered", id])
      }
      for (const id of ["a", "b"]) conversation.receive(Message.request(id, "ping2"), channel)
      conversation.receive(Message.notification("notifications/cancelled", { requestId: "a" }), channel)
      yield* work.end(1)
      while (conversation.inFlight() > 1) yield* Effect.yieldNow()
      assert.deepStrictEqual(events, [
        ["waiting", "a"],
        ["waiting", "b"],
        ["unanswered", "a"],
        ["started", "b"],
        ["send", "b"]
      ])
    }))
})

describe("the clients of an endpoint", () => {
  const channelOf = (origin: string | undefined) => {
    const answered: Array<unknown> = []
    const channel: Side.Channel = {
      origin,
      send: () => Effect.void,
      unsafeSend: (message) => answered.push((message as Message.Response).id) > 0
    }
    return { channel, answered }
  }

  const shared = (limits: Partial<Requests.Owner["limits"]>) =>
    Effect.gen(function*() {
      const work = yield* gated
      const requests = yield* Requests.make({
        limits: { running: 64, waiting: 100_000, text: Infinity, ...limits },
        perClient: { limit: 2, clientOf: (channel) => channel.origin as string | undefined },
        closeTimeout: 1000,
        report: () => Effect.void
      })
      const send = (origin: string | undefined, id: string) => {
        const { answered, channel } = channelOf(origin)
        requests.start(channel, Message.request(id, "work"), {
          onRequest: (request) => ({ effect: work.serve(request), reply: Outcome.fromExit })
        })
        return answered
      }
      return { requests, work, send }
    })

  it.scoped("have places of their own; those that are not known share the limit of all", () =>
    Effect.gen(function*() {
      const { send, work } = yield* shared({ running: 100, waiting: 1 })
      for (const id of ["a1", "a2", "a3"]) send("ada", id)
      for (const id of ["b1", "b2"]) send("bob", id)
      for (const id of ["x1", "x2", "x3"]) send(undefined, id)
      assert.deepStrictEqual(work.begun, ["a1", "a2", "b1", "b2", "x1", "x2", "x3"])
      assert.deepStrictEqual(send("ada", "a4"), ["a4"])
      yield* work.end("a2")
      while (work.begun.length < 8) yield* Effect.yieldNow()
      assert.deepStrictEqual(work.begun[7], "a3")
    }))

  it.scoped("take turns when the limit of all is reached", () =>
    Effect.gen(function*() {
      const { requests, send, work } = yield* shared({ running: 2 })
      for (const id of ["x1", "x2"]) send(undefined, id)
      for (const id of ["a1", "a2"]) send("ada", id)
      send("bob", "b1")
      send(undefined, "x3")
      assert.deepStrictEqual(work.begun, ["x1", "x2"])
      for (const id of ["x1", "x2", "a1", "b1", "x3", "a2"]) yield* work.end(id)
      while (requests.size > 0) yield* Effect.yieldNow()
      assert.deepStrictEqual(work.begun, ["x1", "x2", "a1", "b1", "x3", "a2"])
    }))

  it.scoped("wait at the cost of those that end, however many wait", () =>
    Effect.gen(function*() {
      const { requests, send, work } = yield* shared({ running: 2 })
      const ids = Array.from({ length: 40_000 }, (_, i) => `${i}`)
      for (const id of ids) send(id, id)
      const start = process.cpuUsage().user
      for (const id of ids) yield* work.end(id)
      while (requests.size > 0) yield* Effect.yieldNow()
      assert.isBelow(process.cpuUsage().user - start, 15_000_000)
    }))
})

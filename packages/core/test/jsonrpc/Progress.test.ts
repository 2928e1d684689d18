import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type * as Outbound from "@effect-mcp/core/Outbound"
import * as Progress from "@effect-mcp/core/Progress"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import * as Calls from "../../src/jsonrpc/runtime/Calls.js"
import { connect, refusal, side } from "./ScriptedPeer.js"

const note = (progressToken: unknown, progress: unknown, more?: Message.Params) =>
  Message.notification("notifications/progress", { progressToken, progress, ...more })

/** Forks a call with a progress callback and waits until the peer has received it. */
const calling = Effect.fnUntraced(function*(
  onProgress: (progress: Progress.Progress) => Effect.Effect<void>,
  options?: Outbound.RequestOptions
) {
  const notified: Array<Message.Notification> = []
  const t = yield* connect(side({}, (notification) => {
    notified.push(notification)
    return undefined
  }))
  const fiber = yield* Effect.fork(t.conversation.request("slow", { a: 1 }, { onProgress, ...options }))
  const request = (yield* t.peer.receive) as Message.Request
  return { ...t, fiber, request, notified, receive: t.conversation.receive }
})

/** A callback that stops at a gate, and records the notifications that reached it and those that passed. */
const gated = Effect.map(Deferred.make<void>(), (gate) => {
  const came: Array<number> = []
  const passed: Array<number> = []
  const callback = ({ progress }: Progress.Progress) => {
    came.push(progress)
    return Effect.zipRight(Deferred.await(gate), Effect.sync(() => passed.push(progress)))
  }
  return { callback, came, passed, open: Deferred.succeed(gate, undefined) }
})

describe("progress of a call", () => {
  it.scoped("is requested with the id of the request as its token, beside other members of _meta", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const onProgress = () => Effect.void
      yield* Effect.fork(t.conversation.request("m", undefined, { onProgress }))
      yield* Effect.fork(t.conversation.request("m", { a: 1, _meta: { trace: "x" } }, { onProgress }))
      const [first, second] = [yield* t.peer.receive, yield* t.peer.receive] as [Message.Request, Message.Request]
      assert.deepStrictEqual<unknown>(first.params, { _meta: { progressToken: first.id } })
      assert.deepStrictEqual<unknown>(second.params, { a: 1, _meta: { trace: "x", progressToken: second.id } })
      assert.notStrictEqual(first.id, second.id)
    }))

  it.scoped("is delivered in order, with total and message, all of it before the result", () =>
    Effect.gen(function*() {
      const received: Array<Progress.Progress | "result"> = []
      const call = yield* calling((progress) =>
        Effect.zipRight(Effect.yieldNow(), Effect.sync(() => received.push(progress)))
      )
      yield* call.peer.send(note(call.request.id, 1))
      yield* call.peer.send(note(call.request.id, 2, { total: 3, message: "two" }))
      yield* call.peer.send(note(call.request.id, 3.5, { total: 3 }))
      yield* call.peer.answer(call.request.id)
      yield* Effect.tap(Fiber.join(call.fiber), () => Effect.sync(() => received.push("result")))
      assert.deepStrictEqual(received, [
        { progress: 1 },
        { progress: 2, total: 3, message: "two" },
        { progress: 3.5, total: 3 },
        "result"
      ])
      assert.deepStrictEqual(call.notified, [])
    }))

  it.scoped("delays the result while a callback is slow, and callbacks never run concurrently", () =>
    Effect.gen(function*() {
      const gate = yield* gated
      const call = yield* calling(gate.callback)
      for (const progress of [1, 2, 3]) call.receive(note(1, progress))
      call.receive(Message.success(1, { done: true }))
      yield* Effect.yieldNow()
      assert.deepStrictEqual(gate.came, [1])
      assert.strictEqual(call.fiber.unsafePoll(), null)
      yield* gate.open
      assert.deepStrictEqual(yield* Fiber.join(call.fiber), { done: true })
      assert.deepStrictEqual(gate.passed, [1, 2, 3])
    }))

  it.scoped("is delivered to the call that its token names, as a number or a string", () =>
    Effect.gen(function*() {
      const received: Array<number> = []
      const call = yield* calling(({ progress }) => Effect.sync(() => received.push(progress)))
      yield* call.peer.send(note(1, 1))
      yield* call.peer.send(note("1", 2))
      yield* call.peer.received
      assert.deepStrictEqual(received, [1, 2])
      assert.deepStrictEqual(call.notified, [])
    }))

  it.scoped("with an unknown token, or without one, is passed to the notification handler", () =>
    Effect.gen(function*() {
      const received: Array<number> = []
      const call = yield* calling(({ progress }) => Effect.sync(() => received.push(progress)))
      const strangers = [note(2, 1), note("x", 1), note(true, 1), note(undefined, 1), note(1, "half"), note(null, 1)]
      for (const stranger of strangers) yield* call.peer.send(stranger)
      yield* call.peer.notify("notifications/progress")
      yield* call.peer.received
      assert.deepStrictEqual(received, [])
      const expected = [...strangers, Message.notification("notifications/progress")]
      assert.deepStrictEqual<unknown>(call.notified, JSON.parse(JSON.stringify(expected)))
    }))

  it.scoped("that was not requested is passed to the notification handler", () =>
    Effect.gen(function*() {
      const notified: Array<string> = []
      const t = yield* connect(side({}, ({ method }) => {
        notified.push(method)
        return undefined
      }))
      yield* Effect.fork(t.conversation.request("m"))
      yield* t.peer.receive
      yield* t.peer.send(note(1, 1))
      yield* t.peer.received
      assert.deepStrictEqual(notified, ["notifications/progress"])
    }))

  it.scoped("is not delivered after the answer", () =>
    Effect.gen(function*() {
      const gate = yield* gated
      const call = yield* calling(gate.callback)
      call.receive(note(1, 1))
      call.receive(Message.success(1, {}))
      call.receive(note(1, 2))
      yield* gate.open
      yield* Fiber.join(call.fiber)
      call.receive(note(1, 3))
      yield* call.peer.received
      assert.deepStrictEqual(gate.passed, [1])
    }))
})

describe("a progress callback", () => {
  const faults: ReadonlyArray<readonly [name: string, fault: () => Effect.Effect<void>]> = [
    ["throws", () => {
      throw new Error("boom")
    }],
    ["dies", () => Effect.die("boom")],
    ["interrupts itself", () => Effect.interrupt]
  ]

  for (const [name, fault] of faults) {
    it.scoped(`that ${name} loses only that notification`, () =>
      Effect.gen(function*() {
        const received: Array<number> = []
        const call = yield* calling(({ progress }) => {
          if (progress === 2) return fault()
          return Effect.sync(() => received.push(progress))
        })
        for (const progress of [1, 2, 3]) call.receive(note(1, progress))
        call.receive(Message.success(1, { done: true }))
        assert.deepStrictEqual(yield* Fiber.join(call.fiber), { done: true })
        assert.deepStrictEqual(received, [1, 3])
      }))
  }

  it.scoped("that is slower than the peer loses the oldest notifications beyond 256", () =>
    Effect.gen(function*() {
      const gate = yield* gated
      const call = yield* calling(gate.callback)
      for (let progress = 0; progress <= 1000; progress++) call.receive(note(1, progress))
      call.receive(Message.success(1, {}))
      yield* gate.open
      yield* Fiber.join(call.fiber)
      assert.strictEqual(Calls.MAX_PROGRESS, 256)
      assert.deepStrictEqual(gate.passed, [0, ...Array.from({ length: 256 }, (_, i) => 745 + i)])
    }))

  it.scoped("has 16 Mi characters at most while it waits for a slow callback, whatever its size", () =>
    Effect.gen(function*() {
      for (const length of [100_000, 400_000, 3_000_000]) {
        const gate = yield* gated
        const call = yield* calling(gate.callback)
        const message = "x".repeat(length)
        for (let progress = 0; progress <= 256; progress++) {
          call.receive(Message.notification("notifications/progress", { progressToken: 1, progress, message }))
        }
        call.receive(Message.success(1, {}))
        yield* gate.open
        yield* Fiber.join(call.fiber)
        const waited = (gate.passed.length - 1) * length
        assert.isAtMost(waited, 16 * 1024 * 1024)
        assert.isAbove(waited, 16 * 1024 * 1024 - length)
        assert.strictEqual(gate.passed.at(-1), 256)
      }
    }))

  const interrupted = Effect.gen(function*() {
    const gone = yield* Deferred.make<void>()
    const came: Array<number> = []
    const callback = ({ progress }: Progress.Progress) => {
      came.push(progress)
      return Effect.onInterrupt(Effect.never, () => Deferred.succeed(gone, undefined))
    }
    return { callback, came, gone: Deferred.await(gone) }
  })

  it.scoped("is interrupted with the caller, before the interruption completes", () =>
    Effect.gen(function*() {
      const came: Array<number> = []
      let gone = false
      const call = yield* calling(({ progress }) => {
        came.push(progress)
        const going = Effect.repeatN(Effect.yieldNow(), 20)
        return Effect.onInterrupt(Effect.never, () => Effect.zipRight(going, Effect.sync(() => gone = true)))
      })
      for (const progress of [1, 2]) call.receive(note(1, progress))
      yield* Fiber.interrupt(call.fiber)
      assert.isTrue(gone)
      assert.deepStrictEqual(came, [1])
      assert.strictEqual((yield* call.peer.received).length, 1, "SHOULD cancel the request")
    }))

  it.scoped("is interrupted with the caller after the answer too, and then nothing is sent", () =>
    Effect.gen(function*() {
      const { callback, gone } = yield* interrupted
      const call = yield* calling(callback)
      call.receive(note(1, 1))
      call.receive(Message.success(1, {}))
      yield* Fiber.interrupt(call.fiber)
      yield* gone
      assert.deepStrictEqual(yield* call.peer.received, [])
      assert.strictEqual(call.conversation.pending(), 0)
    }))

  it.scoped("is interrupted by the timeout of its call", () =>
    Effect.gen(function*() {
      const { callback, gone } = yield* interrupted
      const call = yield* calling(callback, { timeout: 100 })
      call.receive(note(1, 1))
      yield* TestClock.adjust(100)
      assert.strictEqual((yield* refusal(Fiber.join(call.fiber)))._tag, "RequestTimeout")
      yield* gone
    }))

  for (const answered of [true, false]) {
    const name = answered ? "an answer" : "the timeout"
    it.scoped(`that cannot be interrupted delays ${name} no longer than the timeout`, () =>
      Effect.gen(function*() {
        const gate = yield* gated
        const call = yield* calling((progress) => Effect.uninterruptible(gate.callback(progress)), { timeout: 100 })
        call.receive(note(1, 1))
        if (answered) call.receive(Message.success(1, {}))
        yield* TestClock.adjust(100)
        assert.strictEqual(Exit.isSuccess(yield* Fiber.await(call.fiber)), answered)
        yield* gate.open
      }))
  }

  it.scoped("delays an answer no longer than the timeout", () =>
    Effect.gen(function*() {
      const { callback, gone } = yield* interrupted
      const call = yield* calling(callback, { timeout: 100 })
      call.receive(note(1, 1))
      call.receive(Message.success(1, { done: true }))
      yield* TestClock.adjust(99)
      assert.strictEqual(call.fiber.unsafePoll(), null)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(call.fiber), { done: true })
      yield* gone
      assert.deepStrictEqual(yield* call.peer.received, [])
    }))

  it.scoped("is interrupted when the conversation closes, and the call fails at once", () =>
    Effect.gen(function*() {
      const { callback, gone } = yield* interrupted
      const call = yield* calling(callback)
      call.receive(note(1, 1))
      yield* call.conversation.close
      assert.strictEqual((yield* refusal(Fiber.join(call.fiber)))._tag, "ConnectionClosed")
      yield* gone
    }))

  it.scoped("of an answered call is completed when the conversation closes, within the timeout", () =>
    Effect.gen(function*() {
      const { callback, gone } = yield* interrupted
      const gate = yield* gated
      const call = yield* calling(gate.callback)
      const stuck = yield* Effect.fork(
        call.conversation.request("slow", {}, { onProgress: callback, timeout: 100 })
      )
      yield* call.peer.receive
      for (const id of [1, 2]) {
        call.receive(note(id, 1))
        call.receive(Message.success(id, { id }))
      }
      yield* call.conversation.close
      yield* gate.open
      assert.deepStrictEqual(yield* Fiber.join(call.fiber), { id: 1 })
      assert.deepStrictEqual(gate.passed, [1])
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(yield* Fiber.join(stuck), { id: 2 })
      yield* gone
    }))

  it.effect("of an answered call that ends after the conversation leaves no timer", () =>
    leavesNothing(Effect.gen(function*() {
      const gate = yield* gated
      const call = yield* calling(gate.callback, { timeout: "1 hour" })
      call.receive(note(1, 1))
      call.receive(Message.success(1, {}))
      yield* call.closeScope
      yield* gate.open
      yield* Fiber.join(call.fiber)
    })))

  it.scoped("that closes the conversation in its first steps is interrupted like any other", () =>
    Effect.gen(function*() {
      const gone = yield* Deferred.make<void>()
      const call: Effect.Effect.Success<ReturnType<typeof calling>> = yield* calling(() =>
        Effect.zipRight(
          Effect.sync(() => Effect.runFork(call.conversation.close)),
          Effect.onInterrupt(Effect.never, () => Deferred.succeed(gone, undefined))
        )
      )
      call.receive(note(1, 1))
      assert.strictEqual((yield* refusal(Fiber.join(call.fiber)))._tag, "ConnectionClosed")
      yield* Deferred.await(gone)
    }))
})

describe("Progress.fromParams", () => {
  const cases: ReadonlyArray<readonly [params: Message.Params | undefined, progress: Progress.Progress | undefined]> = [
    [undefined, undefined],
    [{}, undefined],
    [{ progress: "1" }, undefined],
    [{ progress: null }, undefined],
    [{ progress: 0 }, { progress: 0 }],
    [{ progress: 1, total: 2, message: "m", extra: 1 }, { progress: 1, total: 2, message: "m" }],
    [{ progress: 1, total: "2", message: 3 }, { progress: 1 }]
  ]
  for (const [params, progress] of cases) {
    it(`is ${JSON.stringify(progress)} for ${JSON.stringify(params)}`, () => {
      assert.deepStrictEqual(Progress.fromParams(params), progress)
    })
  }
})

import { assert, describe, it } from "@effect/vitest"
import { TransportError } from "@effect-mcp/core/LocalError"
import type { TaskStatus } from "@effect-mcp/core/protocol/Tasks"
import { Chunk, Deferred, Effect, Fiber, Stream, TestClock } from "effect"
import * as TaskPoll from "../../../src/protocol/tasks/TaskPoll.js"

interface State {
  readonly status: TaskStatus
  readonly pollInterval?: number | undefined
}

const lost = new TransportError({ reason: "Read", message: "the connection broke" })

/** A peer whose task has these states, one for each read; the last one stays. */
const peer = (...states: ReadonlyArray<State | TransportError>) => {
  let reads = 0
  return {
    reads: () => reads,
    read: Effect.suspend(() => {
      const state = states[Math.min(reads++, states.length - 1)]!
      return "status" in state ? Effect.succeed(state) : Effect.fail(state)
    })
  }
}

const working = (pollInterval?: number): State => ({ status: "working", pollInterval })

const completed: State = { status: "completed" }

/** How many reads there are this many milliseconds after the wait began. */
const readsAfter = (one: ReturnType<typeof peer>, millis: number) =>
  Effect.map(TestClock.adjust(millis), () => one.reads())

describe("The poll of a task", () => {
  it.effect("SHOULD read at the pace that the peer wants, which may change", () =>
    Effect.gen(function*() {
      const one = peer(working(2000), working(), completed)
      const poll = yield* TaskPoll.make(one.read, working(500))
      const ended = yield* Effect.fork(poll.ended)
      assert.deepStrictEqual(
        yield* Effect.forEach([499, 1, 1999, 1, 999, 1], (millis) => readsAfter(one, millis)),
        [0, 1, 1, 2, 2, 3]
      )
      assert.deepStrictEqual(yield* Fiber.join(ended), completed)
    }))

  it.effect("neither spins nor hangs with a pace that no peer should want", () =>
    Effect.gen(function*() {
      for (const hostile of [0, -1, -1e300]) {
        const one = peer(working(hostile))
        const fiber = yield* Effect.fork((yield* TaskPoll.make(one.read, working(hostile))).ended)
        assert.strictEqual(yield* readsAfter(one, TaskPoll.MIN_INTERVAL * 3), 3)
        yield* Fiber.interrupt(fiber)
      }
      const one = peer(working(1e300))
      const fiber = yield* Effect.fork((yield* TaskPoll.make(one.read, working(1e300))).ended)
      assert.strictEqual(yield* readsAfter(one, TaskPoll.MAX_INTERVAL * 2), 2)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("is one for all that wait: each state is read once, also when the first of them is interrupted", () =>
    Effect.gen(function*() {
      const one = peer(working(), working(), working(), completed)
      const poll = yield* TaskPoll.make(one.read)
      const first = yield* Effect.fork(poll.ended)
      const states = yield* Effect.fork(Stream.runCollect(poll.states))
      yield* TestClock.adjust(1000)
      assert.strictEqual(one.reads(), 2)
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust(2000)
      assert.strictEqual(one.reads(), 4)
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(states)).map(({ status }) => status), [
        "working",
        "working",
        "working",
        "completed"
      ])
      assert.deepStrictEqual([yield* poll.ended, one.reads()], [completed, 4])
    }))

  it.effect("is woken to read soon, and however often it is woken, it does not spin", () =>
    Effect.gen(function*() {
      const one = peer(working(60_000))
      const poll = yield* TaskPoll.make(one.read, working(60_000))
      const fiber = yield* Effect.fork(poll.ended)
      yield* TestClock.adjust(10_000)
      poll.wake()
      assert.strictEqual(yield* readsAfter(one, 0), 1)
      for (let i = 0; i < 100; i++) {
        poll.wake()
        yield* TestClock.adjust(1)
      }
      assert.strictEqual(one.reads(), 3)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("goes on after reads that were lost, up to a time in a row", () =>
    Effect.gen(function*() {
      const some = new Array(TaskPoll.LOST / 1000).fill(lost)
      const one = peer(...some, working(), ...some, completed)
      const ended = yield* Effect.fork((yield* TaskPoll.make(one.read)).ended)
      yield* TestClock.adjust(3 * TaskPoll.LOST)
      assert.deepStrictEqual(yield* Fiber.join(ended), completed)
      const gone = peer(lost)
      const failed = yield* Effect.fork(Effect.flip((yield* TaskPoll.make(gone.read)).ended))
      yield* TestClock.adjust(TaskPoll.LOST)
      assert.deepStrictEqual([yield* Fiber.join(failed), gone.reads()], [lost, TaskPoll.LOST / 1000 + 1])
    }))
})

describe("The result of a task of 2025-11-25", () => {
  const cancelled = () => lost

  it.effect("is requested when the task has ended, and not of one that was cancelled", () =>
    Effect.gen(function*() {
      const fetched: Array<boolean> = []
      const fetch = (isWaiting: boolean) => Effect.as(Effect.sync(() => fetched.push(isWaiting)), "result")
      const of = (...states: ReadonlyArray<State>) =>
        Effect.flatMap(TaskPoll.make(peer(...states).read), (poll) => TaskPoll.result(poll, fetch, cancelled))
      const fiber = yield* Effect.fork(of(working(), { status: "failed" }))
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(fetched, [])
      yield* TestClock.adjust(500)
      assert.strictEqual(yield* Fiber.join(fiber), "result")
      assert.strictEqual(yield* Effect.flip(of({ status: "cancelled" })), lost)
      assert.deepStrictEqual(fetched, [false])
    }))

  it.effect("SHOULD be requested while the task is input_required, again when that request is lost, while the poll goes on", () =>
    Effect.gen(function*() {
      const input: State = { status: "input_required" }
      const one = peer(input)
      const requests: Array<Deferred.Deferred<string, TransportError>> = []
      const fetch = () =>
        Effect.flatMap(Deferred.make<string, TransportError>(), (request) => {
          requests.push(request)
          return Deferred.await(request)
        })
      const fiber = yield* Effect.fork(
        Effect.flatMap(TaskPoll.make(one.read), (poll) => TaskPoll.result(poll, fetch, cancelled))
      )
      yield* TestClock.adjust(2500)
      assert.deepStrictEqual([requests.length, one.reads()], [1, 3])
      yield* Deferred.fail(requests[0]!, lost)
      yield* TestClock.adjust(1000)
      assert.strictEqual(requests.length, 2)
      yield* Deferred.succeed(requests[1]!, "result")
      assert.strictEqual(yield* Fiber.join(fiber), "result")
    }))
})

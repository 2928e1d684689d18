import { assert, it } from "@effect/vitest"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import { Chunk, Deferred, Effect, Exit, Fiber, Scope, Stream, TestClock } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"

const word = (text: string) => Message.notification(text)
const words = (incoming: Iterable<Transport.Delivery>) =>
  [...incoming].map((one) => (one as Message.Notification).method)

/** Waits until the fiber is suspended. */
const waiting = (fiber: Fiber.RuntimeFiber<unknown, unknown>) =>
  Effect.gen(function*() {
    yield* untilSuspended(fiber)
  })

const broken = new LocalError.TransportError({ reason: "Write", message: "broken" })

describe("Transport.memory", () => {
  it.scoped("passes the values that one side sends to the other, in order", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Transport.memory()
      const message = word("a")
      yield* left.send(message)
      assert.isTrue(left.unsafeSend(word("b")))
      assert.isTrue(right.unsafeSend(word("c")))
      const received = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(right.incoming, 2)))
      assert.strictEqual(received[0], message)
      assert.deepStrictEqual(words(received), ["a", "b"])
      assert.deepStrictEqual(words(yield* Stream.runCollect(Stream.take(left.incoming, 1))), ["c"])
    }))

  it.scoped("suspends send while it is full, says so, and suspends unsafeSend never", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Transport.memory({ capacity: 2 })
      yield* left.send(word("a"))
      assert.isTrue(left.canSend?.())
      yield* left.send(word("b"))
      assert.isFalse(left.canSend?.())
      const sender = yield* Effect.fork(left.send(word("patient")))
      yield* waiting(sender)
      assert.isTrue(left.unsafeSend(word("urgent")))
      const received = words(yield* Stream.runCollect(Stream.take(right.incoming, 4)))
      yield* Fiber.join(sender)
      assert.deepStrictEqual(received, ["a", "b", "urgent", "patient"])
      assert.isTrue(left.canSend?.())
    }))

  for (const name of ["left", "right"] as const) {
    it.scoped(`ends for both sides when the ${name} stops reading`, () =>
      Effect.gen(function*() {
        const [left, right] = yield* Transport.memory()
        const mine = name === "left" ? left : right
        const theirs = name === "left" ? right : left
        const listener = yield* Effect.fork(Transport.run(theirs, () => undefined))
        const quitter = yield* Effect.fork(Transport.run(mine, () => undefined))
        yield* waiting(quitter)
        yield* Fiber.interrupt(quitter)
        yield* Fiber.join(listener)
        for (const end of [left, right]) {
          assert.isFalse(end.unsafeSend(word("late")))
          assert.strictEqual((yield* Effect.flip(end.send(word("late")))).reason, "Write")
        }
      }))
  }

  it.scoped("refuses messages for a side that has stopped reading", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Transport.memory()
      const quitter = yield* Effect.fork(Transport.run(left, () => undefined))
      yield* waiting(quitter)
      yield* Fiber.interrupt(quitter)
      assert.deepStrictEqual([left.unsafeSend(word("late")), right.unsafeSend(word("late"))], [false, false])
    }))

  it.effect("ends both sides with its scope, after the messages that were sent", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const [left, right] = yield* Scope.extend(Transport.memory(), scope)
      left.unsafeSend(word("a"))
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(left.unsafeSend(word("late")))
      assert.deepStrictEqual(words(yield* Stream.runCollect(right.incoming)), ["a"])
      assert.deepStrictEqual(words(yield* Stream.runCollect(left.incoming)), [])
    }))
})

describe("Transport.run", () => {
  it.effect("reads the stream of a transport without run", () =>
    Effect.gen(function*() {
      const received: Array<Transport.Delivery> = []
      const transport = { ...silent, incoming: Stream.make(word("a"), word("b")) }
      yield* Transport.run(transport, (incoming) => received.push(incoming))
      assert.deepStrictEqual(words(received), ["a", "b"])
    }))

  it.effect("uses the run of the transport when it has one", () =>
    Effect.gen(function*() {
      const received: Array<Transport.Delivery> = []
      const transport: Transport.Transport = {
        ...silent,
        incoming: Stream.die("unused"),
        run: (receive) => Effect.sync(() => receive(word("a")))
      }
      yield* Transport.run(transport, (incoming) => received.push(incoming))
      assert.deepStrictEqual(words(received), ["a"])
    }))
})

const silent: Transport.Transport = {
  incoming: Stream.never,
  send: () => Effect.void,
  unsafeSend: () => true
}

/** A transport that records what it writes, one message at a time, when the test opens its gate. */
const recorder = (options?: {
  readonly write?: (message: Message.Message) => Effect.Effect<void, LocalError.TransportError>
  readonly incoming?: Stream.Stream<Transport.Delivery, LocalError.TransportError>
  readonly capacity?: number
}) =>
  Effect.gen(function*() {
    const written: Array<Message.Message> = []
    const transport = yield* Transport.make({
      incoming: options?.incoming ?? Stream.never,
      write: (message) =>
        Effect.zipRight(options?.write?.(message) ?? Effect.void, Effect.sync(() => written.push(message))),
      capacity: options?.capacity
    })
    return { transport, written }
  })

describe("Transport.make", () => {
  it.effect("writes one message after another, in order", () =>
    Effect.gen(function*() {
      let writing = 0
      const { written } = yield* Effect.scoped(Effect.gen(function*() {
        const recording = yield* recorder({
          write: () =>
            Effect.acquireUseRelease(
              Effect.sync(() => assert.strictEqual(++writing, 1)),
              () => Effect.yieldNow(),
              () => Effect.sync(() => writing--)
            )
        })
        yield* recording.transport.send(word("a"))
        recording.transport.unsafeSend(word("b"))
        yield* recording.transport.send(word("c"))
        return recording
      }))
      assert.deepStrictEqual(words(written), ["a", "b", "c"])
    }))

  it.scoped("suspends send while the pipe is slow, and unsafeSend never", () =>
    Effect.gen(function*() {
      const open = yield* Effect.makeSemaphore(0)
      const taken = yield* Deferred.make<void>()
      const { transport, written } = yield* recorder({
        write: () => Effect.zipRight(Deferred.succeed(taken, undefined), open.take(1)),
        capacity: 1
      })
      yield* transport.send(word("a"))
      yield* Deferred.await(taken)
      yield* transport.send(word("b"))
      const sender = yield* Effect.fork(transport.send(word("patient")))
      yield* waiting(sender)
      assert.isTrue(transport.unsafeSend(word("urgent")))
      yield* open.release(4)
      yield* Fiber.join(sender)
      while (written.length < 4) yield* Effect.yieldNow()
      assert.deepStrictEqual(words(written), ["a", "b", "urgent", "patient"])
    }))

  for (
    const [name, read] of [["run", Transport.run], [
      "incoming",
      (t: Transport.Transport) => Stream.runDrain(t.incoming)
    ]] as const
  ) {
    it.scoped(`fails ${name} when a write fails, and fails present and waiting senders`, () =>
      Effect.gen(function*() {
        const { transport } = yield* recorder({ write: () => Effect.fail(broken), capacity: 1 })
        const reader = yield* Effect.fork(read(transport, () => undefined))
        yield* waiting(reader)
        yield* transport.send(word("a"))
        const sender = yield* Effect.fork(transport.send(word("patient")))
        assert.strictEqual(yield* Effect.flip(Fiber.join(reader)), broken)
        assert.isFalse(transport.unsafeSend(word("late")))
        assert.strictEqual((yield* Effect.flip(transport.send(word("late")))).reason, "Write")
        assert.isTrue(Exit.isExit(yield* Fiber.await(sender)))
      }))

    it.scoped(`fails ${name} with the defect of a write`, () =>
      Effect.gen(function*() {
        const { transport } = yield* recorder({ write: () => Effect.die("bug") })
        transport.unsafeSend(word("a"))
        const exit = yield* Effect.exit(read(transport, () => undefined))
        assert.deepStrictEqual(exit, Exit.die("bug"))
      }))

    it.scoped(`ends ${name} with the stream`, () =>
      Effect.gen(function*() {
        const { transport } = yield* recorder({ incoming: Stream.make(word("a")) })
        yield* read(transport, () => undefined)
        assert.isTrue(transport.unsafeSend(word("still writes")))
      }))

    it.effect(`ends ${name} when its scope closes, whatever the stream does`, () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { transport } = yield* Scope.extend(recorder(), scope)
        const reader = yield* Effect.fork(read(transport, () => undefined))
        yield* waiting(reader)
        yield* Scope.close(scope, Exit.void)
        yield* Fiber.join(reader)
      }))
  }

  it.effect("writes the messages that still wait when its scope closes", () =>
    Effect.gen(function*() {
      const { transport, written } = yield* Effect.scoped(Effect.tap(
        recorder({ write: () => Effect.yieldNow() }),
        ({ transport }) => Effect.sync(() => ["a", "b", "c"].map((text) => transport.unsafeSend(word(text))))
      ))
      assert.deepStrictEqual(words(written), ["a", "b", "c"])
      assert.isFalse(transport.unsafeSend(word("late")))
    }))

  const stuck: ReadonlyArray<readonly [name: string, write: Effect.Effect<void>, seconds: number]> = [
    ["a second, when the pipe takes nothing", Effect.never, 1],
    ["two, when the pipe cannot even be interrupted", Effect.uninterruptible(Effect.never), 2]
  ]

  for (const [name, write, seconds] of stuck) {
    it.effect(`waits no longer than ${name}`, () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { transport, written } = yield* Scope.extend(recorder({ write: () => write }), scope)
        transport.unsafeSend(word("a"))
        const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
        yield* TestClock.adjust(seconds * 1000 - 1)
        assert.strictEqual(closing.unsafePoll(), null)
        yield* TestClock.adjust(1)
        yield* Fiber.join(closing)
        assert.deepStrictEqual(written, [])
      }))

    it.effect(`ends incoming even when closing takes ${name}`, () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { transport } = yield* Scope.extend(recorder({ write: () => write }), scope)
        const reader = yield* Effect.fork(Transport.run(transport, () => undefined))
        transport.unsafeSend(word("a"))
        yield* waiting(reader)
        const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
        yield* TestClock.adjust(2000)
        yield* Effect.zipRight(Fiber.join(closing), Fiber.join(reader))
      }))
  }

  it.effect("leaves no fiber and no timer", () =>
    leavesNothing(Effect.gen(function*() {
      const { transport } = yield* recorder()
      yield* Effect.forkScoped(Transport.run(transport, () => undefined))
      yield* transport.send(word("a"))
    })))

  it.effect("closes even when it was made in an uninterruptible region", () =>
    leavesNothing(Effect.gen(function*() {
      const { transport } = yield* Effect.uninterruptible(recorder())
      yield* transport.send(word("a"))
    })))
})

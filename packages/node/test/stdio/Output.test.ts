import { assert, describe, it } from "@effect/vitest"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Exit, Fiber } from "effect"
import { Writable } from "node:stream"
import * as Output from "../../src/stdio/Output.js"

/** A writable whose writes end when the test says so. */
const slow = () => {
  const writes: Array<string> = []
  let callback: ((error?: Error | null) => void) | undefined
  const writable = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      writes.push(String(chunk))
      callback = done
    }
  })
  const finish = (error?: Error) => {
    const done = callback
    callback = undefined
    done?.(error)
  }
  return { writable, writes, finish, isWriting: () => callback !== undefined }
}

const quick = () => {
  const writes: Array<string> = []
  const writable = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      writes.push(String(chunk))
      setImmediate(done)
    }
  })
  return { writable, writes }
}

const make = (writable: Writable, options?: Partial<Output.Options>) => {
  const broken: Array<TransportError> = []
  const output = new Output.Output({ writable, onBroken: (error) => broken.push(error), ...options })
  return { output, broken }
}

const message = (n: number, text = "") => Message.notification("n", { n, text })

const numbers = (writes: ReadonlyArray<string>) =>
  writes.join("").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line).params.n)

const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const turns = (count: number) => Effect.repeatN(turn, count - 1)

const range = (count: number) => Array.from({ length: count }, (_, n) => n)

describe("Output", () => {
  it.effect("writes the messages of one turn at once, one line each", () =>
    Effect.gen(function*() {
      const { writable, writes } = quick()
      const { output } = make(writable)
      for (const n of range(64)) assert.isTrue(output.unsafeSend(message(n, "two\nlines\r\u2028")))
      assert.deepStrictEqual(writes, [])
      yield* output.drained
      assert.strictEqual(writes.length, 1)
      assert.strictEqual(writes[0]!.split("\n").length, 65)
      assert.deepStrictEqual(numbers(writes), range(64))
    }))

  it.effect("runs one write at a time, and collects further messages", () =>
    Effect.gen(function*() {
      const { finish, writable, writes } = slow()
      const { output } = make(writable)
      output.unsafeSend(message(0))
      yield* turn
      for (const n of [1, 2, 3]) {
        output.unsafeSend(message(n))
        yield* turn
      }
      assert.deepStrictEqual(numbers(writes), [0])
      finish()
      yield* turns(2)
      assert.strictEqual(writes.length, 2)
      assert.deepStrictEqual(numbers(writes), [0, 1, 2, 3])
    }))

  it.effect("suspends `send` while it is full, and accepts a response at any time", () =>
    Effect.gen(function*() {
      const { finish, writable, writes } = slow()
      const { output } = make(writable)
      const big = "x".repeat(Output.SEND_LIMIT)
      assert.isTrue(output.canSend())
      yield* output.send(message(0, big))
      assert.isFalse(output.canSend())
      const waiting = yield* Effect.fork(Effect.zipRight(output.send(message(2, big)), output.send(message(3))))
      yield* turns(3)
      assert.isNull(waiting.unsafePoll())
      assert.isTrue(output.unsafeSend(message(1)))
      finish()
      yield* turns(3)
      assert.isNull(waiting.unsafePoll())
      finish()
      yield* turns(3)
      finish()
      yield* Fiber.join(waiting)
      yield* turns(3)
      finish()
      yield* output.drained
      assert.deepStrictEqual(numbers(writes), [0, 1, 2, 3])
    }))

  it.effect("suspends `send` while many messages wait", () =>
    Effect.gen(function*() {
      const { writable } = slow()
      const { output } = make(writable)
      let sent = 0
      const fiber = yield* Effect.fork(Effect.forever(Effect.tap(output.send(message(1)), () => {
        sent++
      })))
      yield* turns(5)
      // As many messages again, once the first ones are being written.
      assert.isAtMost(sent, 2 * 256)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("does not block the event loop when a sender never pauses", () =>
    Effect.gen(function*() {
      const writable = new Writable({ write: (_chunk, _encoding, done) => done() })
      const { output } = make(writable)
      const fiber = yield* Effect.fork(Effect.forever(output.send(message(1))))
      yield* turns(100)
      assert.isNull(fiber.unsafePoll())
      yield* Fiber.interrupt(fiber)
      yield* output.drained
    }))

  it.effect("breaks when the peer does not read", () =>
    Effect.gen(function*() {
      const { writable } = slow()
      const { broken, output } = make(writable, { maxBacklog: 10_000 })
      assert.isTrue(output.unsafeSend(message(0, "x".repeat(20_000))))
      assert.isFalse(output.unsafeSend(message(1)))
      assert.strictEqual(broken.length, 1)
      assert.strictEqual(broken[0]!.reason, "Write")
      assert.match(broken[0]!.message, /does not read/)
      assert.strictEqual((yield* Effect.flip(output.send(message(2)))).message, "The transport is closed")
      yield* output.drained
      yield* turn
      assert.strictEqual(writable.writableLength, 0)
    }))

  it.effect("refuses a message without a JSON form, and sends an error for a response", () =>
    Effect.gen(function*() {
      const { writable, writes } = quick()
      const { output } = make(writable)
      const cycle: Record<string, unknown> = {}
      cycle.cycle = cycle
      assert.strictEqual((yield* Effect.flip(output.send(Message.notification("n", cycle)))).reason, "Encode")
      assert.isFalse(output.unsafeSend(Message.request(1, "n", cycle)))
      assert.isTrue(output.unsafeSend(Message.success(7, cycle)))
      yield* output.drained
      assert.strictEqual(JSON.parse(writes.join("")).error.code, -32603)
      assert.strictEqual(JSON.parse(writes.join("")).id, 7)
    }))

  it.effect("reports once that it is broken, and resumes all waiting senders", () =>
    Effect.gen(function*() {
      const { finish, writable } = slow()
      const { broken, output } = make(writable)
      yield* output.send(message(0, "x".repeat(Output.SEND_LIMIT)))
      const waiting = yield* Effect.fork(output.send(message(1)))
      const drained = yield* Effect.fork(output.drained)
      yield* turns(2)
      finish(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }))
      assert.strictEqual((yield* Effect.flip(Fiber.join(waiting))).reason, "Write")
      yield* Fiber.join(drained)
      yield* turns(2)
      assert.deepStrictEqual(broken.map(({ message }) => message), ["Cannot write: write EPIPE"])
      assert.isFalse(output.unsafeSend(message(2)))
    }))

  it.effect("detects a pipe that was closed, before or after its construction", () =>
    Effect.gen(function*() {
      const { writable } = quick()
      const { broken } = make(writable)
      writable.destroy()
      yield* turn
      assert.strictEqual(broken.length, 1)
      const { broken: at, output } = make(writable)
      assert.strictEqual(at.length, 1)
      assert.isFalse(output.unsafeSend(message(1)))
    }))

  it.effect("writes the waiting messages after its end, and accepts no more", () =>
    Effect.gen(function*() {
      const { writable, writes } = quick()
      const { output } = make(writable)
      output.unsafeSend(message(0))
      output.end()
      assert.isFalse(output.unsafeSend(message(1)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(output.send(message(1)))))
      yield* output.drained
      assert.deepStrictEqual(numbers(writes), [0])
    }))

  it.effect("leaves no listener and no timer behind, and ignores a late error", () =>
    Effect.gen(function*() {
      const { finish, isWriting, writable, writes } = slow()
      const listeners = () => writable.eventNames().map((name) => [name, writable.listenerCount(name)])
      const before = listeners()
      const { broken, output } = make(writable)
      output.unsafeSend(message(0))
      output.release()
      yield* turns(2)
      assert.deepStrictEqual(writes, [])
      assert.deepStrictEqual(listeners(), before)

      const { output: late } = make(writable)
      late.unsafeSend(message(1))
      yield* turn
      assert.isTrue(isWriting())
      late.release()
      finish(new Error("late"))
      yield* turns(3)
      assert.deepStrictEqual(broken, [])
    }))

  it.effect("limits the size of one write", () =>
    Effect.gen(function*() {
      const { writable, writes } = quick()
      const { output } = make(writable)
      for (const n of range(8)) output.unsafeSend(message(n, "x".repeat(1024 * 1024)))
      yield* output.drained
      assert.strictEqual(writes.length, 8)
      assert.deepStrictEqual(numbers(writes), range(8))
    }))
})

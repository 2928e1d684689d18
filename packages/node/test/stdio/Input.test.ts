import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Chunk, Effect, Exit, Fiber, Stream } from "effect"
import { PassThrough, Readable } from "node:stream"
import * as Input from "../../src/stdio/Input.js"

const line = (n: number, text = "") => JSON.stringify(Message.notification("n", { n, text })) + "\n"

const numbers = (messages: Iterable<Message.Incoming>) =>
  Array.from(messages, (message) => Message.isMalformed(message) ? message.message : (message as any).params.n)

const collect = (input: Input.Input) =>
  Effect.suspend(() => {
    const messages: Array<Message.Incoming> = []
    return Effect.as(input.run((message) => messages.push(message)), messages)
  })

/** One turn of the event loop. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

describe("Input", () => {
  it.effect("delivers the same messages however the bytes are cut into chunks", () =>
    Effect.gen(function*() {
      const bytes = Buffer.from(line(1, "ä€😀") + "\r\n" + line(2) + line(3).trimEnd())
      for (const size of [1, 2, 3, 7, 1000]) {
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size))
        const messages = yield* collect(new Input.Input(Readable.from(pieces, { objectMode: false })))
        assert.deepStrictEqual(numbers(messages), [1, 2, 3])
        assert.strictEqual((messages[0] as any).params.text, "ä€😀")
      }
    }))

  it.effect("ends at once when the stream has ended before", () =>
    Effect.gen(function*() {
      const stream = new PassThrough()
      stream.end()
      stream.resume()
      yield* Effect.async<void>((resume) => {
        stream.once("close", () => resume(Effect.void))
      })
      assert.deepStrictEqual(yield* collect(new Input.Input(stream)), [])
      assert.deepStrictEqual(Chunk.toArray(yield* Stream.runCollect(new Input.Input(stream).incoming)), [])
    }))

  it.effect("fails with Read when the stream fails, before it is read or while it is", () =>
    Effect.gen(function*() {
      const before = new PassThrough()
      before.on("error", () => {}).destroy(new Error("wet"))
      const error = yield* Effect.flip(collect(new Input.Input(before)))
      assert.strictEqual(error.reason, "Read")
      assert.strictEqual(error.message, "Cannot read: wet")

      const stream = new PassThrough()
      const fiber = yield* Effect.fork(Effect.flip(Stream.runDrain(new Input.Input(stream).incoming)))
      yield* turn
      stream.destroy(new Error("wet"))
      assert.strictEqual((yield* Fiber.join(fiber)).message, "Cannot read: wet")
    }))

  it.effect("ends without an error when the peer has closed the connection", () =>
    Effect.gen(function*() {
      for (const code of ["ECONNRESET", "EIO"]) {
        const stream = new PassThrough()
        const fiber = yield* Effect.fork(collect(new Input.Input(stream)))
        yield* turn
        stream.write(line(1))
        yield* turn
        stream.destroy(Object.assign(new Error(code), { code }))
        assert.deepStrictEqual(numbers(yield* Fiber.join(fiber)), [1])
      }
    }))

  it.effect("survives every byte that is not UTF-8, and overlong and incomplete sequences", () =>
    Effect.gen(function*() {
      const bad = [
        ...Array.from({ length: 256 }, (_, byte) => [byte]),
        [0xc0, 0xaf],
        [0xed, 0xa0, 0x80],
        [0xf4, 0x90, 0x80, 0x80],
        [0xe2, 0x82]
      ]
      const stream = new PassThrough()
      const fiber = yield* Effect.fork(collect(new Input.Input(stream)))
      for (const bytes of bad) {
        stream.write(Buffer.from("{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"text\":\""))
        stream.write(Buffer.from(bytes))
        stream.write("\"}}\n")
      }
      stream.end(line(1))
      const messages = yield* Fiber.join(fiber)
      assert.deepStrictEqual(numbers(messages.slice(-1)), [1])
      const replaced = messages.filter((message) => JSON.stringify(message).includes("\uFFFD"))
      assert.strictEqual(replaced.length, 128 + 4)
    }))

  it.effect("reads a stream with an encoding", () =>
    Effect.gen(function*() {
      const stream = new PassThrough()
      stream.setEncoding("utf8")
      stream.end(line(1, "ä"))
      assert.strictEqual(((yield* collect(new Input.Input(stream)))[0] as any).params.text, "ä")
    }))

  it.effect("has one reader at a time", () =>
    Effect.gen(function*() {
      const stream = new PassThrough()
      const input = new Input.Input(stream)
      const first = yield* Effect.fork(collect(input))
      yield* turn
      assert.strictEqual((yield* Effect.flip(collect(input))).message, "The transport already has a reader")
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(input.incoming))).reason, "Read")
      stream.end(line(1))
      assert.deepStrictEqual(numbers(yield* Fiber.join(first)), [1])
    }))

  it.effect("lets the event loop turn within a flood, however many chunks carry it", () =>
    Effect.gen(function*() {
      const stream = new PassThrough({ highWaterMark: 1_000_000 })
      const messages: Array<Message.Incoming> = []
      const fiber = yield* Effect.fork(new Input.Input(stream).run((message) => messages.push(message)))
      yield* turn
      let inFirstTurn = Infinity
      setImmediate(() => {
        inFirstTurn = messages.length
      })
      for (let chunk = 0; chunk < 20; chunk++) stream.write(line(chunk).repeat(100))
      yield* turn
      assert.isBelow(inFirstTurn, 500)
      stream.end()
      yield* Fiber.join(fiber)
      assert.lengthOf(messages, 2000)
    }))

  it.effect("reads nothing without a reader", () =>
    Effect.gen(function*() {
      let produced = 0
      const stream = new Readable({
        highWaterMark: 1,
        read() {
          produced++
          this.push(line(produced))
        }
      })
      const input = new Input.Input(stream)
      yield* turn
      assert.isAtMost(produced, 1)
      const taken = yield* Stream.runCollect(Stream.take(input.incoming, 10))
      yield* turn
      assert.deepStrictEqual(numbers(taken), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      assert.isAtMost(produced, 12)
      stream.destroy()
    }))

  it.effect("keeps messages that arrive without a reader, as when a child exits", () =>
    Effect.gen(function*() {
      const stream = new PassThrough()
      const input = new Input.Input(stream)
      stream.write(line(1) + line(2))
      // Node does this to the pipes of a child that has exited.
      stream.resume()
      stream.end(line(3))
      stream.resume()
      yield* turn
      stream.resume()
      assert.deepStrictEqual(numbers(yield* collect(input)), [1, 2, 3])
    }))

  it.effect("continues where an interrupted reader has stopped", () =>
    Effect.gen(function*() {
      const stream = new PassThrough()
      const input = new Input.Input(stream)
      const first = yield* Stream.runCollect(Stream.take(
        Stream.concat(Stream.execute(Effect.sync(() => stream.write(line(1)))), input.incoming),
        1
      ))
      assert.deepStrictEqual(numbers(first), [1])
      stream.write(line(2))
      yield* turn
      stream.end()
      assert.deepStrictEqual(numbers(yield* collect(input)), [2])
    }))

  it.effect("delivers nothing after `end`, and drops the rest", () =>
    Effect.gen(function*() {
      const stream = new PassThrough()
      const input = new Input.Input(stream)
      const seen: Array<Message.Incoming> = []
      const fiber = yield* Effect.fork(input.run((message) => {
        seen.push(message)
        input.end(Exit.void)
      }))
      yield* turn
      stream.write(line(1) + line(2))
      yield* Fiber.join(fiber)
      assert.isTrue(input.isOver)
      stream.end(line(3))
      stream.resume()
      yield* Effect.async<void>((resume) => {
        stream.once("end", () => resume(Effect.void))
      })
      assert.deepStrictEqual(numbers(seen), [1])
      assert.deepStrictEqual(yield* collect(input), [])
    }))

  it.effect("leaves the stream without a listener, and paused", () =>
    Effect.gen(function*() {
      const stream = new PassThrough()
      const listeners = () => stream.eventNames().map((name) => [name, stream.listenerCount(name)])
      const before = listeners()
      const input = new Input.Input(stream)
      const fiber = yield* Effect.fork(collect(input))
      yield* turn
      input.release()
      assert.deepStrictEqual(yield* Fiber.join(fiber), [])
      assert.deepStrictEqual(listeners(), before)
      assert.isTrue(stream.isPaused())
    }))
})

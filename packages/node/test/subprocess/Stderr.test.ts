import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Queue, Scope } from "effect"
import { PassThrough } from "node:stream"
import * as Stderr from "../../src/subprocess/Stderr.js"

const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

describe("Stderr", () => {
  it.scoped("passes each line to the function, one after another, also when the function fails", () =>
    Effect.gen(function*() {
      const received = yield* Queue.unbounded<string>()
      const stderr = yield* Stderr.make((line) =>
        line === "bad" ? Effect.die("boom") : Effect.asVoid(Queue.offer(received, line))
      )
      const stream = new PassThrough()
      stderr.attach(stream)
      stream.end("one\nbad\ntwo\nthree")
      yield* stderr.ended
      assert.deepStrictEqual(
        yield* Effect.all([Queue.take(received), Queue.take(received), Queue.take(received)]),
        ["one", "two", "three"]
      )
      assert.strictEqual(yield* stderr.tail, "one\nbad\ntwo\nthree")
    }))

  it.scoped("reads on while the function is slow, and reports how many lines it dropped", () =>
    Effect.gen(function*() {
      const received: Array<string> = []
      const go = yield* Deferred.make<void>()
      const stderr = yield* Stderr.make((line) =>
        Effect.zipRight(
          Deferred.await(go),
          Effect.sync(() => {
            received.push(line)
          })
        )
      )
      const stream = new PassThrough()
      stderr.attach(stream)
      stream.write("x\n".repeat(Stderr.MAX_LINES * 3))
      yield* turn
      yield* turn
      assert.strictEqual(stream.readableLength, 0)
      yield* Deferred.succeed(go, undefined)
      yield* Effect.repeat(turn, { until: () => received.length >= Stderr.MAX_LINES })
      stream.end("last\n")
      yield* stderr.ended
      yield* Effect.repeat(turn, { until: () => received.includes("last") })
      assert.match(received.at(-2)!, /^\[\d+ lines were lost\]$/)
    }))

  it.scoped("reports the lines that it dropped at the end of the stream", () =>
    Effect.gen(function*() {
      const received: Array<string> = []
      const go = yield* Deferred.make<void>()
      const stderr = yield* Stderr.make((line) =>
        Effect.zipRight(
          Deferred.await(go),
          Effect.sync(() => {
            received.push(line)
          })
        )
      )
      const stream = new PassThrough()
      stderr.attach(stream)
      const count = Stderr.MAX_LINES * 3
      stream.end("x\n".repeat(count))
      yield* stderr.ended
      yield* Deferred.succeed(go, undefined)
      yield* Effect.repeat(turn, { until: () => received.some((line) => line !== "x") })
      assert.strictEqual(received.at(-1), `[${count - (received.length - 1)} lines were lost]`)
    }))

  it.effect("delivers the last lines when its scope closes", () =>
    Effect.gen(function*() {
      const received: Array<string> = []
      const scope = yield* Scope.make()
      const stderr = yield* Scope.extend(
        Stderr.make((line) =>
          Effect.zipRight(
            turn,
            Effect.sync(() => {
              received.push(line)
            })
          )
        ),
        scope
      )
      const stream = new PassThrough()
      stderr.attach(stream)
      stream.write("one\ntwo\nthree")
      yield* turn
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(received, ["one", "two", "three"])
    }))

  it.scoped("does not wait when the server inherits the stderr of this process", () =>
    Effect.gen(function*() {
      const stderr = yield* Stderr.make("inherit")
      yield* stderr.ended
      assert.strictEqual(yield* stderr.tail, "")
    }))
})

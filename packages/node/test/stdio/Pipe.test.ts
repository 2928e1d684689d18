import { assert, describe, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import * as Message from "@effect-mcp/core/Message"
import * as Side from "@effect-mcp/core/Side"
import { Chunk, Effect, Exit, Fiber, Scope, Stream, TestClock } from "effect"
import { type Duplex, PassThrough, Writable } from "node:stream"
import * as Pipe from "../../src/stdio/Pipe.js"
import { talk } from "../Fixture.js"

/** Two streams back to back. */
const wires = () => {
  const there = new PassThrough()
  const back = new PassThrough()
  return {
    left: { input: back, output: there },
    right: { input: there, output: back }
  }
}

const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const turns = (count: number) => Effect.repeatN(turn, count - 1)

const stuck = () => new Writable({ decodeStrings: false, write: () => {} })

const listenersOf = (...streams: ReadonlyArray<Duplex | Writable>) =>
  streams.map((stream) => stream.eventNames().map((name) => [String(name), stream.listenerCount(name)]))

describe("Pipe", () => {
  it.scoped("carries a conversation in both directions", () =>
    Effect.gen(function*() {
      const { left, right } = wires()
      const client = yield* talk(yield* Pipe.make(left))
      const side = yield* Side.make({
        onRequest: ({ params }, outbound) => Effect.as(outbound.notify("notifications/seen", params), params ?? {})
      })
      yield* Conversation.make(yield* Pipe.make(right), side)
      const answers = yield* Effect.forEach(
        Array.from({ length: 64 }, (_, n) => n),
        (n) => client.conversation.request("echo", { n, text: "two\nlines €" }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.map(({ n }) => n), Array.from({ length: 64 }, (_, n) => n))
      assert.strictEqual((yield* client.received.takeAll).length, 64)
    }))

  it.scoped("gives the same messages as a stream", () =>
    Effect.gen(function*() {
      const { left, right } = wires()
      const pipe = yield* Pipe.make(right)
      const sender = yield* Pipe.make(left)
      for (const n of [1, 2, 3]) yield* sender.send(Message.notification("n", { n }))
      const seen = yield* Stream.runCollect(Stream.take(pipe.incoming, 3))
      assert.deepStrictEqual(Chunk.toArray(seen).map((message) => (message as any).params.n), [1, 2, 3])
    }))

  it.effect("writes the accepted messages before it closes", () =>
    Effect.gen(function*() {
      const { left } = wires()
      yield* Effect.scoped(Effect.gen(function*() {
        const pipe = yield* Pipe.make(left)
        for (const n of [1, 2, 3]) pipe.unsafeSend(Message.notification("n", { n }))
      }))
      assert.strictEqual(String(left.output.read()).trimEnd().split("\n").length, 3)
    }))

  it.effect("waits a second, and no longer, for a peer that does not read", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const output = stuck()
      const pipe = yield* Scope.extend(Pipe.make({ input: new PassThrough(), output }), scope)
      pipe.unsafeSend(Message.notification("n"))
      yield* turn
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* turns(2)
      yield* TestClock.adjust("999 millis")
      assert.isNull(closing.unsafePoll())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(closing)
    }))

  it.effect("ends `incoming` and removes its listeners from both streams", () =>
    Effect.gen(function*() {
      const { left } = wires()
      const before = listenersOf(left.input, left.output)
      const scope = yield* Scope.make()
      const pipe = yield* Scope.extend(Pipe.make(left), scope)
      const reading = yield* Effect.fork(pipe.run(() => {}))
      const { conversation } = yield* Scope.extend(talk(pipe), scope)
      yield* turn
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(reading)
      yield* Effect.ignore(conversation.ended)
      assert.deepStrictEqual(listenersOf(left.input, left.output), before)
      assert.isFalse(left.output.writableEnded)
      assert.isFalse(pipe.unsafeSend(Message.notification("n")))
    }))

  it.scoped("fails `incoming` when the output breaks, so that no call waits", () =>
    Effect.gen(function*() {
      const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error("write EPIPE")) })
      const { conversation } = yield* talk(yield* Pipe.make({ input: new PassThrough(), output }))
      const error = yield* Effect.flip(conversation.request("echo"))
      assert.strictEqual(error._tag, "ConnectionClosed")
      assert.match(error.message, /EPIPE/)
    }))

  it.scoped("continues to read when the output breaks, if `onBroken` says so", () =>
    Effect.gen(function*() {
      const input = new PassThrough()
      const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error("write EPIPE")) })
      const errors: Array<string> = []
      const pipe = yield* Pipe.make({
        input,
        output,
        onBroken: (error) => {
          errors.push(error.reason)
          return undefined
        }
      })
      pipe.unsafeSend(Message.notification("n"))
      yield* turns(3)
      input.end("{\"jsonrpc\":\"2.0\",\"method\":\"last\"}")
      assert.strictEqual(Chunk.size(yield* Stream.runCollect(pipe.incoming)), 1)
      assert.deepStrictEqual(errors, ["Write"])
    }))

  it.scoped("fails at once when the output was closed before", () =>
    Effect.gen(function*() {
      const output = stuck()
      output.destroy()
      const pipe = yield* Pipe.make({ input: new PassThrough(), output })
      assert.strictEqual((yield* Effect.flip(pipe.run(() => {}))).reason, "Write")
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Message from "@effect-mcp/core/Message"
import { Deferred, Effect, Runtime } from "effect"
import { HttpSession } from "../../../src/server/legacy/HttpSession.js"
import { ResumableStream } from "../../../src/server/legacy/ResumableStream.js"
import { GreetLive, serve } from "../Serving.js"
import { makeContext } from "./Context.js"

const session = Effect.gen(function*() {
  const context = yield* makeContext()
  const runtime = yield* Effect.runtime<never>()
  const closed = yield* Deferred.make<void>()
  const one = new HttpSession(context, "s", "ada", undefined, (closing) => {
    Runtime.runFork(runtime, Effect.zipRight(closing, Deferred.succeed(closed, undefined)))
  })
  return { closed, one, context }
})

const provided = Effect.provide(serve(GreetLive))

describe("HttpSession", () => {
  it.scoped("begins a conversation, and ends it", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const { closed, one } = yield* session
      assert.isFalse(one.isBusy)
      assert.strictEqual(dispatcher.conversations(), 1)
      one.end()
      one.end()
      yield* Deferred.await(closed)
      assert.strictEqual(dispatcher.conversations(), 0)
      assert.isFalse(one.standalone.unsafeSend(Message.notification("x")))
    }).pipe(provided))

  it.scoped("finds resumable streams by name, while their requests run", () =>
    Effect.gen(function*() {
      const { context, one } = yield* session
      const keys = [one.nextStreamKey(), one.nextStreamKey()]
      assert.deepStrictEqual(keys, [{ session: "s", stream: "01" }, { session: "s", stream: "02" }])
      const stream = new ResumableStream(context, keys[0])
      one.addStream(stream)
      assert.strictEqual(one.findStream("01"), stream)
      one.removeStream(stream)
      one.removeStream(new ResumableStream(context, undefined))
      const stored = one.findStream("01")
      assert.notStrictEqual(stored, stream)
      // It stays the same while it has a reader.
      assert.strictEqual(one.findStream("01"), stored)
      one.removeStream(stream)
      assert.strictEqual(one.findStream("01"), stored)
      one.removeStream(stored)
      assert.notStrictEqual(one.findStream("01"), stored)
    }).pipe(Effect.provideServiceEffect(EventStore.EventStore, EventStore.memory()), provided))

  it.scoped("names no streams without an event store", () =>
    Effect.gen(function*() {
      const { one } = yield* session
      assert.isUndefined(one.nextStreamKey())
      assert.isFalse(one.standalone.stream.isResumable)
    }).pipe(provided))
})

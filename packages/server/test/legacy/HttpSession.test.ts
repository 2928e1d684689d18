import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as EventStore from "@effect-mcp/server/EventStore"
import { Deferred, Effect, Runtime } from "effect"
import * as EndpointContext from "../../src/http/EndpointContext.js"
import { HttpSession } from "../../src/legacy/HttpSession.js"
import { ResumableStream } from "../../src/legacy/ResumableStream.js"
import { GreetLive, serve } from "../Serving.js"

const session = Effect.gen(function*() {
  const site = yield* EndpointContext.make({})
  const runtime = yield* Effect.runtime<never>()
  const closed = yield* Deferred.make<void>()
  const one = new HttpSession(site, "s", "ada", (closing) => {
    Runtime.runFork(runtime, Effect.zipRight(closing, Deferred.succeed(closed, undefined)))
  })
  return { closed, one, site }
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

  it.scoped("knows the streams that can be resumed by name, while their requests are not answered", () =>
    Effect.gen(function*() {
      const { one, site } = yield* session
      const keys = [one.streamKey(), one.streamKey()]
      assert.deepStrictEqual(keys, [{ session: "s", stream: "01" }, { session: "s", stream: "02" }])
      const lane = new ResumableStream(site, keys[0])
      one.enter(lane)
      assert.strictEqual(one.lane("01"), lane)
      one.leave(lane)
      one.leave(new ResumableStream(site, undefined))
      const past = one.lane("01")
      assert.notStrictEqual(past, lane)
      // It is still the same one while it is looked at.
      assert.strictEqual(one.lane("01"), past)
      one.leave(lane)
      assert.strictEqual(one.lane("01"), past)
      one.leave(past)
      assert.notStrictEqual(one.lane("01"), past)
    }).pipe(Effect.provideServiceEffect(EventStore.EventStore, EventStore.memory()), provided))

  it.scoped("names no streams where none can be resumed", () =>
    Effect.gen(function*() {
      const { one } = yield* session
      assert.isUndefined(one.streamKey())
      assert.isFalse(one.standalone.lane.isResumable)
    }).pipe(provided))
})

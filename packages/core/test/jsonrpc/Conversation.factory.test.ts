import { assert, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import { Deferred, Effect, Fiber, Stream, Supervisor } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import { endless, side } from "./ScriptedPeer.js"

/** A transport that is not read, and the messages sent on it. */
const recording = Effect.map(Transport.memory(), ([pipe]) => {
  const sent: Array<Message.Message> = []
  const transport: Transport.Transport = { ...pipe, unsafeSend: (message) => sent.push(message) > 0 }
  return { sent, transport }
})

describe("a conversation made by a factory", () => {
  it.scoped("has no fiber while it is idle, and closes without one", () =>
    Effect.gen(function*() {
      const { transport } = yield* recording
      const supervisor = yield* Supervisor.track
      yield* Effect.supervised(
        Effect.gen(function*() {
          const make = yield* Conversation.factory
          const conversation = make(transport, side({}))
          assert.strictEqual((yield* supervisor.value).length, 0)
          yield* conversation.close
          assert.strictEqual((yield* supervisor.value).length, 0)
          yield* conversation.ended
        }),
        supervisor
      )
    }))

  it.scoped("answers the messages that its owner passes to receive, until its owner closes it", () =>
    Effect.gen(function*() {
      const { sent, transport } = yield* recording
      const work = yield* endless
      const make = yield* Conversation.factory
      const conversation = make(transport, () => side({ endless: work.serve }))
      conversation.receive(Message.request(1, "ping"))
      assert.deepStrictEqual<unknown>(sent, [Message.success(1, {})])
      conversation.receive(Message.request(2, "endless"))
      assert.strictEqual(conversation.inFlight(), 1)
      yield* Effect.all([conversation.close, conversation.close], { concurrency: 2 })
      yield* work.stops(1)
      assert.deepInclude(sent[1], { id: 2, error: { code: -32000, message: "Connection closed" } })
      assert.strictEqual(conversation.inFlight(), 0)
    }))

  it.scoped("resumes all waiters for its end, before and after it", () =>
    Effect.gen(function*() {
      const { transport } = yield* recording
      const make = yield* Conversation.factory
      const conversation = make(transport, side({}))
      const noticed = yield* Deferred.make<void>()
      yield* Effect.fork(Effect.zipRight(conversation.ended, Deferred.succeed(noticed, undefined)))
      yield* Effect.yieldNow()
      yield* conversation.close
      yield* Deferred.await(noticed)
      yield* conversation.ended
    }))

  it.scoped("fails calls that wait when it closes, and later ones", () =>
    Effect.gen(function*() {
      const { transport } = yield* recording
      const make = yield* Conversation.factory
      const conversation = make(transport, side({}), { timeout: "1 minute" })
      const call = yield* Effect.fork(Effect.flip(conversation.request("m")))
      yield* Effect.yieldNow()
      assert.strictEqual(conversation.pending(), 1)
      yield* conversation.close
      assert.strictEqual((yield* Effect.flatten(Fiber.await(call)))._tag, "ConnectionClosed")
      assert.strictEqual((yield* Effect.flip(conversation.request("m")))._tag, "ConnectionClosed")
    }))

  it.scoped("reads its transport on the fiber that runs read", () =>
    Effect.gen(function*() {
      const [here, there] = yield* Transport.memory()
      const make = yield* Conversation.factory
      const conversation = make(here, side({}))
      const reader = yield* Effect.fork(conversation.read(here))
      const received = yield* Effect.fork(Stream.runHead(there.incoming))
      yield* there.send(Message.request(1, "ping"))
      yield* Fiber.join(received)
      yield* Fiber.join(reader)
      yield* conversation.ended
    }))

  it.scoped("ends with the failure of the transport that it reads", () =>
    Effect.gen(function*() {
      const { transport } = yield* recording
      const error = new TransportError({ reason: "Read", message: "broken" })
      const make = yield* Conversation.factory
      const conversation = make(transport, side({}))
      const broken = { ...transport, run: () => Effect.fail(error) }
      assert.strictEqual(yield* Effect.flip(conversation.read(broken)), error)
      assert.strictEqual(yield* Effect.flip(conversation.ended), error)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Transports from "@effect-mcp/jsonrpc/Transport"
import { Deferred, Effect, Exit, Supervisor } from "effect"
import { Machine, surroundings } from "../../src/runtime/Machine.js"
import { endless, side } from "../Talk.js"

/** A transport that nobody reads, and what is said on it. */
const spoken = Effect.map(Transports.memory(), ([pipe]) => {
  const said: Array<Message.Message> = []
  const transport: Transport = { ...pipe, unsafeSend: (message) => said.push(message) > 0 }
  return { said, transport }
})

describe("a machine", () => {
  it.scoped("has no fiber while nothing goes on, and ends without one", () =>
    Effect.gen(function*() {
      const { transport } = yield* spoken
      const supervisor = yield* Supervisor.track
      yield* Effect.supervised(
        Effect.gen(function*() {
          const machine = Machine.make(yield* surroundings, transport, side({}), {})
          assert.strictEqual((yield* supervisor.value).length, 0)
          machine.finish(Exit.void)
          assert.strictEqual((yield* supervisor.value).length, 0)
          yield* machine.ended
        }),
        supervisor
      )
    }))

  it.scoped("is fed by whoever made it, answers, and is closed by them", () =>
    Effect.gen(function*() {
      const { said, transport } = yield* spoken
      const work = yield* endless
      const make = yield* Conversation.maker
      const conversation = make(transport, () => side({ endless: work.serve }))
      conversation.receive(Message.request(1, "ping"))
      assert.deepStrictEqual<unknown>(said, [Message.success(1, {})])
      conversation.receive(Message.request(2, "endless"))
      assert.strictEqual(conversation.inFlight(), 1)
      yield* Effect.all([conversation.close, conversation.close], { concurrency: 2 })
      yield* work.stops(1)
      assert.deepInclude(said[1], { id: 2, error: { code: -32000, message: "Connection closed" } })
      assert.strictEqual(conversation.inFlight(), 0)
    }))

  it.scoped("tells everybody who waits for its end, before and after", () =>
    Effect.gen(function*() {
      const { transport } = yield* spoken
      const machine = Machine.make(yield* surroundings, transport, side({}), {})
      const told = yield* Deferred.make<void>()
      yield* Effect.fork(Effect.zipRight(machine.ended, Deferred.succeed(told, undefined)))
      yield* Effect.yieldNow()
      yield* machine.close
      yield* Deferred.await(told)
      yield* machine.ended
    }))

  it.scoped("fails calls that wait when it ends, and those to come", () =>
    Effect.gen(function*() {
      const { transport } = yield* spoken
      const machine = Machine.make(yield* surroundings, transport, side({}), { timeout: "1 minute" })
      const call = yield* Effect.fork(Effect.flip(machine.request("m")))
      yield* Effect.yieldNow()
      assert.strictEqual(machine.pending(), 1)
      yield* machine.close
      assert.strictEqual((yield* Effect.flatten(call.await))._tag, "ConnectionClosed")
      assert.strictEqual((yield* Effect.flip(machine.request("m")))._tag, "ConnectionClosed")
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { Effect, Fiber } from "effect"
import * as Backpressure from "../../src/runtime/Backpressure.js"
import * as Turns from "../../src/runtime/Turns.js"

/** Waits until the event loop has turned, sockets and timers included. */
const turned = Effect.async<void>((resume) => {
  setTimeout(() => setImmediate(() => resume(Effect.void)), 1)
})

const endless: Readonly<Record<string, Effect.Effect<void, unknown>>> = {
  "drop what they send": Turns.drop,
  "send what is kept for a later reader": Backpressure.send(
    { congestion: undefined, unsafeSend: () => true, isUnread: true },
    Message.notification("n")
  ),
  "send what always fits": Backpressure.send(
    { congestion: undefined, unsafeSend: () => true },
    Message.notification("n")
  )
}

describe("Senders that never wait", () => {
  for (const [what, send] of Object.entries(endless)) {
    it.live(`let the event loop turn while they ${what}`, () =>
      Effect.gen(function*() {
        let count = 0
        const sending = Effect.forever(Effect.zipRight(send, Effect.sync(() => count++)))
        const senders = yield* Effect.replicateEffect(Effect.fork(sending), 100)
        for (let turns = 0; turns < 10; turns++) yield* turned
        const before = count
        yield* turned
        assert.isAbove(count, before)
        yield* Fiber.interruptAll(senders)
      }))
  }
})

/**
 * A handler that goes on sending notifications which nothing reads: it must not keep the process busy.
 */
import { assert, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type * as Side from "@effect-mcp/core/Side"
import * as Transport from "@effect-mcp/core/Transport"
import { Effect } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import { connect, side } from "../ScriptedPeer.js"

/** Waits for timers, sockets and signals to get their turn. */
const turn = Effect.async<void>((resume) => {
  setTimeout(() => resume(Effect.void), 0)
})

const cut: Side.Channel = { send: () => Effect.fail(Transport.closed), unsafeSend: () => false }

const HANDLERS = 400

/** A conversation with 400 handlers that send for ever, and the number of notifications that they have sent. */
const emitting = Effect.gen(function*() {
  let sent = 0
  let isOver = false
  yield* Effect.addFinalizer(() => Effect.sync(() => isOver = true))
  const forEver = (emit: Effect.Effect<void>) =>
    Effect.repeat(Effect.zipRight(Effect.sync(() => sent++), emit), { until: () => isOver }).pipe(
      Effect.uninterruptible
    )
  const t = yield* connect(
    (outbound) =>
      side({
        emit: (_, incoming) => forEver(incoming.notify("n")),
        standalone: () => forEver(outbound.notify("n"))
      }),
    { maxInFlight: HANDLERS, closeTimeout: "50 millis" }
  )
  return { ...t, sent: () => sent }
})

describe("handlers that send for ever after their reader was cut off", () => {
  it.scopedLive("let other conversations and timers run", () =>
    Effect.gen(function*() {
      const { conversation, sent } = yield* emitting
      const other = yield* connect()
      for (let id = 0; id < HANDLERS; id++) conversation.receive(Message.request(id, "emit"), cut)
      yield* turn
      const before = sent()
      yield* other.peer.request("p", "ping")
      assert.deepStrictEqual<unknown>(yield* other.peer.receive, Message.success("p", {}))
      yield* turn
      assert.isBelow(sent() - before, 100 * HANDLERS)
    }))

  it.scopedLive("do not delay the end of the conversation, nor one another", () =>
    Effect.gen(function*() {
      for (const method of ["emit", "standalone"]) {
        const { closeScope, conversation, sent } = yield* emitting
        for (let id = 0; id < HANDLERS; id++) conversation.receive(Message.request(id, method), cut)
        yield* closeScope
        assert.strictEqual(conversation.inFlight(), 0)
        // They cannot be interrupted, so they run on.
        const before = sent()
        yield* turn
        assert.isBelow(sent() - before, 100 * HANDLERS)
      }
    }))
})

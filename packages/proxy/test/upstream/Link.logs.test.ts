import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type { ServerSessionService } from "@effect-mcp/core/ServerSession"
import { Effect } from "effect"
import * as Link from "../../src/upstream/Link.js"

describe("Log messages of an upstream", () => {
  it.scoped("wait in limited number for a client that reads slowly, and later ones are dropped", () =>
    Effect.gen(function*() {
      const reads = yield* Effect.makeLatch(false)
      const received: Array<unknown> = []
      const log = (_: unknown, data: unknown) => Effect.zipRight(reads.await, Effect.sync(() => received.push(data)))
      const logs = yield* Link.passLogs(() => ({ log }) as Partial<ServerSessionService> as ServerSessionService)
      const receive = (data: number) =>
        logs.receive(Message.notification("notifications/message", { level: "info", data }))
      for (let n = 1; n <= Link.MAX_LOGS + 10; n++) receive(n)
      assert.isFalse(logs.isIdle())
      yield* reads.open
      yield* logs.flush
      assert.deepStrictEqual(received, Array.from({ length: Link.MAX_LOGS }, (_, i) => i + 1))
      assert.isTrue(logs.isIdle())
      receive(0)
      yield* logs.flush
      assert.strictEqual(received.at(-1), 0)
    }))
})

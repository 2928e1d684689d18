import { assert, describe, it } from "@effect/vitest"
import { ConnectionClosed } from "@effect-mcp/core/LocalError"
import type { ServerSessionService } from "@effect-mcp/core/ServerSession"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import * as Forward from "../../src/calls/Forward.js"
import type { Link } from "../../src/upstream/Link.js"

const session = { client: {}, meta: {}, round: undefined, version: "2025-11-25" } as unknown as ServerSessionService

/** A link whose session has ended. Nothing takes the link away until `gone` completes. */
const ended = (gone: Deferred.Deferred<void>, onRequest: () => void) =>
  ({
    session: {
      era: "legacy",
      serverCapabilities: {},
      request: () =>
        Effect.suspend(() => {
          onRequest()
          return new ConnectionClosed({ isUnsent: true })
        })
    },
    gone,
    during: (_: unknown, call: (marks: object) => Effect.Effect<unknown>) => call({ requests: new Set() })
  }) as unknown as Link

describe("A call that was not sent because the session of its link had ended", () => {
  it.scoped("waits for the end of the link no longer than connectTimeout, and is tried once more", () =>
    Effect.gen(function*() {
      let requests = 0
      const link = ended(yield* Deferred.make<void>(), () => requests++)
      const forward = Forward.make({
        name: "up",
        extensions: [],
        link: () => Effect.succeed(link),
        era: Effect.succeed("legacy"),
        waitingCalls: { serve: () => Effect.never },
        connectTimeout: "10 seconds"
      })
      const call = yield* Effect.fork(Effect.flip(forward(session, "tools/call", { name: "count" })))
      yield* untilSuspended(call)
      assert.strictEqual(requests, 1)
      yield* TestClock.adjust("10 seconds")
      const { message } = yield* Fiber.join(call)
      assert.strictEqual(requests, 2)
      assert.strictEqual(message, "The upstream \"up\" closed the connection before \"tools/call\" was sent")
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { InternalError, type McpError } from "@effect-mcp/core/protocol/McpError"
import type { ServerSessionService } from "@effect-mcp/core/ServerSession"
import { Deferred, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import type { Link } from "../../src/upstream/Link.js"
import * as Links from "../../src/upstream/Links.js"

/** A request of one user, without a session. */
const request = { client: { key: "ada", capabilities: {}, sessionScope: undefined } } as unknown as ServerSessionService

/** Links that are numbered, of sessions that a test ends. */
const numbered = (refusal?: Effect.Effect<never, McpError>) =>
  Effect.gen(function*() {
    const opened: Array<Link> = []
    const links = yield* Links.make({
      name: "up",
      max: 10,
      idle: "5 minutes",
      open: () =>
        Effect.gen(function*() {
          if (refusal !== undefined && opened.length === 0) yield* refusal
          const ended = yield* Deferred.make<void>()
          const link = {
            session: { ended: Deferred.await(ended) },
            gone: yield* Deferred.make<void>(),
            end: Deferred.succeed(ended, undefined)
          } as unknown as Link & { readonly end: Effect.Effect<void> }
          opened.push(link)
          return link
        }),
      onOpen: () => Effect.void
    })
    const nth = Effect.map(Effect.scoped(links.of(request)), (link) => opened.indexOf(link) + 1)
    const end = (nth: number) => (opened[nth - 1] as Link & { readonly end: Effect.Effect<void> }).end
    return { links, nth, end, opened }
  })

describe("The link of a user", () => {
  it.scoped("stays the user's when the session of the link before it ends later", () =>
    Effect.gen(function*() {
      const { end, nth } = yield* numbered()
      assert.strictEqual(yield* nth, 1)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* nth, 2)
      yield* end(1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* nth, 2)
    }))

  it.scoped("stays the user's when a call of the link before it ends later", () =>
    Effect.gen(function*() {
      const { end, links, nth } = yield* numbered()
      const scope = yield* Scope.make()
      yield* Scope.extend(links.of(request), scope)
      yield* end(1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* nth, 2)
      yield* Scope.close(scope, Exit.void)
      for (const minutes of ["3 minutes", "3 minutes"] as const) {
        yield* TestClock.adjust(minutes)
        assert.strictEqual(yield* nth, 2)
      }
    }))

  it.scoped("is not given to a request after its session has ended", () =>
    Effect.gen(function*() {
      const { end, links, nth, opened } = yield* numbered()
      yield* Effect.scoped(Effect.gen(function*() {
        yield* links.of(request)
        yield* end(1)
        yield* Deferred.await(opened[0]!.gone)
        assert.strictEqual(yield* nth, 2)
      }))
    }))

  it.scoped("fails for all requests that wait for it, and is opened again for the next", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { nth, opened } = yield* numbered(
        Effect.zipRight(Deferred.await(gate), Effect.fail(new InternalError({ message: "no" })))
      )
      const waiting = yield* Effect.forEach([1, 2], () => Effect.fork(Effect.flip(nth)))
      for (const fiber of waiting) yield* untilSuspended(fiber)
      yield* Deferred.succeed(gate, undefined)
      for (const fiber of waiting) assert.strictEqual((yield* Fiber.join(fiber)).message, "no")
      opened.push({} as Link)
      assert.strictEqual(yield* nth, 2)
      assert.strictEqual(yield* nth, 2)
    }))
})

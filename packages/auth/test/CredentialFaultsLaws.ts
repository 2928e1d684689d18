/**
 * What processes do that share a store of credentials whose database restarts. The laws move the `TestClock`; the databases have the real
 * time.
 */
import { assert } from "@effect/vitest"
import type { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import type { CredentialStoreService } from "@effect-mcp/auth/CredentialStore"
import { Effect, Fiber, type Scope, TestClock } from "effect"
import { ended, holding, ISSUER, type Law, passing, tokens, valueOf } from "./CredentialStoreLaws.js"

export interface Faulty {
  /** The stores of one owner, each in a process of its own. */
  readonly stores: readonly [CredentialStoreService, CredentialStoreService, CredentialStoreService]
  /** Ends the database at once. */
  readonly stop: Effect.Effect<void>
  /** Starts it again with its data. */
  readonly start: Effect.Effect<void>
}

const law = (
  name: string,
  check: (subject: Faulty) => Effect.Effect<void, unknown, Scope.Scope>
): Law<Faulty> => ({ name, check: (make) => Effect.flatMap(make, check) })

/** Counts the processes that renew at the same time. */
const counting = () => {
  const self = {
    running: 0,
    most: 0,
    done: 0,
    renewal: (work: Effect.Effect<unknown, unknown> = Effect.void) =>
      Effect.acquireUseRelease(
        Effect.sync(() => self.most = Math.max(self.most, ++self.running)),
        () => Effect.tap(work, () => self.done++),
        () => Effect.sync(() => self.running--)
      )
  }
  return self
}

export const laws: ReadonlyArray<Law<Faulty>> = [
  law(
    "lets the process that renews finish when the database has restarted meanwhile, and then those that wait, one at a time",
    ({ start, stop, stores: [one, other, third] }) =>
      Effect.gen(function*() {
        const count = counting()
        const { end, fiber } = yield* holding(one, count.renewal(one.tokens.set(tokens("new"), ISSUER, "r")))
        const waiting = yield* Effect.forEach(
          [other, third],
          (store) => Effect.fork(store.exclusive(count.renewal(passing(store)), ISSUER, "r"))
        )
        yield* passing(other)
        yield* stop
        // Those that wait look at the lock while the database is away.
        yield* TestClock.adjust("500 millis")
        assert.strictEqual((yield* Effect.flip(third.tokens.get(ISSUER, "r"))).reason, "Store")
        yield* start
        yield* Effect.eventually(other.tokens.get(ISSUER, "r"))
        for (let step = 0; step < 100; step++) yield* Effect.eventually(passing(other))
        assert.strictEqual(count.done, 0)
        yield* end
        yield* ended(fiber, other)
        assert.strictEqual(valueOf(yield* other.tokens.get(ISSUER, "r")), "new")
        for (const one of waiting) assert.isAtMost(yield* ended(one, other), 3000)
        assert.deepStrictEqual([count.done, count.most], [3, 1])
      })
  ),
  law(
    "stores what was renewed when the database is away at the end of the renewal, and is there again soon",
    ({ start, stop, stores: [one, other] }) =>
      Effect.gen(function*() {
        const { end, fiber } = yield* holding(one, one.tokens.set(tokens("new"), ISSUER, "r"))
        yield* stop
        yield* end
        // The first attempt to store fails.
        assert.strictEqual((yield* Effect.flip(other.tokens.get(ISSUER, "r"))).reason, "Store")
        assert.isNull(fiber.unsafePoll())
        yield* start
        yield* Effect.eventually(other.tokens.get(ISSUER, "r"))
        yield* ended(fiber, other)
        assert.strictEqual(valueOf(yield* other.tokens.get(ISSUER, "r")), "new")
      })
  ),
  law(
    "lets no other process wait longer than 15 seconds when the turn was not given back, because the database was away",
    ({ start, stop, stores: [one, other, third] }) =>
      Effect.gen(function*() {
        const count = counting()
        const { end, fiber } = yield* holding(one, count.renewal())
        yield* stop
        yield* end
        // The process itself has renewed, and does not fail.
        yield* Fiber.join(fiber)
        assert.strictEqual(count.done, 1)
        yield* start
        yield* Effect.eventually(other.tokens.get(ISSUER, "r"))
        const waiting = yield* Effect.forEach(
          [other, third],
          (store) => Effect.fork(store.exclusive(count.renewal(passing(store)), ISSUER, "r"))
        )
        assert.isAtMost(yield* ended(waiting[0]!, other), 17_000)
        assert.isAtMost(yield* ended(waiting[1]!, other), 17_000)
        assert.deepStrictEqual([count.done, count.most], [3, 1])
      })
  ),
  law(
    "fails with a reason where the database stays away: whoever renews, waits or begins",
    ({ start, stop, stores: [one, other, third] }) =>
      Effect.gen(function*() {
        const count = counting()
        const { end, fiber } = yield* holding(one, one.tokens.set(tokens("new"), ISSUER, "r"))
        const waiting = yield* Effect.fork(other.exclusive(count.renewal(), ISSUER, "r"))
        yield* passing(third)
        yield* stop
        yield* end
        const began = yield* Effect.flip(third.exclusive(count.renewal(), ISSUER, "r"))
        const away = (fiber: Fiber.RuntimeFiber<unknown, unknown>) =>
          Effect.gen(function*() {
            while (fiber.unsafePoll() === null) {
              yield* Effect.ignore(third.tokens.get("nothing", "")).pipe(Effect.zipRight(TestClock.adjust("1 second")))
            }
            return (yield* Effect.flip(Fiber.join(fiber))) as AuthorizationError
          })
        assert.deepInclude(began, { reason: "Store" })
        assert.include((began as AuthorizationError).message, "could not be locked")
        const waited = yield* away(waiting)
        assert.deepInclude(waited, { reason: "Store", message: (began as AuthorizationError).message })
        const renewed = yield* away(fiber)
        assert.deepInclude(renewed, {
          reason: "Store",
          message: "Stored credentials could not be written: see the cause"
        })
        assert.strictEqual(count.done, 0)
        yield* start
        yield* Effect.eventually(other.tokens.get(ISSUER, "r"))
        yield* ended(yield* Effect.fork(other.exclusive(count.renewal(), ISSUER, "r")), other)
        assert.strictEqual(count.done, 1)
      })
  )
]

/**
 * Checks (laws) that every implementation of `SharedLimits` must pass.
 *
 * A law gets the services of two nodes that share their counts. All counts are zero at the start.
 *
 * @since 0.1.0
 */
import type { SharedLimitsService } from "@effect-mcp/core/SharedLimits"
import * as Effect from "effect/Effect"
import * as Law from "./Law.js"

/**
 * The services of two nodes: the same service twice, or two services over one store.
 *
 * @category models
 */
export type Nodes = readonly [SharedLimitsService, SharedLimitsService]

const HOUR = 3_600_000

/** Keys that an implementation could confuse. */
const keys = ["", "a", "a:b", "a b", "{a}b", "*", "\u00e9", "e\u0301", "\u{1f600}", "__proto__", "x".repeat(1000), "A"]

const burst = Law.make<Nodes>(
  "allows the burst for all nodes together, and then refuses",
  (nodes, expect) =>
    Effect.gen(function*() {
      const rate = { burst: 20, every: "1 hour" } as const
      const waits = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, n) => nodes[n % 2]!),
        ({ take }) => take("burst", rate),
        { concurrency: "unbounded" }
      )
      const allowed = waits.filter((wait) => wait === 0).length
      yield* expect(allowed === 20, `${allowed} of 50 were allowed, and the burst is 20`)
      yield* expect(
        waits.every((wait) => wait === 0 || (wait > HOUR - 60_000 && wait <= HOUR)),
        `the refused uses should wait for up to an hour, and not ${waits.join()}`
      )
    })
)

const whole = Law.make<Nodes>("takes all or nothing", ([{ take }], expect) =>
  Effect.gen(function*() {
    const rate = { burst: 10, every: "1 hour" } as const
    yield* expect((yield* take("whole", rate, 8)) === 0, "8 of 10 were refused")
    const wait = yield* take("whole", rate, 3)
    yield* expect(wait > 0 && wait <= HOUR, `3 of the last 2 should wait for an hour, and not ${wait}`)
    yield* expect((yield* take("whole", rate, 2)) === 0, "a refusal has taken something")
    yield* expect((yield* take("whole", rate, 11)) === Infinity, "more than the burst can never be taken")
  }))

const refilled = Law.make<Nodes>("allows one more after each interval", ([{ take }], expect) =>
  Effect.gen(function*() {
    // The interval is short, so that with a real clock the burst refills during the test. The burst is large, so that on a slow machine the
    // burst does not refill between two calls.
    const rate = { burst: 100, every: "1 millis" } as const
    const awaited: Effect.Effect<void, unknown> = Effect.flatMap(take("refilled", rate, 100), (wait) =>
      wait === 0
        ? Effect.void
        : Effect.zipRight(
          expect(wait <= 100, `the next 100 should wait for 100 ms at most, and not ${wait}`),
          Effect.yieldNow()
        )
          .pipe(Effect.zipRight(awaited)))
    yield* expect((yield* take("refilled", rate, 100)) === 0, "the first were refused")
    yield* awaited
  }))

const once = Law.make<Nodes>("allows a key once, on all nodes together", (nodes, expect) =>
  Effect.gen(function*() {
    const uses = yield* Effect.forEach(
      Array.from({ length: 40 }, (_, n) => nodes[n % 2]!),
      ({ once }) => once("once", "1 hour"),
      { concurrency: "unbounded" }
    )
    const allowed = uses.filter((isFirst) => isFirst).length
    yield* expect(allowed === 1, `${allowed} of 40 were the first`)
  }))

const again = Law.make<Nodes>(
  "allows a key again, one time, when its time has passed",
  ([one, two], expect) =>
    Effect.gen(function*() {
      yield* expect(yield* one.once("again", "1 millis"), "the first was refused")
      yield* Effect.repeat(Effect.zipLeft(two.once("again", "1 hour"), Effect.yieldNow()), {
        until: (isFirst) => isFirst
      })
      yield* expect(!(yield* one.once("again", "1 hour")), "a key whose time had passed was allowed twice")
    })
)

const apart = Law.make<Nodes>(
  "counts each key and each operation separately",
  ([{ once, take }], expect) =>
    Effect.gen(function*() {
      for (const key of keys) {
        const name = JSON.stringify(key.slice(0, 20))
        yield* expect((yield* take(key, { burst: 1, every: "1 hour" })) === 0, `take refused the key ${name}`)
        yield* expect(yield* once(key, "1 hour"), `once refused the key ${name}`)
      }
    })
)

/**
 * All laws except the laws in `timed`.
 *
 * @category constants
 */
export const laws: ReadonlyArray<Law.Law<Nodes>> = [burst, whole, once, apart]

/**
 * The laws about time. They are for an implementation with a real clock, or with a clock that the test moves while the laws run.
 *
 * @category constants
 */
export const timed: ReadonlyArray<Law.Law<Nodes>> = [refilled, again]

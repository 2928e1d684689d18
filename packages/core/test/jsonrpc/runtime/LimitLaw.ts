/**
 * The law of everything that lets a limited number of effects run at a time and the others wait: "fill, release, fill again".
 * Wherever a fiber is interrupted between two of its steps, no more run than may, all others get their turn, and afterwards
 * the limit has all its places.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { preempted } from "../../../../testing/test/support/Preempted.js"
import * as EffectInternals from "../../../src/kit/EffectInternals.js"

/** What a limit runs in a place: `begin` when it has the place, `end` when it has left it. */
export interface Work {
  readonly begin: () => void
  readonly wait: Effect.Effect<void>
  readonly end: () => void
}

/** A limit of `max` places, which runs some work as soon as one is free. */
export interface Limit {
  readonly max: number
  readonly run: (work: Work) => Effect.Effect<unknown, unknown>
}

/** The work as one effect, for limits of effects. */
export const inPlace = ({ begin, end, wait }: Work): Effect.Effect<void> =>
  Effect.acquireUseRelease(Effect.sync(begin), () => wait, () => Effect.sync(end))

/** How many turns of the scheduler the fibers get at most, before it counts as lost what they wait for. */
const PATIENCE = 5000

const until = (what: string, holds: () => boolean): Effect.Effect<void> => {
  const look = (left: number): Effect.Effect<void> =>
    Effect.suspend(() =>
      holds()
        ? Effect.void
        : left === 0
        ? Effect.dieMessage(`A limit broke its law: ${what}`)
        : Effect.zipRight(Effect.yieldNow(), look(left - 1))
    )
  return look(PATIENCE)
}

/** Checks the law, with interruptions after each of the first turns and between `runs` pairs of steps. */
export const check = <R>(
  make: Effect.Effect<Limit, never, R | Scope.Scope>,
  { runs = 120, turns = 4 }: { readonly runs?: number; readonly turns?: number } = {}
): Effect.Effect<void, never, Exclude<R, Scope.Scope>> =>
  Effect.forEach(
    Array.from({ length: turns }, (_, turn) => turn),
    (turn) => preempted(Effect.scoped(Effect.flatMap(make, (limit) => once(limit, turn))), { runs }),
    { discard: true }
  )

const once = ({ max, run }: Limit, turn: number): Effect.Effect<void> =>
  Effect.gen(function*() {
    const running = new Set<number>()
    let most = 0
    const begun = (count: number, wait: Effect.Effect<void>) =>
      Effect.forEach(Array.from({ length: count }, (_, n) => n), (n) =>
        Effect.forkDaemon(run({
          begin: () => {
            running.add(n)
            most = Math.max(most, running.size)
          },
          wait,
          end: () => {
            running.delete(n)
          }
        })))
    const over = (fibers: ReadonlyArray<Fiber.RuntimeFiber<unknown, unknown>>) =>
      until("one waits for ever", () => fibers.every((fiber) => EffectInternals.exitOf(fiber) !== undefined))
    const empty = until("one runs for ever", () => running.size === 0)

    const fibers = yield* begun(3 * max, Effect.repeatN(Effect.yieldNow(), 2))
    yield* Effect.repeatN(Effect.yieldNow(), turn)
    // A fiber that runs, and a fiber that waits.
    const interrupted = [fibers[0]!, fibers[max]!]
    yield* Effect.forEach(interrupted, Fiber.interruptFork)
    yield* over(fibers)
    yield* empty
    const failed = fibers.some((fiber) =>
      !interrupted.includes(fiber) && Exit.isFailure(EffectInternals.exitOf(fiber)!)
    )
    if (failed) return yield* Effect.dieMessage("A limit broke its law: one failed because others were interrupted")

    const gate = yield* Deferred.make<void>()
    const again = yield* begun(2 * max, Deferred.await(gate))
    const full = until(`a place of ${max} is lost`, () => running.size === max)
    yield* full
    const first = again.filter((_, n) => running.has(n))
    yield* Effect.forEach(first, Fiber.interruptFork)
    yield* over(first)
    // Fibers that waited have the places of the fibers that were interrupted.
    yield* full
    yield* Deferred.succeed(gate, undefined)
    yield* over(again)
    yield* empty
    if (most > max) return yield* Effect.dieMessage(`A limit broke its law: ${most} ran at a time, and ${max} may`)
  })

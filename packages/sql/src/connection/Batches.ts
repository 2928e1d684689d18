/**
 * Collects the items that arrive in one turn of the event loop, and writes these items as one batch, for `SqlEventStore`. One transaction
 * with many rows costs less than many transactions. This module writes only one batch at a time. SQLite blocks the event loop during a
 * batch, so the event loop runs other work between two batches.
 *
 * Mutable state: `waiting` has the items that were taken from `arrived`, in their order. `size` is the sum of the sizes in `arrived` and
 * `waiting`. `pending` has a deferred result for each item that was not yet written or refused.
 */
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import { turn } from "@effect-mcp/core/unstable/kit/EventLoop"
import * as Outbox from "@effect-mcp/core/unstable/kit/Outbox"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { SqlStoreError } from "../SqlStoreError.js"

export interface Limits<A> {
  /** How many items one batch may have. */
  readonly count: number
  /** The greatest size of a batch. An item that is larger is written alone. */
  readonly size: number
  /** The limit for the total size of the waiting items. */
  readonly waiting: number
  readonly sizeOf: (item: A) => number
}

interface Waiting<A> {
  readonly item: A
  readonly size: number
  readonly written: Deferred.Deferred<boolean, SqlStoreError>
}

/**
 * Makes a function that writes items in their order and waits until all of them are written. The result of the function is `false` when one
 * of the items was refused. `write` must give its results in the order of the items. Items that still wait when the scope closes are not
 * written.
 */
export const make = <A>(
  limits: Limits<A>,
  write: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<boolean>, SqlStoreError>
): Effect.Effect<(items: ReadonlyArray<A>) => Effect.Effect<boolean, SqlStoreError>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const pending = new Set<Waiting<A>["written"]>()
    let size = 0
    // The queue needs no limit, because `size` is limited. Effect's `Mailbox` is not used, because its reader can miss a value that arrives
    // between two steps of the reader.
    const arrived = Outbox.make<Waiting<A>>(Infinity)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        arrived.end(Exit.void)
        for (const written of pending) EffectInternals.done(written, closed)
      })
    )
    const waiting: Array<Waiting<A>> = []

    const take = (): ReadonlyArray<Waiting<A>> => {
      let count = 0
      let taken = 0
      for (const next of waiting) {
        if (count > 0 && (count === limits.count || taken + next.size > limits.size)) break
        count++
        taken += next.size
      }
      size -= taken
      return waiting.splice(0, count)
    }
    const writeSome = Effect.uninterruptible(Effect.suspend(() => {
      const batch = take()
      return Effect.map(Effect.exit(write(batch.map(({ item }) => item))), (exit) => {
        for (const [n, { written }] of batch.entries()) {
          pending.delete(written)
          EffectInternals.done(written, Exit.map(exit, (results) => results[n]!))
        }
      })
    }))
    yield* Effect.forkScoped(Effect.forever(Effect.gen(function*() {
      const first = waiting.length > 0 ? [] : yield* arrived.takeAll
      yield* turn
      for (const one of [...first, ...arrived.unsafeTakeAll()]) waiting.push(one)
      yield* writeSome
    })))

    return (items) =>
      Effect.suspend(() => {
        const own = items.map((item): Waiting<A> => ({
          item,
          size: limits.sizeOf(item),
          written: EffectInternals.deferred()
        }))
        const more = own.reduce((all, { size }) => all + size, 0)
        if (size > 0 && size + more > limits.waiting) return full(limits.waiting)
        if (!own.every((one) => arrived.unsafeOffer(one))) return closed
        size += more
        for (const { written } of own) pending.add(written)
        return Effect.flatMap(
          Effect.partition(own, ({ written }) => Deferred.await(written)),
          ([[error], results]) => error ?? Effect.succeed(results.every((isStored) => isStored))
        )
      })
  })

const closed = Effect.fail(
  new SqlStoreError({ message: "The database did not store an event: its connection has closed" })
)

const full = (size: number) =>
  Effect.fail(
    new SqlStoreError({
      message:
        `The database did not store an event: more than ${size} characters wait for it, because it is slower than the ` +
        `streams of this node`
    })
  )

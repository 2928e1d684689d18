/**
 * Writes in one transaction what arrives in one turn of the event loop, because a transaction costs more than a row. One batch is
 * written at a time, and the event loop turns between two: SQLite stops it for the time of a batch.
 *
 * Mutable: `size` is the sum of the sizes in `waiting`, which is in the order of arrival; `left` of a group counts its items there.
 */
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import { turn } from "@effect-mcp/jsonrpc/unstable/kit/Turns"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { SqlStoreError } from "../SqlStoreError.js"

export interface Limits<A> {
  /** How many items one batch may have. */
  readonly count: number
  /** How large a batch may be; one item may be larger, alone. */
  readonly size: number
  /** How much may wait. */
  readonly waiting: number
  readonly sizeOf: (item: A) => number
}

/** Items that arrived together. */
interface Group {
  /** How many of them wait. */
  left: number
  /** What failed first, or whether each one was written. */
  result: Exit.Exit<boolean, SqlStoreError>
  readonly resume: (result: Effect.Effect<boolean, SqlStoreError>) => void
}

interface Waiting<A> {
  readonly item: A
  readonly size: number
  readonly group: Group
}

/**
 * Gives what writes items, in their order, and waits for all of them: `false` when one was refused. `write` gives the results in the
 * order of the items. What waits when the scope closes is not written.
 */
export const make = <A>(
  limits: Limits<A>,
  write: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<boolean>, SqlStoreError>
): Effect.Effect<(items: ReadonlyArray<A>) => Effect.Effect<boolean, SqlStoreError>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const isWaiting = yield* Effect.makeLatch(false)
    const waiting: Array<Waiting<A>> = []
    let size = 0
    let isClosed = false

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
      return Effect.zipRight(
        waiting.length === 0 ? isWaiting.close : Effect.void,
        Effect.map(Effect.exit(write(batch.map(({ item }) => item))), (exit) => {
          for (const [n, { group }] of batch.entries()) {
            const before = group.result
            if (Exit.isSuccess(before)) group.result = Exit.map(exit, (results) => before.value && results[n]!)
            if (--group.left === 0) group.resume(group.result)
          }
        })
      )
    }))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        for (const { group } of waiting.splice(0)) group.resume(closed)
      })
    )
    const due = Effect.zipRight(isWaiting.await, turn)
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(due, writeSome)))

    return (items) =>
      Effect.async((resume) => {
        const group: Group = { left: items.length, result: Exit.succeed(true), resume }
        const added = items.map((item): Waiting<A> => ({ item, size: limits.sizeOf(item), group }))
        const own = added.reduce((all, { size }) => all + size, 0)
        if (isClosed) return resume(closed)
        if (size > 0 && size + own > limits.waiting) return resume(full(limits.waiting))
        size += own
        for (const one of added) waiting.push(one)
        Edition.open(isWaiting)
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

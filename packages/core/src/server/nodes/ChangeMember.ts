/**
 * The common code of `RedisChangeBus` and `SqlChangeBus`. Each node is a member of the bus. This module publishes the changes of one node,
 * and reads the numbered changes of the other nodes. When a change may be lost, because the store failed or a number is missing, the
 * readers get the change `unknown`. After `unknown`, the readers treat every list and every resource as changed.
 *
 * Mutable values: `owed` is the number of changes of this node that the other nodes have not received. `number` is the number of the last
 * change that this node has read.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { Change, Member } from "../ChangeBus.js"
import * as Stored from "./Stored.js"

export const unknown: Change = { _tag: "Unknown" }

/** How long a member waits before it publishes that a change was lost, and between two attempts. */
const AGAIN = "1 second"

/** How long a closing member waits for the store to store its last change. */
const LAST = "400 millis"

/**
 * Makes the function that publishes changes with `store`. When the store fails, the other members get `unknown` as soon as the store works
 * again.
 */
export const publisher = (
  store: (change: Change) => Effect.Effect<unknown, unknown>
): Effect.Effect<Member["publish"], never, Scope.Scope> =>
  Effect.gen(function*() {
    const missed = yield* Queue.sliding<void>(1)
    let owed = 0
    const miss = Effect.sync(() => {
      owed++
      Queue.unsafeOffer(missed, undefined)
    })
    const settled = Effect.suspend(() => {
      // Another change may be lost while this change is being stored.
      const before = owed
      return Effect.map(store(unknown), () => {
        owed -= before
      })
    })
    const noticed = Effect.zipRight(
      Queue.take(missed),
      Effect.delay(Effect.ignore(Effect.retry(settled, Schedule.spaced(AGAIN))), AGAIN)
    )
    // When the node closes before the store works again, it tries one more time.
    const last = TimeLimit.end(Effect.ignore(settled), LAST)
    yield* Effect.addFinalizer(() => owed > 0 ? last : Effect.void)
    yield* Effect.forkScoped(Effect.interruptible(Effect.forever(noticed)))
    return (change) =>
      store(change).pipe(
        // Nobody knows whether the store has the change, so the other nodes get `unknown`.
        Effect.onInterrupt(() => miss),
        Effect.catchAll((error) =>
          Effect.zipRight(miss, Effect.logError("A change could not be sent to the other nodes", error))
        ),
        Effect.asVoid
      )
  })

/**
 * A change in the form in which the store gives it: the number, the node that has published the change, and the text of the change.
 * `member` is `undefined` when no node has published the entry. Then the log names the entry by `key`.
 */
export interface Numbered {
  readonly number: unknown
  readonly member: string | undefined
  readonly text: string | undefined
  readonly key: string
}

/** Reads the changes after a number. */
export class Reader {
  private readonly report = Stored.reporter()

  constructor(readonly member: string, public number: number) {}

  read(changes: ReadonlyArray<Numbered>): Effect.Effect<ReadonlyArray<Change>> {
    return Effect.map(Effect.forEach(changes, (one) => this.readOne(one)), (all) => all.flat())
  }

  private readOne({ key, member, number, text }: Numbered): Effect.Effect<ReadonlyArray<Change>> {
    const own = Number(number)
    // An entry without a valid number does not come from a node.
    if (!Number.isSafeInteger(own) || own < 1) return Effect.as(this.report(key), [])
    // When the number is not the next number, the store has removed changes before this node has read them, or has lost its last changes.
    const missed = own === this.number + 1 ? [] : [unknown]
    this.number = own
    if (member === this.member) return Effect.succeed(missed)
    // A node with a newer version of this library may publish many such changes, so the log gets only one line.
    const change = Stored.orReport(Stored.change(text), this.report, "a change of another node")
    return Effect.map(change, (change = unknown) => [...missed, change])
  }
}

/**
 * The parts that `RedisChangeBus` and `SqlChangeBus` share: how one node publishes its changes, and how it reads the numbered changes of
 * the other nodes, the other members of the bus. When a change may be lost, because the store failed or a number is missing, the readers
 * get the change `unknown`, and then treat every list and every resource as changed.
 *
 * Mutable: `owed` counts the changes of this node that the other nodes have not been told of, and `number` is the number of the change that
 * was read last.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { Change, Member } from "../ChangeBus.js"
import * as Stored from "./Stored.js"

export const unknown: Change = { _tag: "Unknown" }

/** How long a member waits before it tells the others of a lost change. Between two attempts it waits for the same time. */
const AGAIN = "1 second"

/** How long a member that closes waits for the store to take its last change. */
const LAST = "400 millis"

/** Publishes changes with `store`. When the store fails, the other members get `unknown` as soon as the store takes changes again. */
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
      // Another change may be lost while this one is stored.
      const before = owed
      return Effect.map(store(unknown), () => {
        owed -= before
      })
    })
    const noticed = Effect.zipRight(
      Queue.take(missed),
      Effect.delay(Effect.ignore(Effect.retry(settled, Schedule.spaced(AGAIN))), AGAIN)
    )
    // A node that closes before the store is there again tries once more.
    const last = TimeLimit.end(Effect.ignore(settled), LAST)
    yield* Effect.addFinalizer(() => owed > 0 ? last : Effect.void)
    yield* Effect.forkScoped(Effect.interruptible(Effect.forever(noticed)))
    return (change) =>
      store(change).pipe(
        // The store may or may not have the change: the other nodes are told that a change may be lost.
        Effect.onInterrupt(() => miss),
        Effect.catchAll((error) =>
          Effect.zipRight(miss, Effect.logError("A change could not be sent to the other nodes", error))
        ),
        Effect.asVoid
      )
  })

/**
 * What a reader has read of a change: its number, the node that has published it, and the change as a text. `member` is `undefined` when no
 * node has published the entry. The log then names the entry by `key`.
 */
export interface Numbered {
  readonly number: unknown
  readonly member: string | undefined
  readonly text: string | undefined
  readonly key: string
}

/** Reads the changes whose numbers come after a number. */
export class Reader {
  private readonly report = Stored.reporter()

  constructor(readonly member: string, public number: number) {}

  read(changes: ReadonlyArray<Numbered>): Effect.Effect<ReadonlyArray<Change>> {
    return Effect.map(Effect.forEach(changes, (one) => this.readOne(one)), (all) => all.flat())
  }

  private readOne({ key, member, number, text }: Numbered): Effect.Effect<ReadonlyArray<Change>> {
    const own = Number(number)
    // No node has added an entry without a valid number.
    if (!Number.isSafeInteger(own) || own < 1) return Effect.as(this.report(key), [])
    // The number is not the next one: changes were removed before they were read, or the store has lost its last changes.
    const missed = own === this.number + 1 ? [] : [unknown]
    this.number = own
    if (member === this.member) return Effect.succeed(missed)
    // Another node with a newer version of this library may publish many such changes, so the log has one line for all of them.
    const change = Stored.orReport(Stored.change(text), this.report, "a change of another node")
    return Effect.map(change, (change = unknown) => [...missed, change])
  }
}

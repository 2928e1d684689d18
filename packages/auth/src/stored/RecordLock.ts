/**
 * A lock between processes that share a database. The lock is a record whose text begins with the token of the process that holds the lock.
 * The holder changes the end of the text every 3 seconds. A waiting process that reads the same text for 15 seconds takes the lock, because
 * the holder must have ended. The processes do not need to compare their clocks.
 *
 * A holder that was suspended for a long time may continue when another process already has the lock. Therefore the database accepts a
 * write under a lock only if the record still begins with the token of the writer (`CredentialStore.makeShared`).
 */
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { CredentialDatabase, Lock } from "../CredentialDatabase.js"
import { failure } from "../discovery/Failure.js"

/** How often a waiting process reads the record, and how often the holder of the lock changes the record, in milliseconds. */
const LOOK = 200
const BEAT = 3000

/**
 * How many times in a row the database may fail to answer a waiting process, and how long the process waits after each failure, in
 * milliseconds.
 */
const MAX_UNANSWERED = 5
const PAUSE = 1000

/** How many times a waiting process must read the same text before it takes the lock. With `LOOK`, this takes 15 seconds. */
const MAX_SAME = 75

interface Held {
  readonly database: CredentialDatabase
  readonly lock: Lock
}

/** The lock of the current fiber; `undefined` outside of `exclusive`. */
export const held = EffectInternals.local<Held | undefined>("@effect-mcp/auth/stored/RecordLock", undefined)

/**
 * Runs an effect under the lock. When the database does not answer the first request, fails and does not run the effect. A process that
 * already waits for the lock continues to wait if the database answers again within a few seconds.
 */
export const exclusive = <A, E, R>(
  database: CredentialDatabase,
  name: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | AuthorizationError, R> =>
  Effect.scoped(Effect.flatMap(
    Effect.mapError(hold(database, name), unlocked),
    (lock) => EffectInternals.withValue(effect, held, { database, lock })
  ))

const unlocked = (cause: unknown) =>
  failure("Store", "Stored credentials could not be locked, and were not renewed: see the cause", { cause })

/** Waits for the lock, and holds it until the scope closes. */
const hold = (database: CredentialDatabase, name: string): Effect.Effect<Lock, unknown, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const lock = { name, token: crypto.randomUUID() }
      yield* take(database, lock, restore)
      yield* Effect.addFinalizer(() => Effect.ignore(database.write(name, undefined, lock)))
      yield* Effect.forkScoped(Effect.interruptible(beat(database, lock)))
      return lock
    })
  )

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const take = Effect.fnUntraced(function*(database: CredentialDatabase, { name, token }: Lock, restore: Restore) {
  let seen: string | undefined
  let same = 0
  const look = Effect.gen(function*() {
    const found = yield* restore(database.read(name))
    // The swap of an earlier attempt has succeeded, but its answer was lost.
    if (found?.startsWith(token) === true) return true
    same = found === seen ? same + 1 : 0
    seen = found
    const isFree = found === undefined || same >= MAX_SAME
    return isFree && (yield* database.swap(name, found, textOf(token, 0)))
  })
  let taken = yield* look
  let unanswered = 0
  while (!taken) {
    yield* restore(Effect.sleep(LOOK))
    const looked = yield* Effect.either(look)
    if (Either.isRight(looked)) {
      taken = looked.right
      unanswered = 0
    } else {
      if (++unanswered > MAX_UNANSWERED) return yield* Effect.fail(looked.left)
      yield* restore(Effect.sleep(PAUSE))
    }
  }
})

/** Changes the text every `BEAT` milliseconds to show that the holder still runs. Ends when the holder has lost the lock. */
const beat = Effect.fnUntraced(function*(database: CredentialDatabase, lock: Lock) {
  for (let beats = 1; true; beats++) {
    yield* Effect.sleep(BEAT)
    const written = yield* Effect.option(database.write(lock.name, textOf(lock.token, beats), lock))
    if (Option.contains(written, "LockLost")) return
  }
})

const textOf = (token: string, beats: number): string => `${token} ${beats}`

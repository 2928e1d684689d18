/**
 * Implements `SharedLimits` with SQL, over a `SqlConnection`. With this module, all nodes (processes) of a server share the same limits.
 * For each rate limit, a row has the time at which the whole allowance is available again. For each value that a client may use only once,
 * such as the id of a DPoP proof, a row has the time until which the server refuses the value.
 *
 * @since 0.1.0
 */
import { SharedLimits, SharedLimitsError, type SharedLimitsService } from "@effect-mcp/core/SharedLimits"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Sweep from "./connection/Sweep.js"
import { SqlConnection } from "./SqlConnection.js"
import type { SqlStoreError } from "./SqlStoreError.js"

/** @category constructors */
export const make: Effect.Effect<SharedLimitsService, never, SqlConnection | Scope.Scope> = Effect.gen(function*() {
  const connection = yield* SqlConnection
  const { now, run, sql, table } = connection
  const [rates, uses] = [table("rates"), table("uses")]
  yield* Sweep.every(connection, "rates", "uses")
  return {
    take: (key, { burst, every }, count = 1) => {
      if (count > burst) return Effect.succeed(Infinity)
      const step = Duration.toMillis(every)
      const cost = sql`CAST(${count * step} AS double precision)`
      const most = sql`CAST(${burst * step} AS double precision)`
      return unavailable(Effect.gen(function*() {
        const [id, at] = [yield* digest(key), yield* now]
        const next = sql`CASE WHEN ${rates}.expires > ${at} THEN ${rates}.expires ELSE ${at} END + ${cost}`
        const taken = yield* run(
          "count a rate",
          sql`
            INSERT INTO ${rates} (key, expires) VALUES (${id}, ${at} + ${cost})
            ON CONFLICT (key) DO UPDATE SET expires = ${next} WHERE ${next} <= ${at} + ${most}
            RETURNING key`
        )
        if (taken.length > 0) return 0
        const wait = sql<{ readonly wait: number }>`
          SELECT expires + ${cost} - (${at} + ${most}) AS wait FROM ${rates} WHERE key = ${id}`
        const [found] = yield* run("read a rate", wait)
        // The row may have been changed or deleted after the first statement, so the wait is at least 1 millisecond.
        return Math.max(1, Math.ceil(found?.wait ?? 1))
      }))
    },
    once: (key, ttl) =>
      unavailable(Effect.gen(function*() {
        const [id, at] = [yield* digest(key), yield* now]
        const until = sql`${at} + CAST(${Duration.toMillis(ttl)} AS double precision)`
        const used = yield* run(
          "store what happens once",
          sql`
            INSERT INTO ${uses} (key, expires) VALUES (${id}, ${until})
            ON CONFLICT (key) DO UPDATE SET expires = ${until} WHERE ${uses}.expires <= ${at}
            RETURNING key`
        )
        return used.length > 0
      }))
  }
})

/** @category layers */
export const layer: Layer.Layer<SharedLimits, never, SqlConnection> = Layer.scoped(SharedLimits, make)

/** Returns the digest of a key. The key is first written as JSON, because UTF-8 would replace lone surrogates. */
const digest = (key: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(key)))),
    (bytes) => Encoding.encodeBase64Url(new Uint8Array(bytes))
  )

const unavailable = <A>(effect: Effect.Effect<A, SqlStoreError>): Effect.Effect<A, SharedLimitsError> =>
  Effect.mapError(effect, ({ message }) => new SharedLimitsError({ message }))

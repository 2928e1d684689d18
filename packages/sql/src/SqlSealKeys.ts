/**
 * Implements `SealKeys` with SQL, over a `SqlConnection`. With these keys a server encrypts values that clients send back later. All nodes
 * (processes) of a server use the same keys. When the current key is too old, one node replaces the key for all nodes (`KeyRing` of core).
 * The database stores the secrets in plain text, so anyone who can read this database can decrypt these values.
 *
 * @since 0.1.0
 */
import { type Rotation, SealKeys, type SealKeysService } from "@effect-mcp/core/SealKeys"
import * as KeyRing from "@effect-mcp/core/unstable/server/KeyRing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlConnection } from "./SqlConnection.js"

/** @category constructors */
export const make = (rotation: Rotation = {}): Effect.Effect<SealKeysService, never, SqlConnection> =>
  Effect.map(SqlConnection, ({ now, run, sql, table }) => {
    const keys = table("seal_keys")
    return KeyRing.make({
      read: Effect.map(
        Effect.flatMap(now, (now) =>
          run(
            "read the keys",
            sql<{ readonly ring: string | null; readonly time: number | string }>`
              SELECT (SELECT ring FROM ${keys} WHERE id = 1) AS ring, ${now} AS time`
          )),
        ([row]) => ({ text: row?.ring ?? "", time: Number(row?.time) })
      ),
      swap: (before, after) =>
        run(
          "replace the keys",
          before === ""
            ? sql`INSERT INTO ${keys} (id, ring) VALUES (1, ${after}) ON CONFLICT (id) DO NOTHING`
            : sql`UPDATE ${keys} SET ring = ${after} WHERE id = 1 AND ring = ${before}`
        )
    }, rotation)
  })

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (rotation?: Rotation): Layer.Layer<SealKeys, never, SqlConnection> =>
  Layer.effect(SealKeys, make(rotation))

/** @category layers */
export const layer: Layer.Layer<SealKeys, never, SqlConnection> = layerWith()

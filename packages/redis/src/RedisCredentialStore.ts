/**
 * Implements `CredentialStore` of `@effect-mcp/auth` with Redis, over a `RedisConnection`. An owner of credentials is a user, or a service
 * with several processes. The processes share the logins of the owner, and only one process at a time renews a token. Redis stores the
 * credentials of one owner in one hash. Redis stores tokens, secrets and keys in plain text, so anyone who can read this Redis can use
 * them.
 *
 * @since 0.1.0
 */
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Script } from "./RedisCommand.js"
import { RedisConnection } from "./RedisConnection.js"

/**
 * The options of `make` and `layer`.
 *
 * @category models
 */
export interface Options {
  /**
   * How many records one owner may have. An owner has about three records for each server at which the owner is logged in. Default: 1,000.
   */
  readonly maxRecords?: number | undefined
}

/** Reads a record. ARGV: the name of the record. */
const read: Script = {
  keys: 1,
  types: ["hash"],
  lua: `return redis.call("HGET", KEYS[1], ARGV[1])`
}

/**
 * Writes or removes a record. ARGV: the limit of records, the name of the record, the name of the lock or "" without a lock, the token of
 * the lock, the text. Without a text the script removes the record.
 */
const write: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    if ARGV[3] ~= "" then
      local held = redis.call("HGET", KEYS[1], ARGV[3])
      if not held or string.sub(held, 1, #ARGV[4]) ~= ARGV[4] then return "LockLost" end
    end
    if not ARGV[5] then
      redis.call("HDEL", KEYS[1], ARGV[2])
      return "Stored"
    end
    if redis.call("HEXISTS", KEYS[1], ARGV[2]) == 0 and redis.call("HLEN", KEYS[1]) >= tonumber(ARGV[1]) then return "Full" end
    redis.call("HSET", KEYS[1], ARGV[2], ARGV[5])
    return "Stored"`
}

/** Replaces the text of a record. ARGV: the name of the record, the text before ("" when there is no record), the text after. */
const swap: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    if (redis.call("HGET", KEYS[1], ARGV[1]) or "") ~= ARGV[2] then return 0 end
    redis.call("HSET", KEYS[1], ARGV[1], ARGV[3])
    return 1`
}

/**
 * Makes the store of one owner. `owner` is the name of a user, or the name of a service whose processes log in as the service.
 *
 * @category constructors
 */
export const make = (
  owner: string,
  { maxRecords = 1000 }: Options = {}
): Effect.Effect<CredentialStore.CredentialStoreService, never, RedisConnection> =>
  Effect.flatMap(RedisConnection, ({ prefix, run }) =>
    CredentialStore.makeShared(owner, (owner) => {
      const key = `${prefix}credentials:${owner}`
      return {
        read: (name) => Effect.map(run(read, key, name), (reply) => reply === null ? undefined : String(reply)),
        write: (name, text, lock) =>
          Effect.map(
            run(
              write,
              key,
              maxRecords,
              name,
              lock?.name ?? "",
              lock?.token ?? "",
              ...(text === undefined ? [] : [text])
            ),
            (reply) => reply as "Stored" | "LockLost" | "Full"
          ),
        swap: (name, before = "", after) => Effect.map(run(swap, key, name, before, after), (reply) => reply === 1)
      }
    }))

/** @category layers */
export const layer = (
  owner: string,
  options?: Options
): Layer.Layer<CredentialStore.CredentialStore, never, RedisConnection> =>
  Layer.effect(CredentialStore.CredentialStore, make(owner, options))

/**
 * Defines the types of the scripts that this package sends to Redis, and of the replies of Redis.
 *
 * `RedisConnection` sends the scripts, and passes the replies to the other modules of this package.
 *
 * @since 0.1.0
 */

/**
 * A reply of Redis: a text, a number, `null` for a missing value, or a list of replies.
 *
 * @category models
 */
export type Reply = string | number | null | ReadonlyArray<Reply>

/**
 * The type of a key, as the command `TYPE` names it.
 *
 * @category models
 */
export type KeyType = "hash" | "stream" | "string" | "zset"

/**
 * A Lua script, and the number of its keys.
 *
 * @category models
 */
export interface Script {
  readonly lua: string
  readonly keys: number
  /** The types that the keys must have, in the order of the keys. Default: the types are not checked. */
  readonly types?: ReadonlyArray<KeyType> | undefined
}

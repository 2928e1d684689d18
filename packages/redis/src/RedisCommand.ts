/**
 * What goes to Redis and comes back: scripts and replies.
 *
 * `RedisConnection` sends the scripts and gives the replies to the other modules of this package.
 *
 * @since 0.1.0
 */

/**
 * What Redis answers: texts, numbers, and lists of them.
 *
 * @category models
 */
export type Reply = string | number | null | ReadonlyArray<Reply>

/** @category models */
export type KeyType = "hash" | "stream" | "string" | "zset"

/**
 * A Lua script, and how many keys it has.
 *
 * @category models
 */
export interface Script {
  readonly lua: string
  readonly keys: number
  /** The types of the keys, in their order, as the command `TYPE` names them. */
  readonly types?: ReadonlyArray<KeyType> | undefined
}

/**
 * Reads entries of Redis streams. `RedisChangeBus` and `RedisInbox` call `reading`, which reads the entries after an id, and waits for new
 * entries. `RedisEventStore` calls `ofReply`, which decodes entries. The caller of `reading` stores the id of the last entry that it has
 * received. So after a lost connection, `reading` continues with the next entry.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Reply, Script } from "../RedisCommand.js"
import type { RedisConnectionService } from "../RedisConnection.js"
import type { RedisError } from "../RedisError.js"
import { MAX_WAIT } from "./RedisClient.js"

export interface Entry {
  readonly id: string
  readonly fields: Readonly<Record<string, string | undefined>>
}

/** How many entries one read gives at most. */
const COUNT = 256

/** Returns the entries in a reply to `XRANGE`, or in the part of a reply to `XREAD` that is about one stream. */
export const ofReply = (reply: Reply): ReadonlyArray<Entry> =>
  (Array.isArray(reply) ? reply as ReadonlyArray<readonly [string, ReadonlyArray<string>]> : []).map(([id, list]) => {
    const fields: Record<string, string> = {}
    for (let i = 0; i < list.length; i += 2) fields[list[i]!] = list[i + 1]!
    return { id, fields }
  })

/** Returns the id of the last entry of a stream; "0-0" when the stream is empty or missing. */
export const lastId = (
  command: RedisConnectionService["command"],
  stream: string
): Effect.Effect<string, RedisError> =>
  Effect.map(command("XREVRANGE", stream, "+", "-", "COUNT", 1), (reply) => ofReply(reply)[0]?.id ?? "0-0")

/**
 * Reads the end of a stream. KEYS: the stream. Returns the id of the last entry that was ever added to the stream, and the id of the
 * process of Redis.
 */
const look: Script = {
  keys: 1,
  types: ["stream"],
  lua: `
    local last = "0-0"
    if redis.call("EXISTS", KEYS[1]) == 1 then
      local about = redis.call("XINFO", "STREAM", KEYS[1])
      for at = 1, #about, 2 do
        if about[at] == "last-generated-id" then last = about[at + 1] end
      end
    end
    local server = redis.pcall("INFO", "server")
    return {last, type(server) == "string" and string.match(server, "run_id:(%w+)") or ""}`
}

/** The end of a stream. */
export interface End {
  /** The id of the last entry that was ever added to the stream, even if the entry was removed. "0-0" when there is no stream. */
  readonly last: string
  /**
   * The id of the process of Redis. When the id changes, Redis was restarted and may have lost its last entries. The id is "" when Redis
   * does not give it.
   */
  readonly process: string
}

export const end = (run: RedisConnectionService["run"], stream: string): Effect.Effect<End, RedisError> =>
  Effect.map(run(look, stream), (reply) => {
    const [last, process] = reply as readonly [string, string]
    return { last, process }
  })

/** Returns whether the entry with the id `one` was stored before the entry with the id `other`, in the same stream. */
export const isBefore = (one: string, other: string): boolean => {
  const [time, number] = one.split("-").map(Number)
  const [otherTime, otherNumber] = other.split("-").map(Number)
  return time! < otherTime! || (time === otherTime && number! < otherNumber!)
}

type Blocking = Effect.Effect.Success<RedisConnectionService["blocking"]>

const spaced = Schedule.spaced("200 millis")

/**
 * Waits for entries after the id that `after` returns, and passes the entries to `entries`. When no entries arrive within `MAX_WAIT`, or
 * Redis does not answer, this function runs `otherwise` until `otherwise` succeeds. `otherwise` checks whether Redis still has the stream
 * and its last entries.
 */
export const reading = <A>(
  blocking: Blocking,
  stream: string,
  after: () => string,
  entries: (found: ReadonlyArray<Entry>) => Effect.Effect<A>,
  otherwise: Effect.Effect<A, RedisError>
): Effect.Effect<A> => {
  const again = (error: RedisError) => Effect.logDebug(`Redis is read again: ${error.message}`)
  const looked = Effect.orDie(Effect.retry(Effect.tapError(otherwise, again), spaced))
  return Effect.suspend(() =>
    blocking(MAX_WAIT, "XREAD", "COUNT", COUNT, "BLOCK", MAX_WAIT, "STREAMS", stream, after())
  )
    .pipe(
      Effect.matchEffect({
        onFailure: (error) => Effect.zipRight(again(error), Effect.delay(looked, "200 millis")),
        onSuccess: (reply) =>
          Array.isArray(reply)
            ? entries(ofReply((reply as ReadonlyArray<readonly [string, Reply]>)[0]![1]))
            : looked
      })
    )
}

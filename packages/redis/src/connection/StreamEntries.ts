/**
 * Entries of Redis streams: reads the entries after an id, and waits for more. `RedisChangeBus` and `RedisInbox` follow streams,
 * `RedisEventStore` reads streams. The reader keeps the id of the last entry itself, so that no entry is lost or comes twice when a
 * connection breaks.
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

const COUNT = 256

/** The entries of a reply to `XRANGE`, or of one stream of `XREAD`. */
export const ofReply = (reply: Reply): ReadonlyArray<Entry> =>
  (Array.isArray(reply) ? reply as ReadonlyArray<readonly [string, ReadonlyArray<string>]> : []).map(([id, list]) => {
    const fields: Record<string, string> = {}
    for (let i = 0; i < list.length; i += 2) fields[list[i]!] = list[i + 1]!
    return { id, fields }
  })

/** The id of the last entry that there is. */
export const lastId = (
  command: RedisConnectionService["command"],
  stream: string
): Effect.Effect<string, RedisError> =>
  Effect.map(command("XREVRANGE", stream, "+", "-", "COUNT", 1), (reply) => ofReply(reply)[0]?.id ?? "0-0")

/** KEYS: stream. Gives the id of the last entry that it has had, and which process Redis is. */
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

/** Where a stream ends at Redis. */
export interface End {
  /** The id of the last entry that the stream has had, also of a removed entry. 0-0 when there is no stream. */
  readonly last: string
  /**
   * The id of the process of Redis. It changes when Redis has ended, and may have lost its last entries. Empty where Redis does not give
   * it.
   */
  readonly process: string
}

export const end = (run: RedisConnectionService["run"], stream: string): Effect.Effect<End, RedisError> =>
  Effect.map(run(look, stream), (reply) => {
    const [last, process] = reply as readonly [string, string]
    return { last, process }
  })

/** Whether an entry was stored before another entry of the same stream. */
export const isBefore = (one: string, other: string): boolean => {
  const [time, number] = one.split("-").map(Number)
  const [otherTime, otherNumber] = other.split("-").map(Number)
  return time! < otherTime! || (time === otherTime && number! < otherNumber!)
}

type Blocking = Effect.Effect.Success<RedisConnectionService["blocking"]>

const spaced = Schedule.spaced("200 millis")

/**
 * Waits for entries after an id. When Redis does not answer, or there are none for a while, `otherwise` finds out whether the
 * stream is still the same. Both are tried again.
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

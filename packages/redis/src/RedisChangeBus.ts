/**
 * `ChangeBus` in Redis: one stream that all nodes append to, and that each reads with a connection of its own. The entries are
 * numbered, so that a node knows when it has missed some. A node that cannot know it, because Redis was restarted, assumes it.
 *
 * @since 0.1.0
 */
import { type Change, ChangeBus, type ChangeBusService, type Member } from "@effect-mcp/server/ChangeBus"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Stored from "@effect-mcp/server/unstable/Stored"
import * as Entries from "./connection/Entries.js"
import type { Script } from "./RedisCommand.js"
import { RedisConnection } from "./RedisConnection.js"

/** @category models */
export interface Options {
  /** How many changes are stored at least; a node that is further behind gets `Unknown`. Default: 10,000. */
  readonly maxChanges?: number | undefined
}

/** KEYS: stream, counter. ARGV: member, change, number of changes to keep. */
const publish: Script = {
  keys: 2,
  types: ["stream", "string"],
  lua: `
    if not tonumber(redis.call("GET", KEYS[2]) or 0) then redis.call("DEL", KEYS[2]) end
    local number = redis.call("INCR", KEYS[2])
    redis.call("XADD", KEYS[1], "MAXLEN", "~", ARGV[3], "*", "number", number, "member", ARGV[1], "change", ARGV[2])
    return number`
}

const unknown: Change = { _tag: "Unknown" }

/** How long a member that closes waits until Redis has taken its last change. */
const LAST = "400 millis"

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<ChangeBusService, never, RedisConnection> =>
  Effect.map(RedisConnection, ({ blocking, command, prefix, run }) => {
    const stream = `${prefix}{changes}`
    const counter = `${prefix}{changes}:number`
    const report = Stored.reporter()
    const max = options.maxChanges ?? 10_000
    // The number before the end of the stream, so that no change is missed from then on.
    const place = Effect.gen(function*() {
      const number = Number((yield* command("GET", counter)) ?? 0) || 0
      return { number, ...(yield* Entries.end(run, stream)) }
    })
    const join = Effect.gen(function*() {
      const id = crypto.randomUUID()
      const store = (change: Change) => Effect.asVoid(run(publish, stream, counter, id, JSON.stringify(change), max))
      // When Redis is there again, the other members learn that they have missed changes.
      const missed = yield* Queue.sliding<void>(1)
      let owed = 0
      const miss = Effect.sync(() => {
        owed++
        Queue.unsafeOffer(missed, undefined)
      })
      const settled = Effect.suspend(() => {
        const before = owed
        return Effect.map(store(unknown), () => {
          owed -= before
        })
      })
      const noticed = Effect.zipRight(
        Queue.take(missed),
        Effect.ignore(Effect.retry(settled, Schedule.spaced("1 second")))
      )
      // A node that closes before Redis is there again tries once more. Only an effect that can be interrupted ends when the time is over.
      const told = Effect.timeoutOption(Effect.interruptible(Effect.disconnect(Effect.ignore(settled))), LAST)
      yield* Effect.addFinalizer(() => owed > 0 ? told : Effect.void)
      yield* Effect.forkScoped(Effect.interruptible(Effect.forever(noticed)))

      let { last, number, process } = yield* place
      const received = (entries: ReadonlyArray<Entries.Entry>) =>
        Effect.map(
          Effect.forEach(entries, ({ fields, id: at }) => {
            last = at
            const own = Number(fields.number)
            // No node has added this entry.
            if (!Number.isSafeInteger(own) || own < 1) return Effect.as(report(`${at} of ${stream}`), [])
            // A lower number: Redis has lost its data.
            const missed = own === number + 1 ? [] : [unknown]
            number = own
            if (fields.member === id) return Effect.succeed(missed)
            const change = Stored.orReport(Stored.change(fields.change), report, `${at} of ${stream}`)
            return Effect.map(change, (change = unknown) => [...missed, change])
          }),
          (changes) => changes.flat()
        )
      // Changes may have been lost that no member has read, and later entries may have the ids of earlier ones.
      const looked = Effect.map(place, (now): ReadonlyArray<Change> => {
        if (now.process === process && now.number >= number && !Entries.isBefore(now.last, last)) return []
        ;({ last, number, process } = now)
        return [unknown]
      })
      const read = Entries.reading(yield* blocking, stream, () => last, received, looked)
      return {
        publish: (change) =>
          store(change).pipe(
            // Redis may have stored it, or not: the other nodes are told that a change may be lost.
            Effect.onInterrupt(() => miss),
            Effect.catchAll((error) =>
              Effect.zipRight(miss, Effect.logError("A change could not be sent to the other nodes", error))
            )
          ),
        changes: Stream.repeatEffectChunk(Effect.map(read, Chunk.fromIterable))
      } satisfies Member
    })
    return { join: Effect.orDie(join) }
  })

/** @category layers */
export const layer = (options?: Options): Layer.Layer<ChangeBus, never, RedisConnection> =>
  Layer.effect(ChangeBus, make(options))

/**
 * Implements `ChangeBus` with Redis, over a `RedisConnection`. Through this bus the nodes (processes) of a server notify each other of
 * changes. All nodes append entries to one Redis stream, and each node reads the stream with a separate connection. The entries have
 * numbers, so a node notices when it has missed entries. A restarted Redis may have lost its last entries together with their numbers. So
 * after a restart of Redis, a node assumes that it has missed entries. `ChangeMember` of core decodes the entries.
 *
 * @since 0.1.0
 */
import { type Change, ChangeBus, type ChangeBusService, type Member } from "@effect-mcp/core/ChangeBus"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as ChangeMember from "@effect-mcp/core/unstable/server/ChangeMember"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as StreamEntries from "./connection/StreamEntries.js"
import type { Script } from "./RedisCommand.js"
import { RedisConnection } from "./RedisConnection.js"

/**
 * The options of `make` and `layerWith`.
 *
 * @category models
 */
export interface Options {
  /**
   * How many of the last changes Redis stores at least. When a node has fallen behind, and Redis no longer stores all changes that the node
   * has not read, the node gets the change `Unknown` instead of the lost changes. Default: 10,000.
   */
  readonly maxChanges?: number | undefined
}

/**
 * Adds a change to the stream. KEYS: the stream, the counter. ARGV: the id of the node that publishes, the change, how many changes Redis
 * keeps at least.
 */
const publish: Script = {
  keys: 2,
  types: ["stream", "string"],
  lua: `
    if not tonumber(redis.call("GET", KEYS[2]) or 0) then redis.call("DEL", KEYS[2]) end
    local number = redis.call("INCR", KEYS[2])
    redis.call("XADD", KEYS[1], "MAXLEN", "~", ARGV[3], "*", "number", number, "member", ARGV[1], "change", ARGV[2])
    return number`
}

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<ChangeBusService, never, RedisConnection> =>
  Effect.map(RedisConnection, ({ blocking, command, prefix, run }) => {
    const stream = `${prefix}{changes}`
    const counter = `${prefix}{changes}:number`
    const max = options.maxChanges ?? 10_000
    // The effect reads the number first and the end of the stream afterwards, so that this node misses no later change.
    const place = Effect.gen(function*() {
      const number = Number((yield* command("GET", counter)) ?? 0) || 0
      return { number, ...(yield* StreamEntries.end(run, stream)) }
    })
    const join = Effect.gen(function*() {
      const id = crypto.randomUUID()
      const store = (change: Change) => run(publish, stream, counter, id, JSON.stringify(change), max)
      const publishing = yield* ChangeMember.publisher(store)
      const begin = yield* place
      let { last, process } = begin
      const reader = new ChangeMember.Reader(id, begin.number)
      const received = (entries: ReadonlyArray<StreamEntries.Entry>) => {
        last = entries.at(-1)?.id ?? last
        return reader.read(entries.map(({ fields: { change, member, number }, id }) => ({
          number,
          member,
          text: change,
          key: `${id} of ${stream}`
        })))
      }
      // When Redis was restarted, or the number or the last entry of the stream is lower than before, changes may be lost. Then the node
      // continues at the present end of the stream.
      const looked = Effect.map(place, (now): ReadonlyArray<Change> => {
        if (now.process === process && now.number >= reader.number && !StreamEntries.isBefore(now.last, last)) return []
        ;({ last, number: reader.number, process } = now)
        return [ChangeMember.unknown]
      })
      const read = StreamEntries.reading(yield* blocking, stream, () => last, received, looked)
      return {
        publish: publishing,
        changes: StreamArrays.fromPull(read)
      } satisfies Member
    })
    return { join: Effect.orDie(join) }
  })

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<ChangeBus, never, RedisConnection> =>
  Layer.effect(ChangeBus, make(options))

/** @category layers */
export const layer: Layer.Layer<ChangeBus, never, RedisConnection> = layerWith()

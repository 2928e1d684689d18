/**
 * `Inbox` in Redis: one stream for each node, from which the node removes what it has read. The inbox of a node that has
 * stopped without a word is gone when its lease has expired.
 *
 * @since 0.1.0
 */
import { Inbox, InboxError, type InboxService, type Mailbox } from "@effect-mcp/core/Inbox"
import * as Lease from "@effect-mcp/core/unstable/server/Lease"
import * as Stored from "@effect-mcp/core/unstable/server/Stored"
import * as StoreText from "@effect-mcp/core/unstable/server/StoreText"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Entries from "./connection/Entries.js"
import type { Script } from "./RedisCommand.js"
import { RedisConnection } from "./RedisConnection.js"
import type { RedisError } from "./RedisError.js"

/** @category models */
export interface Options {
  /** How many bytes may wait in one inbox, and one text more. Default: 64 Mi (67,108,864). */
  readonly maxSize?: number | undefined
  /** How long the inbox of a node that does not renew it stays open. Default: 10 seconds. */
  readonly lease?: Duration.DurationInput | undefined
}

/** How many texts a node reads before it removes them: one removal for each would cost as much as reading. */
const MAX_LEFT = 64

/** KEYS: stream, size of what waits. ARGV: text, greatest size. The key of the size is there while the inbox is open. */
const send: Script = {
  keys: 2,
  types: ["stream", "string"],
  lua: `
    local size = redis.call("GET", KEYS[2])
    if not size then return "gone" end
    if not tonumber(size) then redis.call("SET", KEYS[2], 0, "KEEPTTL") end
    if (tonumber(size) or 0) > tonumber(ARGV[2]) then return "full" end
    redis.call("INCRBY", KEYS[2], #ARGV[1])
    redis.call("XADD", KEYS[1], "*", "text", ARGV[1])
    redis.call("PEXPIRE", KEYS[1], redis.call("PTTL", KEYS[2]) + 60000)
    return "sent"`
}

/** KEYS: stream, size. ARGV: the id of the last entry that was read. Removes all up to it. */
const remove: Script = {
  keys: 2,
  types: ["stream", "string"],
  lua: `
    local entries = redis.call("XRANGE", KEYS[1], "-", ARGV[1])
    local size = 0
    for _, entry in ipairs(entries) do
      if entry[2][1] == "text" then size = size + #entry[2][2] end
      redis.call("XDEL", KEYS[1], entry[1])
    end
    if redis.call("EXISTS", KEYS[2]) == 1 then redis.call("DECRBY", KEYS[2], size) end
    return size`
}

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<InboxService, never, RedisConnection> =>
  Effect.map(RedisConnection, ({ blocking, prefix, run, upkeep: { command, run: keep } }) => {
    const report = Stored.reporter()
    const maxSize = options.maxSize ?? 64 * 1024 * 1024
    const maxSizeLeft = Math.min(maxSize / 16, 256 * 1024)
    const lease = Duration.toMillis(options.lease ?? "10 seconds")
    const keys = (node: string) => [`${prefix}{inbox:${node}}`, `${prefix}{inbox:${node}}:size`] as const
    const mailbox: Mailbox["send"] = (node, text) =>
      Effect.flatMap(Effect.mapError(run(send, ...keys(node), text, maxSize), unavailable), (reply) =>
        reply === "sent"
          ? Effect.void
          : Effect.fail(
            reply === "gone"
              ? new InboxError({ reason: "Gone", message: StoreText.gone(node) })
              : new InboxError({ reason: "Full", message: StoreText.full(node, `${maxSize} bytes`) })
          ))
    const open = (node: string) =>
      Effect.gen(function*() {
        const [stream, size] = keys(node)
        const lost = yield* Lease.hold({
          length: lease,
          take: command("SET", size, 0, "PX", lease),
          // A node that comes too late stays gone: what was sent to it since is lost.
          renew: Effect.map(command("PEXPIRE", size, lease), (renewed) => renewed === 1),
          release: command("DEL", stream, size)
        })
        let last = "0-0"
        // What was read since the last removal.
        let entriesLeft = 0
        let sizeLeft = 0
        const removed = Effect.suspend(() => {
          entriesLeft = sizeLeft = 0
          return Effect.ignore(keep(remove, stream, size, last))
        })
        const found = (entries: ReadonlyArray<Entries.Entry>) => {
          last = entries.at(-1)?.id ?? last
          entriesLeft += entries.length
          return Effect.map(
            Effect.forEach(entries, ({ fields: { text }, id }) => {
              sizeLeft += text?.length ?? 0
              return Stored.orReport(text, report, `${id} of ${stream}`)
            }),
            (texts) => texts.filter((text) => text !== undefined)
          )
        }
        // What is sent to a stream that has expired may have lower ids. A stream that has lost its end is given up: what this node
        // has read of it cannot be told from what it has not.
        const looked = Effect.flatMap(Entries.end(keep, stream), (end) => {
          if (end.last === "0-0") last = end.last
          return Entries.isBefore(end.last, last)
            ? Effect.as(command("DEL", stream, size), undefined)
            : Effect.succeed<ReadonlyArray<string>>([])
        })
        const read = Entries.reading<ReadonlyArray<string> | undefined>(
          yield* blocking,
          stream,
          () => last,
          found,
          looked
        )
        const received = Stream.repeatEffectChunkOption(Effect.flatMap(read, (texts) => {
          if (texts === undefined) return Effect.fail(Option.none())
          const isIdle = texts.length === 0 && entriesLeft > 0
          const isDue = isIdle || entriesLeft >= MAX_LEFT || sizeLeft >= maxSizeLeft
          return Effect.as(isDue ? removed : Effect.void, Chunk.fromIterable(texts))
        }))
        return { send: mailbox, received: Stream.interruptWhen(received, lost) } satisfies Mailbox
      })
    return { open: (node) => Effect.mapError(open(node), unavailable) }
  })

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<Inbox, never, RedisConnection> =>
  Layer.effect(Inbox, make(options))

/** @category layers */
export const layer: Layer.Layer<Inbox, never, RedisConnection> = layerWith()

const unavailable = ({ isRefused, report }: RedisError): InboxError =>
  new InboxError({ reason: isRefused === true ? "Refused" : "Unavailable", message: report })

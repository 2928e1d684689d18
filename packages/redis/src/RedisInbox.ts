/**
 * Implements `Inbox` with Redis, over a `RedisConnection`. Through inboxes, the nodes (processes) of a server send requests and answers to
 * each other. The inbox of a node is one Redis stream. The node removes the entries that it has read. An inbox is open only for a limited
 * time, its lease, which the node must renew again and again. When a node has crashed, the lease expires, and other nodes can no longer
 * send to the inbox.
 *
 * @since 0.1.0
 */
import { Inbox, InboxError, type InboxService, type Mailbox } from "@effect-mcp/core/Inbox"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Lease from "@effect-mcp/core/unstable/server/Lease"
import * as Stored from "@effect-mcp/core/unstable/server/Stored"
import * as StoreText from "@effect-mcp/core/unstable/server/StoreText"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as StreamEntries from "./connection/StreamEntries.js"
import type { Script } from "./RedisCommand.js"
import { RedisConnection, type RedisConnectionService } from "./RedisConnection.js"
import type { RedisError } from "./RedisError.js"

/**
 * The options of `make` and `layerWith`.
 *
 * @category models
 */
export interface Options {
  /**
   * How many bytes may wait in one inbox. A text is refused only when the inbox already has more than this number, so the last accepted
   * text may exceed the limit. Default: 64 Mi (67,108,864) bytes.
   */
  readonly maxSize?: number | undefined
  /** How long the inbox of a node stays open when the node does not renew the lease. Default: 10 seconds. */
  readonly lease?: Duration.DurationInput | undefined
}

/** How many texts a node reads before it removes them together. Removing each text separately would cost as much as reading it. */
const MAX_LEFT = 64

/**
 * Sends a text to an inbox. KEYS: the stream, the size of the waiting texts. ARGV: the text, the limit for the size of the waiting texts.
 * The second key exists only while the inbox is open.
 */
const sending: Script = {
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

/** Removes all entries up to an entry. KEYS: the stream, the size. ARGV: the id of the last entry that was read. */
const removing: Script = {
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

interface Self extends RedisConnectionService {
  readonly maxSize: number
  /** When the node has read this number of characters, it removes the entries that it has read. */
  readonly maxSizeLeft: number
  /** Milliseconds. */
  readonly lease: number
  /** Logs that an entry cannot be decoded. */
  readonly report: (key: string) => Effect.Effect<void>
}

/** The inbox of this node, and how far the node has read the inbox. */
interface Reader extends Self {
  readonly stream: string
  /** The key of the size of the waiting texts. */
  readonly size: string
  /** The id of the last entry that was read. `take` sets the id. `look` sets the id to "0-0" when the stream no longer exists. */
  last: string
  /**
   * How many entries this node has read since the last removal. `sizeLeft` is the number of characters of these entries. `take` increases
   * `entriesLeft` and `sizeLeft`; `removeRead` sets them to 0.
   */
  entriesLeft: number
  sizeLeft: number
}

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<InboxService, never, RedisConnection> =>
  Effect.map(RedisConnection, (connection) => {
    const maxSize = options.maxSize ?? 64 * 1024 * 1024
    const self: Self = {
      ...connection,
      maxSize,
      maxSizeLeft: Math.min(maxSize / 16, 256 * 1024),
      lease: Duration.toMillis(options.lease ?? "10 seconds"),
      report: Stored.reporter()
    }
    return { open: (node) => Effect.mapError(open(self, node), unavailable) }
  })

const open = Effect.fnUntraced(function*(self: Self, node: string) {
  const [stream, size] = keysOf(self, node)
  const lost = yield* hold(self, node)
  const reader: Reader = { ...self, stream, size, last: "0-0", entriesLeft: 0, sizeLeft: 0 }
  const received = yield* texts(reader)
  return {
    send: (node, text) => send(self, node, text),
    received: Stream.interruptWhen(received, lost)
  } satisfies Mailbox
})

const keysOf = ({ prefix }: Self, node: string) =>
  [`${prefix}{inbox:${node}}`, `${prefix}{inbox:${node}}:size`] as const

const send = (self: Self, node: string, text: string): Effect.Effect<void, InboxError> => {
  const { maxSize, run } = self
  return Effect.flatMap(
    Effect.mapError(run(sending, ...keysOf(self, node), text, maxSize), unavailable),
    (reply) =>
      reply === "sent"
        ? Effect.void
        : Effect.fail(
          reply === "gone"
            ? new InboxError({ reason: "Gone", message: StoreText.gone(node) })
            : new InboxError({ reason: "Full", message: StoreText.full(node, `${maxSize} bytes`) })
        )
  )
}

/** Opens the inbox of a node, and keeps the inbox open until the scope closes. */
const hold = (self: Self, node: string) => {
  const { lease, upkeep: { command } } = self
  const [stream, size] = keysOf(self, node)
  return Lease.hold({
    length: lease,
    take: command("SET", size, 0, "PX", lease),
    // A node that renews too late does not get its inbox back, because texts that were sent after the expiry are lost.
    renew: Effect.map(command("PEXPIRE", size, lease), (renewed) => renewed === 1),
    release: command("DEL", stream, size)
  })
}

/** Returns the texts of the inbox, in their order. The stream ends when this node deletes its inbox (`look`). */
const texts = Effect.fnUntraced(function*(reader: Reader) {
  const { blocking, maxSizeLeft, stream } = reader
  const read = StreamEntries.reading<ReadonlyArray<string> | undefined>(
    yield* blocking,
    stream,
    () => reader.last,
    (entries) => take(reader, entries),
    look(reader)
  )
  return StreamArrays.fromPull(Effect.flatMap(read, (texts) => {
    if (texts === undefined) return Effect.fail(Option.none())
    const isIdle = texts.length === 0 && reader.entriesLeft > 0
    const isDue = isIdle || reader.entriesLeft >= MAX_LEFT || reader.sizeLeft >= maxSizeLeft
    return Effect.as(isDue ? removeRead(reader) : Effect.void, texts)
  }))
})

const take = (reader: Reader, entries: ReadonlyArray<StreamEntries.Entry>): Effect.Effect<ReadonlyArray<string>> => {
  reader.last = entries.at(-1)?.id ?? reader.last
  reader.entriesLeft += entries.length
  return Effect.map(
    Effect.forEach(entries, ({ fields: { text }, id }) => {
      reader.sizeLeft += text?.length ?? 0
      return Stored.orReport(text, reader.report, `${id} of ${reader.stream}`)
    }),
    (texts) => texts.filter((text) => text !== undefined)
  )
}

/**
 * Checks the stream after a read that gave no entries. When the stream no longer exists, a new stream may have entries with lower ids, so
 * this node reads from the id 0-0 again. When the stream has lost its last entries, this node cannot tell which texts are new. Then the
 * node deletes the inbox, and the effect gives `undefined`.
 */
const look = (reader: Reader): Effect.Effect<ReadonlyArray<string> | undefined, RedisError> => {
  const { size, stream, upkeep: { command, run } } = reader
  return Effect.flatMap(StreamEntries.end(run, stream), (end) => {
    if (end.last === "0-0") reader.last = end.last
    return StreamEntries.isBefore(end.last, reader.last)
      ? Effect.as(command("DEL", stream, size), undefined)
      : Effect.succeed<ReadonlyArray<string>>([])
  })
}

const removeRead = (reader: Reader): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { last, size, stream, upkeep: { run } } = reader
    reader.entriesLeft = reader.sizeLeft = 0
    return Effect.ignore(run(removing, stream, size, last))
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

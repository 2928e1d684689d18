/**
 * Implements `EventStore` with Redis, over a `RedisConnection`. Each event stream of a session is one Redis stream. A session has a number,
 * its epoch. Each time a node (process of the server) claims the session in the `SessionDirectory`, the epoch increases. Redis refuses an
 * event with an epoch that is over. An epoch is over when a node has claimed the session with a later epoch, or has stored events with a
 * later epoch. `EventDatabase` of core makes the `EventStore`, and `StreamEntries` decodes the events.
 *
 * @since 0.1.0
 */
import { EventStore, type EventStoreService, type StoredEvent, type StreamKey } from "@effect-mcp/core/EventStore"
import * as EventDatabase from "@effect-mcp/core/unstable/server/EventDatabase"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RedisKeys from "./connection/RedisKeys.js"
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
  /** How many events Redis stores for one stream. When there are more events, Redis drops the oldest events. Default: 1,000. */
  readonly maxEvents?: number | undefined
  /** How long Redis stores the stream of a request after the response to the request. Default: 5 minutes. */
  readonly retention?: Duration.DurationInput | undefined
  /** How long Redis stores a stream after the last event of the stream. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
}

/**
 * The beginning of each script that changes something. When the epoch is over, the script ends here and returns 0. KEYS: the session, the
 * greatest epoch in which events were stored. ARGV: the epoch or "", the milliseconds to live.
 */
const FENCE = `
    if ARGV[1] ~= "" then
      local claimed = tonumber(redis.call("HGET", KEYS[1], "epoch") or 0) or 0
      local stored = tonumber(redis.call("GET", KEYS[2]) or 0) or 0
      local epoch = tonumber(ARGV[1])
      if epoch < claimed or epoch < stored then return 0 end
      if epoch > stored then redis.call("SET", KEYS[2], ARGV[1]) end
      redis.call("PEXPIRE", KEYS[2], ARGV[2])
    end`

/**
 * The index of a session's streams: a sorted set of their names, each with the time in milliseconds at which the stream expires. Names of
 * expired streams are removed, so that a long session does not collect names.
 */
const INDEX = `
    local function index(key, stream, ttl)
      local time = redis.call("TIME")
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      redis.call("ZADD", key, now + ttl, stream)
      redis.call("ZREMRANGEBYSCORE", key, "-inf", "(" .. now)
      redis.call("PEXPIRE", key, ARGV[2])
    end`

/**
 * The functions of the scripts that finish a stream. More KEYS, after the KEYS of `FENCE`: events, about, streams. More ARGV, after the
 * ARGV of `FENCE`: the stream, the retention, the position of the previous event or "". When Redis does not have the previous event, the
 * field `missing` gets the position of this event.
 */
const FINISH = `
    local function finish()
      redis.call("HSET", KEYS[4], "finished", 1)
      redis.call("PEXPIRE", KEYS[3], ARGV[4])
      redis.call("PEXPIRE", KEYS[4], ARGV[4])
      index(KEYS[5], ARGV[3], ARGV[4])
    end
    local function miss()
      if ARGV[5] == "" then return end
      local last = redis.call("XREVRANGE", KEYS[3], "+", "-", "COUNT", 1)[1]
      local stored = last and tonumber(string.match(last[1], "%d+")) or 0
      if stored < tonumber(ARGV[5]) then redis.call("HSET", KEYS[4], "missing", ARGV[5]) end
    end`

/**
 * Adds events to a stream. More KEYS: events, about, streams. More ARGV: the stream, the retention, the position of the previous event or
 * "", 1 if the stream finishes, the greatest number of events, then the positions and data.
 */
const appending: Script = {
  keys: 5,
  types: ["hash", "string", "stream", "hash", "zset"],
  lua: `${FENCE}${INDEX}${FINISH}
    miss()
    for at = 8, #ARGV, 2 do redis.call("XADD", KEYS[3], ARGV[at] .. "-1", "data", ARGV[at + 1]) end
    local surplus = redis.call("XLEN", KEYS[3]) - ARGV[7]
    if surplus > 0 then
      local dropped = redis.call("XRANGE", KEYS[3], "-", "+", "COUNT", surplus)
      redis.call("HSET", KEYS[4], "dropped", dropped[#dropped][1])
      redis.call("XTRIM", KEYS[3], "MAXLEN", ARGV[7])
    end
    if ARGV[6] == "1" then
      finish()
    else
      index(KEYS[5], ARGV[3], ARGV[2])
      redis.call("PEXPIRE", KEYS[3], ARGV[2])
      redis.call("PEXPIRE", KEYS[4], ARGV[2])
    end
    return 1`
}

/**
 * Begins a stream. More KEYS: about, streams. More ARGV: the requests, the stream, the position of an earlier event that was not stored or
 * "".
 */
const opening: Script = {
  keys: 4,
  types: ["hash", "string", "hash", "zset"],
  lua: `${FENCE}${INDEX}
    redis.call("HSET", KEYS[3], "requests", ARGV[3])
    if ARGV[5] ~= "" then redis.call("HSET", KEYS[3], "missing", ARGV[5]) end
    redis.call("PEXPIRE", KEYS[3], ARGV[2])
    index(KEYS[4], ARGV[4], ARGV[2])
    return 1`
}

/**
 * Finishes a stream without a new event. More KEYS: events, about, streams. More ARGV: the stream, the retention, the position of the
 * previous event or "".
 */
const finishing: Script = {
  keys: 5,
  types: ["hash", "string", "stream", "hash", "zset"],
  lua: `${FENCE}${INDEX}${FINISH}
    if redis.call("EXISTS", KEYS[3], KEYS[4]) == 0 then return 1 end
    miss()
    finish()
    return 1`
}

/** Removes keys of a session. More ARGV: the keys to remove. These keys have the same hash tag as the KEYS. */
const forgetting: Script = {
  keys: 2,
  types: ["hash", "string"],
  lua: `${FENCE}
    for at = 3, #ARGV do redis.call("UNLINK", ARGV[at]) end
    return 1`
}

/** How many keys one script removes. During the script Redis does nothing else, so the number is limited. */
const FORGOTTEN = 500

/** For how many streams a node remembers the position of the last event. */
const MAX_STREAMS = 100_000

interface Self extends RedisConnectionService {
  readonly maxEvents: number
  /** Milliseconds. */
  readonly retention: number
  /** Milliseconds. */
  readonly ttl: number
  /**
   * The position of the last event that this node has sent to Redis, for each unfinished stream, by the key of the stream's events.
   * `append` adds positions; `append`, `finish` and `forget` remove them.
   */
  readonly sent: Map<string, number>
}

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<EventStoreService, never, RedisConnection> =>
  Effect.map(RedisConnection, (connection) => {
    const self: Self = {
      ...connection,
      maxEvents: Math.max(1, options.maxEvents ?? 1000),
      retention: Duration.toMillis(options.retention ?? "5 minutes"),
      ttl: Duration.toMillis(options.ttl ?? "1 hour"),
      sent: new Map()
    }
    return EventDatabase.toStore({
      open: (key, requests, missing) => open(self, key, requests, missing),
      unfinished: (key) => unfinished(self, key),
      append: (key, all, isLast, missing) => append(self, key, all, isLast, missing),
      after: (key, position) => after(self, key, position),
      finish: (key, missing) => finish(self, key, missing),
      forget: (session, epoch) => forget(self, session, epoch)
    }, ({ report }) => report)
  })

const keysOf = ({ prefix }: Self, { session, stream }: StreamKey) => ({
  events: RedisKeys.events(prefix, session, stream),
  about: RedisKeys.about(prefix, session, stream),
  streams: RedisKeys.streams(prefix, session)
})

/** Runs a script that begins with `FENCE`. Returns `false` when the epoch is over. */
const fenced = (
  { prefix, run, ttl }: Self,
  script: Script,
  { epoch, session }: Pick<StreamKey, "epoch" | "session">,
  more: ReadonlyArray<string>,
  ...args: ReadonlyArray<string | number>
): Effect.Effect<boolean, RedisError> => {
  const key = RedisKeys.session(prefix, session)
  return Effect.map(
    run(script, key, `${key}:epoch`, ...more, epoch ?? "", ttl, ...args),
    (reply) => reply === 1
  )
}

const open = (self: Self, key: StreamKey, requests: string, missing: number | undefined) => {
  const { about, streams } = keysOf(self, key)
  return fenced(self, opening, key, [about, streams], requests, key.stream, missing ?? "")
}

const unfinished = (self: Self, key: StreamKey) =>
  Effect.map(self.command("HMGET", keysOf(self, key).about, "requests", "finished"), (reply) => {
    const [requests, finished] = reply as ReadonlyArray<string | null>
    return typeof requests !== "string" || finished === "1" ? undefined : requests
  })

const append = (
  self: Self,
  key: StreamKey,
  all: ReadonlyArray<StoredEvent>,
  isLast: boolean,
  missing: number | undefined
) => {
  const { maxEvents, retention, sent } = self
  const { about, events, streams } = keysOf(self, key)
  const stored = fenced(
    self,
    appending,
    key,
    [events, about, streams],
    key.stream,
    retention,
    sent.get(events) ?? missing ?? "",
    isLast ? 1 : 0,
    maxEvents,
    ...all.flatMap(({ data, position }) => [position, data])
  )
  return Effect.onExit(stored, (exit) =>
    Effect.sync(() => {
      const isOver = exit._tag === "Success" && (isLast || !exit.value)
      if (isOver) sent.delete(events)
      else remember(sent, events, all.at(-1)!.position)
    }))
}

/**
 * Remembers the position of a stream. When there are more than `MAX_STREAMS` streams, forgets the stream whose last event is the oldest.
 */
const remember = (sent: Self["sent"], events: string, position: number): void => {
  sent.delete(events)
  const [oldest] = sent.size >= MAX_STREAMS ? sent.keys() : []
  if (oldest !== undefined) sent.delete(oldest)
  sent.set(events, position)
}

const after = Effect.fnUntraced(function*(self: Self, key: StreamKey, position: number) {
  const { events } = keysOf(self, key)
  const isLost = hasLost(self, key, position, self.sent.get(events))
  // The first check is before the read, so that no events are read in vain.
  if (yield* isLost) return Option.none()
  const reply = yield* self.command("XRANGE", events, position < 0 ? "-" : `(${position}-1`, "+")
  // The second check is needed because events may have been dropped during the read.
  if (yield* isLost) return Option.none()
  return Option.some(
    // Nodes store only entries with data; other entries are ignored.
    StreamEntries.ofReply(reply).flatMap(({ fields: { data }, id }): ReadonlyArray<StoredEvent> =>
      data === undefined ? [] : [{ position: positionOf(id), data }]
    )
  )
})

/**
 * Returns whether Redis does not have the stream, or has lost events after `position`. `sent` is the last position that this node has sent
 * to Redis.
 */
const hasLost = (self: Self, key: StreamKey, position: number, sent: number | undefined) => {
  const { command } = self
  const { about, events } = keysOf(self, key)
  return Effect.map(
    Effect.all([
      command("EXISTS", events, about),
      command("HMGET", about, "dropped", "missing"),
      sent === undefined ? Effect.succeed("") : StreamEntries.lastId(command, events)
    ], { concurrency: "unbounded" }),
    ([known, fields, last]) => {
      const [dropped, missing] = fields as ReadonlyArray<string | null>
      const isBehind = sent !== undefined && positionOf(last) < sent
      const lost = Math.max(positionOf(dropped), Number(missing), isBehind ? sent : 0)
      return known === 0 || (position >= 0 && position < lost)
    }
  )
}

const finish = (self: Self, key: StreamKey, missing: number | undefined) => {
  const { retention, sent } = self
  const { about, events, streams } = keysOf(self, key)
  const before = sent.get(events) ?? missing ?? ""
  return Effect.tap(
    fenced(self, finishing, key, [events, about, streams], key.stream, retention, before),
    () => sent.delete(events)
  )
}

const forget = Effect.fnUntraced(function*(self: Self, session: string, epoch: number | undefined) {
  const { command, prefix, sent } = self
  const streams = RedisKeys.streams(prefix, session)
  const names = (yield* command("ZRANGE", streams, 0, -1)) as ReadonlyArray<string>
  const own = names.flatMap((stream) => [
    RedisKeys.events(prefix, session, stream),
    RedisKeys.about(prefix, session, stream)
  ])
  for (const key of own) sent.delete(key)
  // The index is removed last, so that a later call finds the keys whose removal has failed.
  for (const some of Arr.chunksOf([...own, streams], FORGOTTEN)) {
    yield* fenced(self, forgetting, { session, epoch }, [], ...some)
  }
})

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<EventStore, never, RedisConnection> =>
  Layer.effect(EventStore, make(options))

/** @category layers */
export const layer: Layer.Layer<EventStore, never, RedisConnection> = layerWith()

const positionOf = (id: unknown): number => typeof id === "string" ? Number(id.slice(0, id.indexOf("-"))) : 0

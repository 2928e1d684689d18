/**
 * Implements `SessionDirectory` with Redis, over a `RedisConnection`. The directory stores which node (process of the server) serves which
 * session. Each session is a hash. For each node Redis stores a key, the lease of the node. The lease expires when the node does not renew
 * it in time. Then other nodes may claim the sessions of the node, because a node whose lease has expired never uses its id again. Each
 * claim gives the session a higher number, its epoch.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import {
  type Membership,
  SessionDirectory,
  SessionDirectoryError,
  type SessionDirectoryService,
  type SessionEntry
} from "@effect-mcp/core/SessionDirectory"
import * as Lease from "@effect-mcp/core/unstable/server/Lease"
import * as Stored from "@effect-mcp/core/unstable/server/Stored"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RedisKeys from "./connection/RedisKeys.js"
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
   * How long a node keeps its sessions when it does not renew its lease. After this time the node ends its sessions, and other nodes may
   * take the sessions over. So the sessions of a crashed node are free after this time. A node that cannot reach Redis, or whose event loop
   * is blocked, loses its sessions after this time. Default: 3 seconds.
   */
  readonly lease?: Duration.DurationInput | undefined
  /**
   * How often a node renews its lease. When a renewal fails, the node tries again before the next renewal is due. Default: a quarter of
   * `lease`, so that three renewals may fail.
   */
  readonly renewal?: Duration.DurationInput | undefined
  /** How long Redis stores a session after a node has created, claimed, updated or touched (`touch`) the session. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
}

/**
 * How many sessions `touch` keeps with one command. During the command this process and Redis do nothing else, so the number is limited.
 */
const PORTION = 200

/** Sets fields of a session. KEYS: the session. ARGV: the epoch, the milliseconds to live, then the fields and values to set. */
const changing: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return 0 end
    redis.call("HSET", KEYS[1], unpack(ARGV, 3))
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    return 1`
}

/**
 * Claims a session for a node. KEYS: the session. ARGV: the epoch, the milliseconds to live, the node, the next epoch. Returns the facts of
 * the session at the moment of the claim, because the previous node may have changed the facts after they were read. After the claim the
 * previous node cannot change the facts.
 */
const claiming: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return nil end
    redis.call("HSET", KEYS[1], "node", ARGV[3], "epoch", ARGV[4], "released", "")
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    return redis.call("HGET", KEYS[1], "facts")`
}

/** Creates a session. KEYS: the session. ARGV: the node, the facts, the milliseconds to live. */
const creating: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    redis.call("HSET", KEYS[1], "node", ARGV[1], "epoch", 1, "facts", ARGV[2], "released", "")
    return redis.call("PEXPIRE", KEYS[1], ARGV[3])`
}

/** Removes a session. KEYS: the session. ARGV: the epoch. */
const removing: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return 0 end
    return redis.call("DEL", KEYS[1])`
}

interface Self extends RedisConnectionService {
  /** Milliseconds. */
  readonly lease: number
  readonly renewal: Duration.DurationInput | undefined
  /** Milliseconds. */
  readonly ttl: number
}

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<SessionDirectoryService, never, RedisConnection> =>
  Effect.map(RedisConnection, (connection) => {
    const self: Self = {
      ...connection,
      lease: Duration.toMillis(options.lease ?? "3 seconds"),
      renewal: options.renewal,
      ttl: Duration.toMillis(options.ttl ?? "1 hour")
    }
    return { join: (node) => failing(join(self, node)) }
  })

const join = Effect.fnUntraced(function*(self: Self, node: string) {
  const lost = yield* hold(self, node)
  return {
    create: (id, facts) => failing(create(self, node, id, facts)),
    find: (id) => failing(find(self, id)),
    claim: (id, epoch) => failing(claim(self, node, id, epoch)),
    update: (id, epoch, facts) => failing(change(self, id, epoch, "facts", JSON.stringify(facts))),
    touch: (ids) => failing(touch(self, ids)),
    release: (id, epoch) => failing(Effect.asVoid(change(self, id, epoch, "released", "1"))),
    remove: (id, epoch) => failing(remove(self, id, epoch)),
    isAlive: (other) => failing(isAlive(self, other)),
    lost
  } satisfies Membership
})

const keyOf = ({ prefix }: Self, session: string): string => RedisKeys.session(prefix, session)

const leaseOf = ({ prefix }: Self, node: string): string => `${prefix}node:${node}`

/** Takes the lease of a node, and renews it until the scope closes. */
const hold = (self: Self, node: string) => {
  const { lease, renewal, upkeep: { command } } = self
  const key = leaseOf(self, node)
  return Lease.hold({
    length: lease,
    renewal,
    take: command("SET", key, "", "PX", lease),
    renew: Effect.map(Effect.suspend(() => command("PEXPIRE", key, lease)), (renewed) => renewed === 1),
    release: command("DEL", key)
  })
}

// `PTTL` gives -1 for a key that does not expire. Such a key is not a lease.
const isAlive = (self: Self, node: string) =>
  Effect.map(self.upkeep.command("PTTL", leaseOf(self, node)), (left) => Number(left) >= 0)

const create = (self: Self, node: string, id: string, facts: JsonObject) =>
  Effect.asVoid(self.run(creating, keyOf(self, id), node, JSON.stringify(facts), self.ttl))

const find = Effect.fnUntraced(function*(self: Self, id: string) {
  const reply = yield* self.command("HMGET", keyOf(self, id), "node", "epoch", "facts", "released")
  const [node, epoch, facts, released] = reply as ReadonlyArray<string | null>
  if (typeof node !== "string" || !/^[1-9]\d{0,14}$/.test(epoch ?? "")) return Option.none<SessionEntry>()
  return Option.some<SessionEntry>({
    id,
    node,
    epoch: Number(epoch),
    facts: Stored.facts(facts),
    isServed: released === "" && (yield* isAlive(self, node))
  })
})

const claim = Effect.fnUntraced(function*(self: Self, node: string, id: string, epoch: number) {
  const found = yield* find(self, id)
  if (Option.isNone(found) || found.value.isServed || found.value.epoch !== epoch) return Option.none<SessionEntry>()
  const facts = yield* self.run(claiming, keyOf(self, id), epoch, self.ttl, node, epoch + 1)
  return typeof facts === "string"
    ? Option.some<SessionEntry>({ id, node, epoch: epoch + 1, facts: Stored.facts(facts), isServed: true })
    : Option.none<SessionEntry>()
})

/** Sets fields of a session in this epoch. Returns `false` when the session has another epoch. */
const change = (self: Self, id: string, epoch: number, ...fields: ReadonlyArray<string>) =>
  Effect.map(self.run(changing, keyOf(self, id), epoch, self.ttl, ...fields), (changed) => changed === 1)

const touch = (self: Self, ids: ReadonlyArray<string>) =>
  Effect.forEach(
    Arr.chunksOf(ids, PORTION),
    (portion) => self.each("PEXPIRE", portion.map((id) => [keyOf(self, id), self.ttl])),
    { discard: true }
  )

const remove = (self: Self, id: string, epoch: number) =>
  Effect.map(self.run(removing, keyOf(self, id), epoch), (removed) => removed === 1)

/**
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<SessionDirectory, never, RedisConnection> =>
  Layer.effect(SessionDirectory, make(options))

/** @category layers */
export const layer: Layer.Layer<SessionDirectory, never, RedisConnection> = layerWith()

const failing = <A, R>(effect: Effect.Effect<A, RedisError, R>): Effect.Effect<A, SessionDirectoryError, R> =>
  Effect.mapError(effect, ({ isRefused, report }) => new SessionDirectoryError({ isRefused, message: report }))

/**
 * `SessionDirectory` in Redis: a hash for each session, and a key for each node that expires with its lease. An id of a node whose
 * key has expired never comes back, so a session that is free stays free until it is claimed.
 *
 * @since 0.1.0
 */
import {
  type Membership,
  SessionDirectory,
  SessionDirectoryError,
  type SessionDirectoryService,
  type SessionEntry
} from "@effect-mcp/core/SessionDirectory"
import * as Lease from "@effect-mcp/core/unstable/server/Lease"
import * as Stored from "@effect-mcp/core/unstable/server/Stored"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Keys from "./connection/Keys.js"
import type { Script } from "./RedisCommand.js"
import { RedisConnection } from "./RedisConnection.js"
import type { RedisError } from "./RedisError.js"

/** @category models */
export interface Options {
  /**
   * How long a node that does not renew its lease keeps its sessions. Then it ends them, and other nodes take them over. A node
   * whose process has ended keeps them as long; a node that cannot reach Redis, or whose event loop stands still, loses them after
   * this time. Default: 3 seconds.
   */
  readonly lease?: Duration.DurationInput | undefined
  /**
   * How often a node renews its lease; it tries a renewal that the store refuses again before the next one. Default: a quarter of
   * `lease`, so that three renewals may fail.
   */
  readonly renewal?: Duration.DurationInput | undefined
  /** How long a session is stored after it was created, claimed, updated or touched. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
}

/** How many sessions are touched at once: neither this process nor Redis does anything else meanwhile. */
const PORTION = 200

/** KEYS: session. ARGV: epoch, milliseconds to live, then fields and values to set. */
const change: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return 0 end
    redis.call("HSET", KEYS[1], unpack(ARGV, 3))
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    return 1`
}

/**
 * KEYS: session. ARGV: epoch, milliseconds to live, node, the next epoch. Gives the facts as they are then: the node before may have
 * changed them since they were read. From now on it cannot.
 */
const claim: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return nil end
    redis.call("HSET", KEYS[1], "node", ARGV[3], "epoch", ARGV[4], "released", "")
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    return redis.call("HGET", KEYS[1], "facts")`
}

/** KEYS: session. ARGV: node, facts, milliseconds to live. */
const create: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    redis.call("HSET", KEYS[1], "node", ARGV[1], "epoch", 1, "facts", ARGV[2], "released", "")
    return redis.call("PEXPIRE", KEYS[1], ARGV[3])`
}

/** KEYS: session. ARGV: epoch. */
const remove: Script = {
  keys: 1,
  types: ["hash"],
  lua: `
    if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return 0 end
    return redis.call("DEL", KEYS[1])`
}

/** @category constructors */
export const make = (options: Options = {}): Effect.Effect<SessionDirectoryService, never, RedisConnection> =>
  Effect.map(RedisConnection, ({ command, each, prefix, run, upkeep }) => {
    const lease = Duration.toMillis(options.lease ?? "3 seconds")
    const ttl = Duration.toMillis(options.ttl ?? "1 hour")
    const keyOf = (session: string) => Keys.session(prefix, session)
    const leaseOf = (node: string) => `${prefix}node:${node}`
    // A key without an end is no lease.
    const isAlive = (node: string) => Effect.map(upkeep.command("PTTL", leaseOf(node)), (left) => Number(left) >= 0)
    const find = (id: string) =>
      Effect.gen(function*() {
        const reply = yield* command("HMGET", keyOf(id), "node", "epoch", "facts", "released")
        const [node, epoch, facts, released] = reply as ReadonlyArray<string | null>
        if (typeof node !== "string" || !/^[1-9]\d{0,14}$/.test(epoch ?? "")) return Option.none<SessionEntry>()
        return Option.some<SessionEntry>({
          id,
          node,
          epoch: Number(epoch),
          facts: Stored.facts(facts),
          isServed: released === "" && (yield* isAlive(node))
        })
      })
    const join = (node: string) =>
      Effect.gen(function*() {
        const lost = yield* Lease.hold({
          length: lease,
          renewal: options.renewal,
          take: upkeep.command("SET", leaseOf(node), "", "PX", lease),
          renew: Effect.map(
            Effect.suspend(() => upkeep.command("PEXPIRE", leaseOf(node), lease)),
            (renewed) => renewed === 1
          ),
          release: upkeep.command("DEL", leaseOf(node))
        })
        const set = (id: string, epoch: number, ...fields: ReadonlyArray<string>) =>
          Effect.map(run(change, keyOf(id), epoch, ttl, ...fields), (changed) => changed === 1)
        return {
          create: (id, facts) => failing(Effect.asVoid(run(create, keyOf(id), node, JSON.stringify(facts), ttl))),
          find: (id) => failing(find(id)),
          claim: (id, epoch) =>
            failing(Effect.gen(function*() {
              const found = yield* find(id)
              if (Option.isNone(found) || found.value.isServed || found.value.epoch !== epoch) return Option.none()
              const facts = yield* run(claim, keyOf(id), epoch, ttl, node, epoch + 1)
              return typeof facts === "string"
                ? Option.some({ id, node, epoch: epoch + 1, facts: Stored.facts(facts), isServed: true })
                : Option.none()
            })),
          update: (id, epoch, facts) => failing(set(id, epoch, "facts", JSON.stringify(facts))),
          touch: (ids) =>
            failing(Effect.forEach(
              Chunk.chunksOf(Chunk.fromIterable(ids), PORTION),
              (portion) => each("PEXPIRE", Chunk.toReadonlyArray(portion).map((id) => [keyOf(id), ttl])),
              { discard: true }
            )),
          release: (id, epoch) => failing(Effect.asVoid(set(id, epoch, "released", "1"))),
          remove: (id, epoch) => failing(Effect.map(run(remove, keyOf(id), epoch), (removed) => removed === 1)),
          isAlive: (other) => failing(isAlive(other)),
          lost
        } satisfies Membership
      })
    return { join: (node) => failing(join(node)) }
  })

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

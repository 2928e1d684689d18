/**
 * Faults that the nemesis (the program that makes the faults) causes in a store, over a separate connection: the store is full, refuses
 * writes, or has entries that no node has written.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Store } from "./NodeOptions.js"

/** The effect that begins a fault, and the effect that ends the fault. */
type Lasting = readonly [begin: Effect.Effect<unknown>, end: Effect.Effect<unknown>]

export interface StoreFaults {
  /** The store refuses writes that need room. */
  readonly full: Lasting
  /** The store refuses all writes. */
  readonly readOnly: Lasting
  /** Writes entries that no node would write, and that a node cannot read. */
  readonly litter: Effect.Effect<unknown>
}

const PREFIX = "mcp:"

const redis = (url: string): Effect.Effect<StoreFaults, never, Scope.Scope> =>
  Effect.map(Effect.orDie(RedisConnection.make({ url, timeout: "20 seconds" })), ({ command }) => {
    const run = (...[name, ...args]: readonly [string, ...ReadonlyArray<string>]) =>
      Effect.retry(command(name, ...args), { times: 5 }).pipe(Effect.orDie)
    const keys = (pattern: string) =>
      Effect.map(run("KEYS", `${PREFIX}${pattern}`), (found) => found as ReadonlyArray<string>)
    const odd = (key: string) => run("XADD", key, "*", "odd", "entry")
    return {
      full: [run("CONFIG", "SET", "maxmemory", "1"), run("CONFIG", "SET", "maxmemory", "0")],
      readOnly: [run("REPLICAOF", "127.0.0.1", "1"), run("REPLICAOF", "NO", "ONE")],
      litter: Effect.gen(function*() {
        const inboxes = (yield* keys("{inbox:*}:size")).map((key) => key.slice(0, -":size".length))
        for (const key of inboxes) {
          yield* odd(key)
          yield* run("XADD", key, "*", "text", "{\"type\":\"exchange\",\"id\":\"1\"}")
          yield* run("XADD", key, "*", "text", "{\"type\":\"reply\",\"id\":\"1\",\"status\":\"odd\"}\n")
        }
        yield* odd(`${PREFIX}{changes}`)
        yield* run("SET", `${PREFIX}{session:odd}`, "of another type")
        yield* run("SET", `${PREFIX}node:odd`, "a lease without an end")
        yield* run("HSET", `${PREFIX}{session:odd2}`, "node", "odd", "epoch", "odd", "facts", "{")
      })
    }
  })

/** The tables to which nodes add rows. */
const TABLES = ["streams", "events", "sessions", "tasks", "texts", "changes", "uses"]

const postgres = (url: string): Effect.Effect<StoreFaults, never, Scope.Scope> =>
  Effect.map(
    Effect.provide(PgClient.make({ url: Redacted.make(url), maxConnections: 1 }), Reactivity.layer).pipe(
      Effect.tap((sql) => sql`SET default_transaction_read_only = off`),
      Effect.tap((sql) =>
        sql`CREATE FUNCTION nemesis_full() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$`
      ),
      Effect.orDie
    ),
    (sql) => {
      const set = (value: string) =>
        Effect.orDie(Effect.zipRight(
          sql`ALTER SYSTEM SET default_transaction_read_only = ${sql.literal(value)}`,
          sql`SELECT pg_reload_conf()`
        ))
      const table = (name: string) => sql(`mcp_${name}`)
      const each = (statement: (name: string) => Effect.Effect<unknown, unknown>) =>
        Effect.orDie(Effect.forEach(TABLES, statement))
      return {
        // The store behaves as on a disk without space: existing rows can change, but no row can be added.
        full: [
          each((name) =>
            sql`CREATE TRIGGER nemesis_full BEFORE INSERT ON ${table(name)} EXECUTE FUNCTION nemesis_full()`
          ),
          each((name) => sql`DROP TRIGGER nemesis_full ON ${table(name)}`)
        ],
        readOnly: [set("on"), set("off")],
        litter: Effect.suspend(() =>
          Effect.orDie(Effect.all([
            sql`INSERT INTO ${table("texts")} (node, text, size) SELECT node, '"odd', 4 FROM ${table("inboxes")}`,
            sql`INSERT INTO ${table("texts")} (node, text, size)
              SELECT node, '{"type":"exchange","id":"1"}', 4 FROM ${table("inboxes")}`,
            sql`WITH next AS (UPDATE ${table("last_change")} SET number = number + 1 RETURNING number)
              INSERT INTO ${table("changes")} (number, member, change) SELECT number, 'odd', 'odd' FROM next`,
            sql`INSERT INTO ${table("sessions")} (id, node, epoch, facts, released, expires)
              VALUES (${`odd ${crypto.randomUUID()}`}, 'odd', 1, '{', 0, 9000000000000000)`
          ]))
        )
      }
    }
  )

export const make = ({ type, url }: Store): Effect.Effect<StoreFaults, never, Scope.Scope> =>
  type === "redis" ? redis(url) : postgres(url)

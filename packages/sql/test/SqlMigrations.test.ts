import { SqlClient } from "@effect/sql/SqlClient"
import { LibsqlClient } from "@effect/sql-libsql"
import { assert, describe, it } from "@effect/vitest"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlMigrations from "@effect-mcp/sql/SqlMigrations"
import { type Context, Effect, Fiber, Layer } from "effect"
import * as Migrate from "../src/schema/Migrate.js"
import { type Changes, services } from "../src/schema/Schema.js"
import * as Postgres from "./Postgres.js"
import * as Sqlite from "./Sqlite.js"

const tablesOf = Effect.flatMap(SqlClient, (sql) =>
  sql<{ readonly name: string; readonly sql: string }>`
  SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)

describe("migrations", () => {
  it.scopedLive("make each change once, however often they are run", () =>
    Effect.gen(function*() {
      const path = yield* Sqlite.file
      const run = Effect.provide(SqlMigrations.run(), Sqlite.client(path))
      yield* run
      const before = yield* Effect.provide(tablesOf, Sqlite.client(path))
      assert.includeMembers(before.map(({ name }) => name), ["mcp_events", "mcp_migrations", "mcp_tasks"])
      yield* run
      assert.deepStrictEqual(yield* Effect.provide(tablesOf, Sqlite.client(path)), before)
    }))

  it.scopedLive("give each prefix tables of its own, whatever names the client transforms", () =>
    Effect.gen(function*() {
      const path = yield* Sqlite.file
      const client = LibsqlClient.layer({
        url: `file:${path}`,
        transformQueryNames: (name) => name.toUpperCase(),
        transformResultNames: (name) => `${name}_`
      })
      yield* Effect.provide(SqlMigrations.run({ prefix: "a_" }), client)
      yield* Effect.provide(SqlMigrations.run({ prefix: "b_" }), client)
      const names = (yield* Effect.provide(tablesOf, Sqlite.client(path))).map(({ name }) => name)
      assert.includeMembers(names, ["a_events", "b_events"])
      assert.isTrue(names.every((name) => /^[ab]_/.test(name)), names.join())
    }))

  it.scopedLive("refuse a prefix that is not a part of a name", () =>
    Effect.gen(function*() {
      const client = Sqlite.client(yield* Sqlite.file)
      for (const prefix of ["", "1", "A", "a-b", "a\"", "x".repeat(31)]) {
        const { message } = yield* Effect.flip(Effect.provide(SqlMigrations.run({ prefix }), client))
        assert.include(message, `The option \`prefix\` is "${prefix.slice(0, 40)}": `)
      }
    }))

  it.scopedLive("refuse tables that a newer version has changed", () =>
    Effect.gen(function*() {
      const client = Sqlite.client(yield* Sqlite.file)
      yield* Effect.provide(SqlMigrations.run(), client)
      yield* Effect.provide(
        Effect.flatMap(SqlClient, (sql) => sql`INSERT INTO mcp_migrations (service, version) VALUES ('tasks', 99)`),
        client
      )
      const { message } = yield* Effect.flip(Effect.provide(SqlMigrations.run(), client))
      assert.match(message, /^The tables "mcp_" of tasks have version 99, and this program supports version 2: /)
    }))
})

describe("migrations of one SQLite file by two clients of one process", () => {
  it.scopedLive("end when they run at the same time", () =>
    Effect.gen(function*() {
      const client = Sqlite.client(yield* Sqlite.file)
      const clients = [yield* Layer.build(Layer.fresh(client)), yield* Layer.build(Layer.fresh(client))]
      yield* Effect.forEach(clients, (client) => Effect.provide(SqlMigrations.run(), client), { concurrency: 2 })
    }))
})

// Most of the tests on PostgreSQL wait for a lock or a timeout: they wait together.
Postgres.suite.concurrent("migrations of a PostgreSQL whose timeouts are shorter than a change", () => {
  /** A database with the tables of this version, all of whose connections have these settings. */
  const impatient = (...settings: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const first = yield* Postgres.connection(url)
      const name = first.sql(new URL(url).pathname.slice(1))
      for (const setting of settings) {
        yield* first.run("set", first.sql`ALTER DATABASE ${name} SET ${first.sql.literal(setting)}`)
      }
      return [first, Postgres.client(url)] as const
    })

  it.scopedLive("run to their end, and leave the timeouts as they are", () =>
    Effect.gen(function*() {
      const [, client] = yield* impatient("statement_timeout = '200ms'")
      const slow: Changes = [({ sql }) => sql`SELECT pg_sleep(0.5)`]
      const node = yield* Layer.build(client)
      yield* Effect.provide(run({ ...services, keys: [...services.keys!, ...slow] }), node)
      const [row] = yield* Effect.provide(
        Effect.flatMap(SqlClient, (sql) => sql<{ readonly statement_timeout: string }>`SHOW statement_timeout`),
        node
      )
      assert.strictEqual(row?.statement_timeout, "200ms")
    }))

  it.scopedLive("wait for the locks of others", () =>
    Effect.gen(function*() {
      const [first, client] = yield* impatient("lock_timeout = '100ms'")
      const migrating = yield* first.transaction(
        "lock",
        Effect.gen(function*() {
          yield* first.sql`LOCK TABLE ${first.table("seal_keys")}`
          const migrating = yield* Effect.forkScoped(Effect.provide(run(next), client))
          yield* first.sql`SELECT pg_sleep(1)`
          return migrating
        })
      )
      yield* Fiber.join(migrating)
    }))
})

Postgres.suite.concurrent("migrations of one PostgreSQL by several nodes", () => {
  it.scopedLive("create the tables once when three nodes start at the same time", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const nodes = yield* Effect.all(Array.from({ length: 3 }, () => Postgres.connection(url)), {
        concurrency: "unbounded"
      })
      const made = yield* Effect.forEach(nodes, ({ run, sql, table }) =>
        run(
          "read",
          sql<{ readonly version: number }>`SELECT version FROM ${table("migrations")} ORDER BY service, version`
        ))
      for (const rows of made) {
        assert.deepStrictEqual(
          rows.map(({ version }) => version),
          Object.values(services).flatMap((changes) => changes.map((_, at) => at + 1))
        )
      }
    }))

  it.scopedLive("wait for another node longer than a statement may take", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const other = yield* Postgres.connection(url, { prefix: "other_" })
      const start = Layer.build(PgNodes.layer({ url, timeout: "1 second" }))
      const starting = yield* other.transaction(
        "migrate",
        Effect.gen(function*() {
          yield* other.sql`SELECT pg_advisory_xact_lock(${0x6d6370}, hashtext('mcp_'))`
          const starting = yield* Effect.forkScoped(start)
          yield* other.sql`SELECT pg_sleep(2)`
          return starting
        })
      )
      yield* Fiber.join(starting)
    }))

  it.scopedLive("wait for the locks of others longer than a connection may be silent", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const first = yield* Postgres.connection(url, { timeout: "30 seconds" })
      const starting = yield* first.transaction(
        "lock",
        Effect.gen(function*() {
          yield* first.sql`LOCK TABLE ${first.table("migrations")}`
          const starting = yield* Effect.forkScoped(Layer.build(PgNodes.layer({ url, timeout: "1 second" })))
          yield* first.sql`SELECT pg_sleep(6)`
          return starting
        })
      )
      yield* Fiber.join(starting)
    }))
})

/** What the next versions of this package could do to the tables of the keys. */
const added: Changes = [
  ({ sql, table }) => sql`ALTER TABLE ${table("seal_keys")} ADD COLUMN note text NOT NULL DEFAULT 'none'`,
  ({ sql, table }) => sql`UPDATE ${table("seal_keys")} SET note = note || '!'`
]

const next = { ...services, keys: [...services.keys!, ...added] }

const run = (versions: typeof services) => Migrate.run(versions, "mcp_")

/** One process uses a SQLite file: its nodes start one after the other. */
const engines = {
  ...(Postgres.isThere && {
    "PostgreSQL": {
      database: Effect.map(Postgres.database, Postgres.client),
      concurrency: 2,
      when: "when two nodes start at the same time"
    }
  }),
  "SQLite": {
    database: Effect.map(Sqlite.file, Sqlite.client),
    concurrency: 1,
    when: "when a second node starts after the first"
  }
}

/** How a node starts that may not change the tables. */
const start = Effect.scoped(SqlConnection.make({ migrate: false }))

for (const [engine, { database }] of Object.entries(engines)) {
  describe(`a node with \`migrate: false\` over ${engine}`, () => {
    const refused = (node: Context.Context<SqlClient>) =>
      Effect.map(Effect.flip(Effect.provide(start, node)), ({ message }) => message)

    it.scopedLive("starts when the tables are those of its version, and does not without them", () =>
      Effect.gen(function*() {
        const node = yield* Layer.build(yield* database)
        assert.strictEqual(
          yield* refused(node),
          "The database has no tables \"mcp_\" of bus: run `SqlMigrations.run` of this version before, as a user that may " +
            "change tables, or leave out `migrate: false`"
        )
        yield* Effect.provide(SqlMigrations.run(), node)
        yield* Effect.provide(start, node)
      }))

    it.scopedLive("does not start when the tables are those of an older or of a newer version", () =>
      Effect.gen(function*() {
        const node = yield* Layer.build(yield* database)
        const { keys: _, ...others } = services
        yield* Effect.provide(run(others), node)
        assert.match(yield* refused(node), /^The database has no tables "mcp_" of keys: run `SqlMigrations.run` /)
        yield* Effect.provide(run(next), node)
        assert.match(
          yield* refused(node),
          /^The tables "mcp_" of keys have version 3, and this program supports version 1: /
        )
      }))
  })
}

const state = Effect.flatMap(SqlClient, (sql) =>
  Effect.all([
    sql<{ readonly version: number }>`SELECT version FROM mcp_migrations WHERE service = 'keys' ORDER BY version`,
    sql<{ readonly note: string }>`SELECT note FROM mcp_seal_keys`
  ]))

for (const [engine, { concurrency, database, when }] of Object.entries(engines)) {
  describe(`migrations of tables that an older version has created in ${engine}`, () => {
    /** The tables of this version, with a key; and connections of two nodes of the next one. */
    const old = Effect.gen(function*() {
      const client = yield* database
      const [one, two] = [yield* Layer.build(Layer.fresh(client)), yield* Layer.build(Layer.fresh(client))]
      yield* Effect.provide(SqlMigrations.run(), one)
      yield* Effect.provide(
        Effect.flatMap(SqlClient, (sql) => sql`INSERT INTO mcp_seal_keys (id, ring) VALUES (1, '[]')`),
        one
      )
      return [one, two] as const
    })

    it.scopedLive(`make the changes that are new, once, ${when}`, () =>
      Effect.gen(function*() {
        const nodes = yield* old
        yield* Effect.forEach(nodes, (node) => Effect.provide(run(next), node), { concurrency })
        const [versions, keys] = yield* Effect.provide(state, nodes[0])
        assert.deepStrictEqual(versions.map(({ version }) => version), [1, 2, 3])
        assert.deepStrictEqual(keys.map(({ note }) => note), ["none!"])
        const { message } = yield* Effect.flip(Effect.provide(SqlMigrations.run(), nodes[1]))
        assert.match(message, /^The tables "mcp_" of keys have version 3, and this program supports version 1: /)
      }))

    it.scopedLive("make none of the changes when the last one fails, and all of them later", () =>
      Effect.gen(function*() {
        const [node] = yield* old
        const faulty: Changes = [...added, ({ sql, table }) => sql`DROP TABLE ${table("none")}`]
        const { message } = yield* Effect.flip(
          Effect.provide(run({ ...services, keys: [...services.keys!, ...faulty] }), node)
        )
        assert.match(message, /create its tables/)
        yield* Effect.provide(run(next), node)
        const [versions, keys] = yield* Effect.provide(state, node)
        assert.deepStrictEqual(versions.map(({ version }) => version), [1, 2, 3])
        assert.deepStrictEqual(keys.map(({ note }) => note), ["none!"])
      }))
  })
}

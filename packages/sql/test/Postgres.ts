/**
 * Databases for tests, each of its own, in the PostgreSQL server that `install` has started.
 */
import { PgClient } from "@effect/sql-pg"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import { Context, Effect, Layer, Redacted } from "effect"
import { describe, inject } from "vitest"

/** Whether there is a PostgreSQL. */
export const isThere = inject("postgres") !== undefined

/** Tests that need PostgreSQL. They are skipped where it is not there, and `install` says so at the end. */
export const suite: ReturnType<typeof describe.skipIf> = describe.skipIf(!isThere)

/** The address of the server. */
export const server = (): string => inject("postgres")!

/** The client of an address. */
export const client = (url: string, maxConnections = 4) => PgClient.layer({ url: Redacted.make(url), maxConnections })

/** The address of an empty database. */
export const database = Effect.suspend(() => {
  const url = new URL(server())
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`
  const create = Effect.flatMap(PgClient.PgClient, (sql) => sql`CREATE DATABASE ${sql(name)}`)
  url.pathname = `/${name}`
  return Effect.as(Effect.provide(create, client(server())), url.href)
})

/** A connection to a database, as one node has it, until the scope closes. */
export const connection = (url: string, options?: SqlConnection.Options, maxConnections?: number) =>
  Effect.map(
    Layer.build(Layer.provide(SqlConnection.layerWith(options), client(url, maxConnections))),
    (context) => Context.get(context, SqlConnection.SqlConnection)
  )

/** A service of a node with a connection of its own. */
export const node = <A, E, R>(url: string, service: Effect.Effect<A, E, R>, options?: SqlConnection.Options) =>
  Effect.flatMap(
    connection(url, options),
    (connection) => Effect.provideService(service, SqlConnection.SqlConnection, connection)
  )

/** The prefixes of tables that are there, and empty. */
const free: Array<string> = []

const empty = ({ run, sql, table }: SqlConnection.SqlConnectionService) =>
  run(
    "empty its tables",
    Effect.forEach(
      [
        "streams",
        "events",
        "sessions",
        "nodes",
        "tasks",
        "rates",
        "uses",
        "seal_keys",
        "texts",
        "inboxes",
        "changes",
        "credentials"
      ],
      (name) => sql`DELETE FROM ${table(name)}`
    ).pipe(Effect.zipRight(sql`UPDATE ${table("last_change")} SET number = 0`))
  )

/** A service on two nodes over empty tables. To empty those of a test that has ended costs less than new ones. */
export const pair = <A, E, R>(service: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const prefix = free.pop() ?? `t${crypto.randomUUID().replaceAll("-", "").slice(0, 20)}_`
    const url = server()
    const nodes = [yield* connection(url, { prefix }), yield* connection(url, { prefix, migrate: false })] as const
    yield* Effect.addFinalizer(() => Effect.orDie(Effect.map(empty(nodes[0]), () => free.push(prefix))))
    const on = (node: SqlConnection.SqlConnectionService) =>
      Effect.provideService(service, SqlConnection.SqlConnection, node)
    return yield* Effect.zip(on(nodes[0]), on(nodes[1]))
  })

/**
 * Implements `CredentialStore` of `@effect-mcp/auth` with SQL, over a `SqlConnection`. An owner of credentials is a user, or a service with
 * several processes. The processes share the logins of the owner, and only one process at a time renews a token. Each record of an owner is
 * a row. The database stores tokens, secrets and keys in plain text, so anyone who can read this database can use them.
 *
 * @since 0.1.0
 */
import type { CredentialDatabase, Lock } from "@effect-mcp/auth/CredentialDatabase"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Attempt from "./connection/Attempt.js"
import { SqlConnection, type SqlConnectionService } from "./SqlConnection.js"

/**
 * The options of `make` and `layer`.
 *
 * @category models
 */
export interface Options {
  /**
   * How many records one owner may have. An owner has about three records for each server at which the owner is logged in. Default: 1,000.
   */
  readonly maxRecords?: number | undefined
}

/**
 * Makes the store of one owner. `owner` is the name of a user, or the name of a service whose processes log in as the service.
 *
 * @category constructors
 */
export const make = (
  owner: string,
  { maxRecords = 1000 }: Options = {}
): Effect.Effect<CredentialStore.CredentialStoreService, never, SqlConnection> =>
  Effect.flatMap(
    SqlConnection,
    (connection) => CredentialStore.makeShared(owner, (owner) => databaseOf(connection, owner, maxRecords))
  )

const databaseOf = (
  { run, sql, table, transaction }: SqlConnectionService,
  owner: string,
  maxRecords: number
): CredentialDatabase => {
  const credentials = table("credentials")
  const isPg = Attempt.isPg(sql)
  // In PostgreSQL, with `FOR SHARE` no other process can take the lock before the transaction ends. In SQLite a transaction that reads
  // first cannot wait for another transaction, so the transaction begins with a write that changes nothing.
  const locked = sql.literal(isPg ? "FOR SHARE" : "")
  const begin = isPg ? Effect.void : sql`DELETE FROM ${credentials} WHERE owner = ''`
  const find = (name: string) =>
    sql<{ readonly text: string }>`SELECT text FROM ${credentials} WHERE owner = ${owner} AND name = ${name}`
  const hasLost = ({ name, token }: Lock) =>
    Effect.map(sql<{ readonly text: string }>`${find(name)} ${locked}`, ([row]) => row?.text.startsWith(token) !== true)
  const isFull = (name: string) =>
    Effect.map(
      sql<{ readonly others: number | string; readonly own: number | string }>`
        SELECT count(*) AS others, coalesce(sum(CASE WHEN name = ${name} THEN 1 ELSE 0 END), 0) AS own
        FROM ${credentials} WHERE owner = ${owner}`,
      ([row]) => Number(row!.own) === 0 && Number(row!.others) >= maxRecords
    )
  return {
    read: (name) => Effect.map(run("read credentials", find(name)), ([row]) => row?.text),
    write: (name, text, lock) =>
      transaction(
        "store credentials",
        Effect.gen(function*() {
          yield* begin
          if (lock !== undefined && (yield* hasLost(lock))) return "LockLost"
          if (text === undefined) {
            yield* sql`DELETE FROM ${credentials} WHERE owner = ${owner} AND name = ${name}`
            return "Stored"
          }
          if (yield* isFull(name)) return "Full"
          yield* sql`
            INSERT INTO ${credentials} (owner, name, text) VALUES (${owner}, ${name}, ${text})
            ON CONFLICT (owner, name) DO UPDATE SET text = excluded.text`
          return "Stored"
        })
      ),
    swap: (name, before, after) =>
      Effect.map(
        run(
          "lock credentials",
          before === undefined
            ? sql`
              INSERT INTO ${credentials} (owner, name, text) VALUES (${owner}, ${name}, ${after})
              ON CONFLICT (owner, name) DO NOTHING RETURNING name`
            : sql`
              UPDATE ${credentials} SET text = ${after}
              WHERE owner = ${owner} AND name = ${name} AND text = ${before} RETURNING name`
        ),
        (rows) => rows.length > 0
      )
  }
}

/** @category layers */
export const layer = (
  owner: string,
  options?: Options
): Layer.Layer<CredentialStore.CredentialStore, never, SqlConnection> =>
  Layer.effect(CredentialStore.CredentialStore, make(owner, options))

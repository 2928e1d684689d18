/**
 * SQLite files for tests, each in a folder of its own, over the driver of libSQL: it needs no compiler.
 */
import { LibsqlClient } from "@effect/sql-libsql"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import { Context, Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The path of a file that is not there yet. Its folder is removed with the scope. */
export const file = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "sqlite-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "mcp.db")
)

export const client = (path: string) => LibsqlClient.layer({ url: `file:${path}` })

/** A connection to a file, as one process has it, until the scope closes. */
export const connection = (path: string, options?: SqlConnection.Options) =>
  Effect.map(
    Layer.build(Layer.provide(SqlConnection.layerWith(options), client(path))),
    (context) => Context.get(context, SqlConnection.SqlConnection)
  )

/** A service over an empty file. */
export const empty = <A, E, R>(service: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Effect.flatMap(file, (path) => connection(path)),
    (connection) => Effect.provideService(service, SqlConnection.SqlConnection, connection)
  )

/**
 * A PostgreSQL server for the benchmarks, and the processor time that its processes have used. The server is Debian's package, with its
 * data in a folder of its own.
 */
import { SqlClient } from "@effect/sql"
import * as Postgres from "@effect-mcp/cluster/Postgres"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import { Context, Effect, Layer, type Scope } from "effect"
import { readFileSync } from "node:fs"

export interface Database {
  readonly url: string
  /** Processor time of all processes of the server since its start, in microseconds. */
  readonly used: Effect.Effect<number>
}

/** How many microseconds a tick has: Linux counts the processor time of a process in ticks. */
const TICK = 10_000

/** The ticks of a process, and of its children that have ended. 0 for a process that has ended itself. */
const ticksOf = (id: string): number => {
  try {
    const text = readFileSync(`/proc/${id}/stat`, "utf8")
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return fields.slice(11, 15).reduce((all, one) => all + Number(one), 0)
  } catch {
    return 0
  }
}

/** Starts a server, which ends with the scope. */
export const make: Effect.Effect<Database, unknown, Scope.Scope> = Effect.gen(function*() {
  const { url } = yield* Postgres.start
  const sql = Context.get(yield* Layer.build(PgNodes.client({ url })), SqlClient.SqlClient)
  const [row] = yield* sql<{ readonly text: string }>`SELECT pg_read_file('postmaster.pid') AS text`
  const server = row!.text.split("\n")[0]!
  const used = Effect.sync(() => {
    const children = readFileSync(`/proc/${server}/task/${server}/children`, "utf8").split(" ").filter(Boolean)
    return TICK * [server, ...children].reduce((all, id) => all + ticksOf(id), 0)
  })
  return { url, used } satisfies Database
})

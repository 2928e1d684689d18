/**
 * Creates the tables of this package, and brings older tables up to date. Every change is made once, in its order, and recorded; all
 * changes are made, or none (`schema/Migrate`). Nodes over PostgreSQL that start at the same time wait for each other.
 *
 * `SqlConnection` makes the changes when a server starts. Run them before, when the database user of the server may not create tables.
 *
 * @since 0.1.0
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type * as Effect from "effect/Effect"
import * as Migrate from "./schema/Migrate.js"
import { services } from "./schema/Schema.js"
import type { SqlStoreError } from "./SqlStoreError.js"

/** @category models */
export interface Options {
  /**
   * Comes before the names of all tables: servers that share one database need different prefixes. Up to 30 lowercase letters, digits and
   * underscores, not beginning with a digit. Default: "mcp_".
   */
  readonly prefix?: string | undefined
}

/**
 * Fails when the database refuses a change or does not answer, when the tables belong to a newer version of this package, and when `prefix`
 * has other characters.
 *
 * @category utils
 */
export const run = ({ prefix = "mcp_" }: Options = {}): Effect.Effect<void, SqlStoreError, SqlClient> =>
  Migrate.run(services, prefix)

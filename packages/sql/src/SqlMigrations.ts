/**
 * Creates the tables of this package, and updates the tables of earlier versions. `run` makes, in order, all changes of tables that the
 * database does not record as made. When one change fails, `run` makes no change (`schema/Migrate`). With PostgreSQL, nodes (processes of a
 * server) that start at the same time make their changes one after another.
 *
 * `SqlConnection` makes the changes when a server starts. If the database user of the server is not allowed to create tables, call `run` as
 * another database user before the start, and give `SqlConnection` the option `migrate: false`.
 *
 * @since 0.1.0
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type * as Effect from "effect/Effect"
import * as Migrate from "./schema/Migrate.js"
import { services } from "./schema/Schema.js"
import type { SqlStoreError } from "./SqlStoreError.js"

/**
 * The options of `run`.
 *
 * @category models
 */
export interface Options {
  /**
   * The text at the beginning of the names of all tables. Servers that share one database need different prefixes. A prefix has up to 30
   * lowercase letters, digits and underscores, and does not begin with a digit. Default: "mcp_".
   */
  readonly prefix?: string | undefined
}

/**
 * Makes all missing changes. Fails when the database refuses a change or does not answer, when the tables belong to a newer version of this
 * package, and when `prefix` is not valid.
 *
 * @category utils
 */
export const run = ({ prefix = "mcp_" }: Options = {}): Effect.Effect<void, SqlStoreError, SqlClient> =>
  Migrate.run(services, prefix)

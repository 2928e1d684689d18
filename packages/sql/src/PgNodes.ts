/**
 * Provides all services that the nodes of a server share, with one PostgreSQL 15 or later. A node is one process of the server. The driver
 * is `@effect/sql-pg`, which you install with your application.
 *
 * When the database does not answer, the process continues: statements fail after the time in the option `timeout`, and the node connects
 * again by itself. After a failover, a connection may lead to a server that refuses writes. The node replaces such a connection.
 *
 * @since 0.1.0
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as PgConnections from "./connection/PgConnections.js"
import * as Sockets from "./connection/Sockets.js"
import * as Wake from "./connection/Wake.js"
import * as Migrate from "./schema/Migrate.js"
import type * as SqlConnection from "./SqlConnection.js"
import * as SqlMigrations from "./SqlMigrations.js"
import * as SqlNodes from "./SqlNodes.js"
import { SqlStoreError } from "./SqlStoreError.js"

/**
 * The options of `client` and `layer`.
 *
 * @category models
 */
export interface Options extends SqlConnection.Options {
  /**
   * The address of PostgreSQL: `postgres://user:password@host:5432/database`, with `?sslmode=verify-full` for TLS. One connection listens
   * for notifications. So a connection pooler between the node and the database must keep sessions ("session pooling"), and must accept the
   * settings `statement_timeout` and `idle_in_transaction_session_timeout`.
   */
  readonly url: string | Redacted.Redacted
  /**
   * How many connections for data a node opens at most. A node opens two more connections: one to renew its leases, and one for
   * notifications of other nodes. (A lease is the right of a node to keep its sessions for a limited time.) Default: 10.
   */
  readonly maxConnections?: number | undefined
}

/**
 * Returns whether a text is an address of PostgreSQL. The host may be missing before the path. Then a setting of the address names the
 * host, for example the folder of a socket.
 */
const isAddress = (url: string): boolean =>
  /^(postgres(ql)?|socket):/i.test(url) && [url, url.replace("@/", "@host/")].some((url) => URL.canParse(url))

/** The message does not contain the address, because the address may have a password. */
const noAddress = new SqlStoreError({
  message: "The option `url` is not the address of a PostgreSQL server: write it as " +
    "postgres://user:password@host:5432/database, with a password that `encodeURIComponent` has encoded"
})

/** How long a client may take to close its connections. After this time the client destroys the connections. */
const CLOSE = Duration.millis(500)

/**
 * Makes a client of the driver. The client closes a connection on which no data arrived and no data was sent for `silence` milliseconds, or
 * for the time `timeout` if `timeout` is longer.
 */
const clientOf = (
  { maxConnections = 10, timeout = "5 seconds", url }: Options,
  silence: number
): Layer.Layer<SqlClient, SqlStoreError> =>
  Layer.scoped(
    SqlClient,
    Effect.gen(function*() {
      const limit = Duration.toMillis(timeout)
      const address = typeof url === "string" ? url : Redacted.value(url)
      if (!isAddress(address)) return yield* noAddress
      // The connection that listens may be silent for two times `BEAT`, and an unused connection may be silent for `timeout`.
      const sockets = yield* Sockets.make(Math.max(limit, silence, 2 * Duration.toMillis(Wake.BEAT)) + 500)
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => TimeLimit.end(Scope.close(scope, exit), CLOSE))
      const client = PgClient.make({
        url: Redacted.make(withSettings(address, limit)),
        applicationName: "effect-mcp",
        maxConnections: maxConnections + PgConnections.SPARE,
        connectTimeout: limit,
        idleTimeout: limit,
        stream: sockets.open
      })
      return yield* client.pipe(
        Effect.provide(Reactivity.layer),
        Scope.extend(scope),
        Effect.mapError((error) => unreachable(address, error))
      )
    })
  )

/**
 * Provides a client that connects to PostgreSQL. PostgreSQL ends statements that take longer than the option `timeout`, including the time
 * in which a statement waits for a lock. The client closes a connection that stays silent for a longer time. Statements of
 * `SqlMigrations.run` may take long, so for `SqlMigrations.run` give the client a longer `timeout`.
 *
 * @category utils
 */
export const client = (options: Options): Layer.Layer<SqlClient, SqlStoreError> => clientOf(options, 0)

/**
 * Connects to PostgreSQL, creates the tables, and provides all services to the server and to its HTTP endpoint.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as HttpServer from "@effect-mcp/node/HttpServer"
 * import * as PgNodes from "@effect-mcp/sql/PgNodes"
 * import { Effect, Layer } from "effect"
 *
 * const Hello = McpServer.tool(Tool.make("hello"), () => Effect.succeed("Hello from any node!"))
 *
 * export const Live = HttpServer.layer({ port: 3000 }).pipe(
 *   Layer.provide(McpServer.layer({ name: "shop", version: "1.0.0" }, Hello)),
 *   Layer.provide(PgNodes.layer({ url: "postgres://shop@postgres.internal/shop" }))
 * )
 * ```
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<SqlNodes.Services, SqlStoreError> => {
  const nodes = (options: Options) => Layer.provide(SqlNodes.layerWith(options), client(options))
  if (options.migrate === false) return nodes(options)
  // A change of a table may take longer than other statements, so another client makes the changes.
  const migrated = Effect.provide(SqlMigrations.run(options), clientOf(options, Migrate.TIMEOUT))
  return Layer.unwrapEffect(Effect.as(migrated, nodes({ ...options, migrate: false })))
}

/**
 * Does the same as `layer`, with options from the configuration (`Config`) of your program.
 *
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<SqlNodes.Services, SqlStoreError | ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))

/**
 * Adds settings to the address. With these settings the database itself ends statements that take too long, and transactions of a node that
 * has stopped. Settings that are already in the address take precedence.
 */
const withSettings = (address: string, limit: number): string => {
  const [base, ...settings] = address.split("?")
  const own = `statement_timeout=${limit}&idle_in_transaction_session_timeout=${limit}`
  return `${base}?${[own, ...settings].join("&")}`
}

/** Makes the error when there is no connection. The message has the host, but not the user and the password. */
const unreachable = (address: string, { cause, message }: SqlError): SqlStoreError => {
  const place = URL.canParse(address) ? new URL(address).host : ""
  const why = cause instanceof Error && cause.message !== "" ? cause.message : message ?? "it does not answer"
  // An error that PostgreSQL itself has sent has a `severity`.
  const advice = typeof cause === "object" && cause !== null && "severity" in cause
    ? "correct the option `url` or the settings of PostgreSQL"
    : "start PostgreSQL there, or correct the option `url`"
  const where = place === "" ? "" : ` at ${place}`
  return new SqlStoreError({ message: `There is no connection to PostgreSQL${where}: ${why}: ${advice}` })
}

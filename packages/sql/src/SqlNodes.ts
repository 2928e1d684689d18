/**
 * Provides all services that the nodes of a server share, with one SQL database: PostgreSQL for several nodes, or SQLite for one node that
 * continues after a restart. A node is one process of the server.
 *
 * `services` has the default options of every service. To set options of a service, do not use `services`, but the layer of each single
 * service, such as `SqlTaskStore.layerWith`.
 *
 * @since 0.1.0
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { ChangeBus } from "@effect-mcp/core/ChangeBus"
import type { EventStore } from "@effect-mcp/core/EventStore"
import type { Inbox } from "@effect-mcp/core/Inbox"
import type { SealKeys } from "@effect-mcp/core/SealKeys"
import type { SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import type { SharedLimits } from "@effect-mcp/core/SharedLimits"
import type { TaskStore } from "@effect-mcp/core/TaskStore"
import * as Layer from "effect/Layer"
import * as SqlChangeBus from "./SqlChangeBus.js"
import * as SqlConnection from "./SqlConnection.js"
import * as SqlEventStore from "./SqlEventStore.js"
import * as SqlInbox from "./SqlInbox.js"
import * as SqlSealKeys from "./SqlSealKeys.js"
import * as SqlSessionDirectory from "./SqlSessionDirectory.js"
import * as SqlSharedLimits from "./SqlSharedLimits.js"
import type { SqlStoreError } from "./SqlStoreError.js"
import * as SqlTaskStore from "./SqlTaskStore.js"

/**
 * The services that the nodes of a server share.
 *
 * @category models
 */
export type Services = ChangeBus | EventStore | Inbox | SealKeys | SessionDirectory | SharedLimits | TaskStore

/**
 * All services over a `SqlConnection`, with the default options of each service.
 *
 * @category layers
 */
export const services: Layer.Layer<Services, never, SqlConnection.SqlConnection> = Layer.mergeAll(
  SqlChangeBus.layer,
  SqlEventStore.layer,
  SqlInbox.layer,
  SqlSealKeys.layer,
  SqlSessionDirectory.layer,
  SqlSharedLimits.layer,
  SqlTaskStore.layer
)

/**
 * Does the same as `layer`, with options of the connection.
 *
 * @category layers
 */
export const layerWith = (options?: SqlConnection.Options): Layer.Layer<Services, SqlStoreError, SqlClient> =>
  Layer.provide(services, SqlConnection.layerWith(options))

/**
 * Creates the tables, and provides all services to the server and to its HTTP endpoint, over the `SqlClient` that your application
 * provides. With a `PgClient`, one connection listens for notifications, and one connection stays free for the renewal of leases. (A lease
 * is the right of a node to keep its sessions for a limited time.) So the option `maxConnections` of the `PgClient` must be at least 3.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as HttpServer from "@effect-mcp/node/HttpServer"
 * import * as SqlNodes from "@effect-mcp/sql/SqlNodes"
 * import { LibsqlClient } from "@effect/sql-libsql"
 * import { Effect, Layer } from "effect"
 *
 * const Hello = McpServer.tool(Tool.make("hello"), () => Effect.succeed("Hello again!"))
 *
 * export const Live = HttpServer.layer({ port: 3000 }).pipe(
 *   Layer.provide(McpServer.layer({ name: "shop", version: "1.0.0" }, Hello)),
 *   Layer.provide(SqlNodes.layer),
 *   Layer.provide(LibsqlClient.layer({ url: "file:mcp.db" }))
 * )
 * ```
 * @category layers
 */
export const layer: Layer.Layer<Services, SqlStoreError, SqlClient> = layerWith()

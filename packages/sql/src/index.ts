/**
 * State of an MCP server in PostgreSQL, for several nodes, or in SQLite, for one that restarts.
 *
 * @since 0.1.0
 */
export * as SqlChangeBus from "./SqlChangeBus.js"
export * as SqlConnection from "./SqlConnection.js"
export * as SqlEventStore from "./SqlEventStore.js"
export * as SqlInbox from "./SqlInbox.js"
export * as SqlMigrations from "./SqlMigrations.js"
export * as SqlNodes from "./SqlNodes.js"
export * as SqlSealKeys from "./SqlSealKeys.js"
export * as SqlSessionDirectory from "./SqlSessionDirectory.js"
export * as SqlSharedLimits from "./SqlSharedLimits.js"
export * as SqlStoreError from "./SqlStoreError.js"
export * as SqlTaskStore from "./SqlTaskStore.js"

/**
 * MCP servers as Effect layers.
 *
 * @since 0.1.0
 */
export * as Ask from "./Ask.js"
export * as CacheOptions from "./CacheOptions.js"
export * as ClientLogger from "./ClientLogger.js"
export * as Completer from "./Completer.js"
export * as Dispatcher from "./Dispatcher.js"
export * as EventStore from "./EventStore.js"
export * as Feature from "./Feature.js"
export * as Handler from "./Handler.js"
export * as HttpOptions from "./HttpOptions.js"
export * as HttpRefusal from "./HttpRefusal.js"
export * as Implement from "./Implement.js"
export * as InProcess from "./InProcess.js"
export * as ListenOptions from "./ListenOptions.js"
export * as McpServer from "./McpServer.js"
export * as Middleware from "./Middleware.js"
export * as Principal from "./Principal.js"
export * as Registry from "./Registry.js"
export * as RequestContext from "./RequestContext.js"
export * as RoundOptions from "./RoundOptions.js"
export * as ServerSession from "./ServerSession.js"
export * as Telemetry from "./Telemetry.js"
export * as WebHandler from "./WebHandler.js"

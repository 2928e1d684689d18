/**
 * Standard streams, subprocesses and HTTP servers for Effect MCP on Node.
 *
 * @since 0.1.0
 */
export * as ConfiguredServers from "./ConfiguredServers.js"
export * as GuardedHttpClient from "./GuardedHttpClient.js"
export * as HttpServer from "./HttpServer.js"
export * as NodeHandler from "./NodeHandler.js"
export * as PlatformHttpServer from "./PlatformHttpServer.js"
export * as StdioClient from "./StdioClient.js"
export * as StdioServer from "./StdioServer.js"

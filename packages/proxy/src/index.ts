/**
 * Passes an upstream MCP server on as features of your own server.
 *
 * @since 0.1.0
 */
export * as Proxy from "./Proxy.js"
export * as ProxyEntry from "./ProxyEntry.js"

/**
 * MCP Apps: tools with views that hosts show, for servers and for hosts.
 *
 * @since 0.1.0
 */
export * as AppView from "./AppView.js"
export * as Apps from "./Apps.js"

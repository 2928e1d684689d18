/**
 * MCP clients as Effect services.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * A client of one server: connected when you have it, closed with its scope. One entry point takes any `Connector`: a
 * subprocess, a server in the same process, a transport of your own.
 *
 * @since 0.1.0
 */
export * as Client from "./Client.js"

/**
 * How a client's calls can fail: the server's own errors (`McpError`), the failures of this side (`LocalError`), and the
 * few that only a client has.
 *
 * @since 0.1.0
 */
export * as ClientError from "./ClientError.js"

/**
 * The typed half of one conversation: one verb for each method that a server knows, results checked, errors named. It
 * knows the methods and nothing of how the server is reached.
 *
 * @since 0.1.0
 */
export * as ClientSession from "./ClientSession.js"

/**
 * What the server tells without being asked, for any number of listeners. Each hears all from when it begins to listen to
 * the end of the conversation; one that is slower than the server loses the oldest, and nobody else does.
 *
 * @since 0.1.0
 */
export * as Notifications from "./Notifications.js"

/**
 * A definition as functions: one for each tool, under its own name. Arguments are encoded, results and declared failures
 * decoded, by the schemas that the server keeps.
 *
 * @since 0.1.0
 */
export * as Typed from "./Typed.js"

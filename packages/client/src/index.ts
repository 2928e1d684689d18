/**
 * MCP clients as Effect services.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * How any method is called: parameters in the words of the server's revision, the result checked, errors named; and how a
 * list that comes in pages is read.
 *
 * @since 0.1.0
 */
export * as Calls from "./Calls.js"

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
 * Many servers as one: what all of them offer under one roof, calls that find the server that is meant, and lists that
 * stay true while servers come, change, die and come back. One server's end costs its own entries, and no other's.
 *
 * How names are kept apart is in `Entries`; one server of the group is a `Member`.
 *
 * @since 0.1.0
 */
export * as ClientSessionGroup from "./ClientSessionGroup.js"

/**
 * What many servers offer, as one: tools, resources, templates and prompts, each with the server that has it, under names
 * of which none stands twice. Plain values; who asks servers for them is `ClientSessionGroup`.
 *
 * @since 0.1.0
 */
export * as Entries from "./Entries.js"

/**
 * What a client can do for its server: have a model go on, ask the person, say where to work, hear what is logged. Each is a
 * layer; together they are an argument of the client, built before it connects. What is not there is not advertised, and
 * refused.
 *
 * @since 0.1.0
 */
export * as Features from "./Features.js"

/**
 * How a group of servers can refuse: a name that is taken, a server or an entry that is not there. None of them comes from a
 * server.
 *
 * @since 0.1.0
 */
export * as GroupError from "./GroupError.js"

/**
 * One server of a group: what it offers, read from all pages; how its lists are kept true; and how it comes back when it has
 * gone.
 *
 * @since 0.1.0
 */
export * as Member from "./Member.js"

/**
 * What the server tells without being asked, for any number of listeners. Each hears all from when it begins to listen to
 * the end of the conversation; one that is slower than the server loses the oldest, and nobody else does.
 *
 * @since 0.1.0
 */
export * as Notifications from "./Notifications.js"

/**
 * Whether tools give what they promise: structured content is put to the output schema that the server has listed. What is
 * known of a tool holds until the server says that its tools have changed.
 *
 * A call that succeeded is never made to fail by trouble with the list: what cannot be found out is not checked.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema
 * @since 0.1.0
 */
export * as Outputs from "./Outputs.js"

/**
 * A call and its progress as one stream: what was said on the way, then the result. For who would rather read than be
 * called back.
 *
 * @since 0.1.0
 */
export * as ProgressStream from "./ProgressStream.js"

/**
 * What a feature of the client holds while it answers one question of the server: what was asked, and the way to say how
 * far the answer is.
 *
 * @since 0.1.0
 */
export * as RequestContext from "./RequestContext.js"

/**
 * The configuration in which hosts name their servers: `mcpServers`, each a program to launch or an address to reach.
 *
 * How a server is reached is said by who knows how: this room makes no connector.
 *
 * @see https://modelcontextprotocol.io/docs/develop/connect-local-servers
 * @since 0.1.0
 */
export * as ServersConfig from "./ServersConfig.js"

/**
 * Spans and metrics of a client, through Effect's own `Tracer` and `Metric`. A client has neither unless its `telemetry`
 * option says so; then the server is told of each call's span, in `_meta`.
 *
 * Names are in `@effect-mcp/protocol/Telemetry`.
 *
 * @since 0.1.0
 */
export * as Telemetry from "./Telemetry.js"

/**
 * A definition as functions: one for each tool, under its own name, and beside them those of resources and prompts.
 * Arguments are encoded, results and declared failures decoded, by the schemas that the server keeps.
 *
 * @since 0.1.0
 */
export * as Typed from "./Typed.js"

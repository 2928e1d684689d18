/**
 * MCP servers as Effect layers.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * What has changed in a server, told to whoever listens: many changes in one go are one piece of news. How it is told is
 * the business of each era.
 *
 * @since 0.1.0
 */
export * as Changes from "./Changes.js"

/**
 * The one layer that all transports feed: it runs a supervised conversation for each transport that a listener yields.
 * Adding a transport to a server is adding a layer on top of this one.
 *
 * It chooses the era of each conversation, and knows no method and no feature.
 *
 * @since 0.1.0
 */
export * as Dispatcher from "./Dispatcher.js"

/**
 * A server as something to connect to, in the same process: no wire, no JSON, the same contract. Who connects is not
 * known here; a client needs a `Connector` and nothing else.
 *
 * @since 0.1.0
 */
export * as InProcess from "./InProcess.js"

/**
 * The front desk: a server out of who it is and what it offers, and features out of definitions and handlers.
 *
 * A server is furnished before its door opens: features are an argument of its layer, and nothing is answered before all
 * of them are there.
 *
 * @since 0.1.0
 */
export * as McpServer from "./McpServer.js"

/**
 * Cuts a list into pages. The list is in the order of its keys, and a cursor names the last one that was given out: entries
 * which come and go between two pages neither repeat nor hide others, and every instance of a server takes the cursors of
 * every other.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 * @since 0.1.0
 */
export * as Page from "./Page.js"

/**
 * What a server offers right now. Registering is acquiring: the entry leaves with the scope it was registered in.
 *
 * It is a service of each server, never shared by two; feature layers find it in their context. It knows no wire and no
 * client: who wants to know of changes listens.
 *
 * @since 0.1.0
 */
export * as Registry from "./Registry.js"

/**
 * How a handler ended, as an answer: the one boundary between what our code does and what the wire says. Success is a
 * result, an `McpError` the error it stands for in the codes of the era; anything else is a bug, of which the peer hears
 * "Internal error" and the operator everything.
 *
 * That there is an answer at all is decided below, in `@effect-mcp/jsonrpc/InFlight`; that a tool failed is a result, made
 * in `features/Tools`.
 *
 * @since 0.1.0
 */
export * as Reply from "./Reply.js"

/**
 * What every handler holds while it serves one request: who asks, and the ways to tell them something meanwhile. The same
 * service in both eras; a handler never learns which.
 *
 * To ask the other side for something, see `ServerSession`.
 *
 * @since 0.1.0
 */
export * as RequestContext from "./RequestContext.js"

/**
 * The scope of one request, made when something is first put into it: most handlers put nothing. It closes when the
 * handler has ended, before the answer leaves.
 *
 * @since 0.1.0
 */
export * as RequestScope from "./RequestScope.js"

/**
 * From the name of a method to what serves it. From here on both eras and all transports share every room.
 *
 * Which methods exist in which era is in the tables of `@effect-mcp/protocol`; a method whose feature this server does not
 * offer is not found either. What only one era has is served by that era's own rooms.
 *
 * @since 0.1.0
 */
export * as Router from "./Router.js"

/**
 * `RequestContext` and the ways to ask the client's side while a request is served. Tools, prompts and resource reads hold
 * it; asking from anywhere else does not compile.
 *
 * @since 0.1.0
 */
export * as ServerSession from "./ServerSession.js"

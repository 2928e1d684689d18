/**
 * MCP servers as Effect layers.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * What a server may ask the client's side, as values: a person by a form or a page, a model, the folders to work in. A
 * question says what the client must be able to do and what the answer means; how it travels is the business of each era.
 *
 * Ask first, act after: where the era has no way back to the client while a request is served, the handler is stopped at
 * the question and run again from the top with the answer.
 *
 * @since 0.1.0
 */
export * as Ask from "./Ask.js"

/**
 * What brought a message here, where that is more than a pipe: the HTTP request it came in, the session it belongs to, who
 * sent it. Handlers read it as part of `RequestContext`.
 *
 * The HTTP rooms make one for each POST, as the facts of its channel; a pipe that is no HTTP has none.
 *
 * @since 0.1.0
 */
export * as Carrier from "./Carrier.js"

/**
 * What has changed in a server, told to whoever listens: many changes in one go are one piece of news. How it is told is
 * the business of each era.
 *
 * @since 0.1.0
 */
export * as Changes from "./Changes.js"

/**
 * What handlers log with Effect, told to the client that they work for: a logger beside those that the application has.
 * What is logged outside of any request goes to those alone.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 * @since 0.1.0
 */
export * as ClientLogger from "./ClientLogger.js"

/**
 * What completes the arguments of a prompt, or the parameters of a resource template: functions by the argument's name.
 * Arguments that can only be one of a few strings need none: those strings complete them.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 * @since 0.1.0
 */
export * as Completer from "./Completer.js"

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
 * A feature: a layer that registers something with a server, to run in the context that the layer was built in. What
 * exists only while a request is served is not part of that context, and never outlives or shadows the request's own.
 *
 * @since 0.1.0
 */
export * as Feature from "./Feature.js"

/**
 * Methods that the application serves itself: its own, those of an extension, or one of the specification's in place of
 * what this library would do. What a proxy is made of.
 *
 * @since 0.1.0
 */
export * as Handler from "./Handler.js"

/**
 * The context that a handler runs in: what its layer was built with, then the session's services, then what the middleware
 * has added, then those of the request. Each comes before what is of the same name and was there earlier.
 *
 * @since 0.1.0
 */
export * as HandlerContext from "./HandlerContext.js"

/**
 * A server as something to connect to, in the same process: no wire, no JSON, the same contract. Who connects is not
 * known here; a client needs a `Connector` and nothing else.
 *
 * @since 0.1.0
 */
export * as InProcess from "./InProcess.js"

/**
 * The pages of a shelf, worked out once: they hold until an entry comes or goes. Kept are those that a client gets who reads
 * from the first page on, whatever cursors it makes up.
 *
 * How a list is cut is the business of `Page`; what an entry says of itself comes from who asks for the listing.
 *
 * @since 0.1.0
 */
export * as Listing from "./Listing.js"

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
 * What stands around every message of a server: it sees requests and notifications, the handshake and unknown methods too,
 * before anything serves them, and how they end. What belongs to no conversation, a notification to an HTTP endpoint without
 * sessions, means nothing to anybody, and is not seen. It can provide services to handlers, refuse, time, and trace.
 *
 * @since 0.1.0
 */
export * as Middleware from "./Middleware.js"

/**
 * What a server says that it offers: what its features keep, what the application serves itself, and what it says beside.
 * When it is said, and to whom, is the business of each era.
 *
 * @since 0.1.0
 */
export * as Offer from "./Offer.js"

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
 * What a server offers right now, kind by kind: feature layers put it there, the features' rooms read it.
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
 * offer is not found either. What only one era has is served by that era's own rooms. A handler that was registered for a
 * method comes before both.
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

/**
 * The application's own layer for each client: what it builds is built anew for every session, over what the application
 * provides to all, and is gone with the session. Two clients never share it.
 *
 * When a session begins is the business of each era.
 *
 * @since 0.1.0
 */
export * as SessionLayer from "./SessionLayer.js"

/**
 * Entries of one kind that come and go. Putting one on the shelf is acquiring: it leaves with the scope it was put there in.
 *
 * It knows neither what the entries are nor who reads them; what is worked out from them holds until `revision` changes.
 *
 * @since 0.1.0
 */
export * as Shelf from "./Shelf.js"

/**
 * Spans and metrics of a server, through Effect's own `Tracer` and `Metric`: whatever an application exports them with
 * exports these. A server has neither unless it is given this middleware.
 *
 * Names are in `@effect-mcp/protocol/Telemetry`.
 *
 * @since 0.1.0
 */
export * as Telemetry from "./Telemetry.js"

/**
 * How anything is said: JSON-RPC messages, transports and conversations, on Effect.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * One sleeping fiber for any number of deadlines: who has deadlines keeps them, sets the alarm no later than the first,
 * and is asked to look when it rings.
 *
 * A timer per request would cost more than the request; this costs one number to compare. It reads Effect's `Clock`,
 * which is monotonic and which tests can turn.
 *
 * @since 0.1.0
 */
export * as Alarm from "./Alarm.js"

/**
 * How a client reaches a server: a value that yields a transport in a scope. A subprocess, a URL, a server in the same
 * process each make one; so does anything with a `Transport`.
 *
 * @since 0.1.0
 */
export * as Connector from "./Connector.js"

/**
 * A conversation over one transport: requests in both directions, each with one answer, until one side has had enough. It is
 * bidirectional and knows no side; what the methods mean is said above, how messages travel below.
 *
 * How it is made to go on, and to end, is in `Machine`.
 *
 * @since 0.1.0
 */
export * as Conversation from "./Conversation.js"

/**
 * A pair of transports in one process, without a wire and without a queue: what one side sends, the other has received
 * before `unsafeSend` returns, unless it is busy receiving just then; what it is sent meanwhile comes next. The same
 * contract as any other pair of transports, for the price of a function call.
 *
 * Values are handed over as they are: neither side may change what it has sent or received.
 *
 * @since 0.1.0
 */
export * as Direct from "./Direct.js"

/**
 * Requests we are answering, by channel and id, and how to stop them: the room that starts a request's fiber, records why
 * it was interrupted, and sees to it that each ends in exactly one answer, or in the silence that a cancel asks for.
 *
 * A channel is one way for answers to leave: the pipe itself, or one POST of many. Equal ids on two channels are two
 * requests. What we have asked the peer is `Pending`.
 *
 * @since 0.1.0
 */
export * as InFlight from "./InFlight.js"

/**
 * What a conversation noticed and went on from: input that answers nothing, a handler that died, work that would not
 * stop. None of these ends a conversation; all of them are visible to the application.
 *
 * @since 0.1.0
 */
export * as Incident from "./Incident.js"

/**
 * Text to value and back, within bounds: how deep a document may nest, and that no member is named `__proto__`.
 *
 * The one room that calls `JSON.parse` and `JSON.stringify`. It knows no message shape; a refusal is a sentence, which
 * `LineFraming` turns into an answer.
 *
 * @since 0.1.0
 */
export * as Json from "./Json.js"

/**
 * The error object of JSON-RPC: a code, a message and optional data, as they cross the wire.
 *
 * This room knows the five standard codes and nothing of MCP; what the codes of the protocol mean is said in
 * `@effect-mcp/protocol/McpError`. Failures that never crossed a wire are not here: see `Outbound` and `Transport`.
 *
 * @since 0.1.0
 */
export * as JsonRpcError from "./JsonRpcError.js"

/**
 * One message per line: bytes to messages and back, for pipes and sockets. Any way of cutting the same bytes into chunks
 * gives the same messages; a line that is no message costs itself and nothing after it.
 *
 * It knows neither where the bytes come from nor what the messages mean.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
export * as LineFraming from "./LineFraming.js"

/**
 * The call/return machine behind a conversation: it sorts what comes in, runs a fiber for each request, waits for the answers
 * to ours, and ends both sides of every exchange in exactly one way.
 *
 * Receiving is ordered and never waits, exchanges run beside one another. It knows no method name but
 * `notifications/cancelled` and `notifications/progress`. It has no fiber of its own: who reads for it is not known here.
 *
 * @since 0.1.0
 */
export * as Machine from "./Machine.js"

/**
 * What two peers can say: a request, a notification, a response. Input that is none of these becomes a `Malformed`
 * value with the code to answer and, where one can be read, the id to answer it under; nothing here throws.
 *
 * Messages are the wire's own objects, checked and passed on without a copy. This room knows no method name and no
 * text: `Json` turns text into values, `LineFraming` cuts text into messages.
 *
 * @since 0.1.0
 */
export * as Message from "./Message.js"

/**
 * The way to speak to the other side: ask and wait, or tell and go on. Everything above this package speaks through it
 * and knows no transport.
 *
 * A channel that cannot carry something says so itself (`none`); there are no flags upstairs. The ways a call can end
 * without an answer are here: nobody to ask, nobody left, nobody in time, nobody who remembers. The peer's own refusal is a
 * `JsonRpcError`, so the one can never be taken for the other.
 *
 * @since 0.1.0
 */
export * as Outbound from "./Outbound.js"

/**
 * Values waiting to be written, in order. A sender that can wait waits while the outbox is full; one that cannot (an
 * answer, a request) is always taken in, because their number is bounded elsewhere.
 *
 * The buffer between any sender and any writer: the transports use it. It knows nothing of messages.
 *
 * @since 0.1.0
 */
export * as Outbox from "./Outbox.js"

/**
 * Requests we have asked, by id, and who waits: the room that gives out ids, keeps deadlines, finds the call that an
 * answer or a progress notification belongs to, and ends every call in exactly one way.
 *
 * It knows nothing of requests we are answering; that is `InFlight`.
 *
 * @since 0.1.0
 */
export * as Pending from "./Pending.js"

/**
 * How far a request is: the notification that carries it, and its delivery to whoever waits, in order and before the
 * answer. `Pending` decides which call it belongs to.
 *
 * @since 0.1.0
 */
export * as Progress from "./Progress.js"

/**
 * From the way a handler ended to what the peer is told. Total: whatever the handler's own mapping does, there is an
 * answer, because it is given from a fiber's observer, and an observer that throws ends the process. So this is the room
 * that catches what the application throws.
 *
 * Whether there is an answer at all is decided in `InFlight`, from the reason that whoever interrupted has recorded; never
 * here, from the shape of the exit.
 *
 * @since 0.1.0
 */
export * as Reply from "./Reply.js"

/**
 * Server-sent events: events to text, and bytes to events. Any way of cutting the same bytes into chunks gives the same
 * events; an event that is too large costs itself and nothing after it.
 *
 * It knows neither HTTP nor what the events mean: that one with empty data is no message is the reader's business.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 * @since 0.1.0
 */
export * as Sse from "./Sse.js"

/**
 * One duplex pipe: what comes in is a stream, what goes out an effect. It knows nothing of methods, ids or MCP.
 *
 * `Conversation` is its only reader. `LineFraming` makes transports out of bytes; the pair of `memory` is two of them
 * back to back; `Direct` is a pair without a queue in between.
 *
 * @since 0.1.0
 */
export * as Transport from "./Transport.js"

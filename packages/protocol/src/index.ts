/**
 * What may be said: the vocabulary of the Model Context Protocol, every revision.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * What a client and a server say they can do, and what follows from it. The objects are open: a key we do not know stays.
 * Presence is the statement; most values are empty objects.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 * @since 0.1.0
 */
export * as Capabilities from "./Capabilities.js"

/**
 * The words of completion: a client shows what has been typed so far of an argument of a prompt, or of a variable of a
 * resource template, and a server suggests what it may become.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 * @since 0.1.0
 */
export * as Completion from "./Completion.js"

/**
 * What messages, tool results and prompts are made of: text, pictures, sound, links to resources and resources
 * themselves. Base64 stays the string it is on the wire.
 *
 * A kind that a revision does not know is told to its peers as text.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 * @since 0.1.0
 */
export * as Content from "./Content.js"

/**
 * The words of elicitation: a server asks a person, by a form or by a page to open, and the client says what became of
 * it.
 *
 * What only the legacy era says of it (the id of a page, the notice that it is done) is in `legacy/Elicitation`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 * @since 0.1.0
 */
export * as Elicitation from "./Elicitation.js"

/**
 * What a form may ask beyond its shape, and which answers fit it: the rules that both sides keep, the client before it
 * sends an answer, the server before it believes one.
 *
 * How a form is shown is not known here; its shape is in `ElicitationSchema`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 * @since 0.1.0
 */
export * as ElicitationForm from "./ElicitationForm.js"

/**
 * The fields of a form: text, numbers, yes or no, and choices of one or several, with titles or without. The flat part of
 * JSON Schema that elicitation allows, and no more.
 *
 * 2025-06-18 knows one shape of choice, and of one only: others are told to such peers in that shape. What a form may ask
 * beyond its shape, and which answers fit it, is said in `ElicitationForm`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 * @since 0.1.0
 */
export * as ElicitationSchema from "./ElicitationSchema.js"

/**
 * The two eras of the protocol: *legacy*, which opens with a handshake and keeps a session, and *modern*, in which every
 * request speaks for itself. The words are the specification's own. Which era a message belongs to is asked once, at the
 * door; what follows from it is the business of the rooms of that era.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 * @since 0.1.0
 */
export * as Era from "./Era.js"

/**
 * Which `file:` addresses may be followed: those that lead down from a folder, whatever is written into them. An address
 * is read once, segment by segment, and one that could be read in two ways is refused.
 *
 * Nothing here touches a disk: whoever opens what is found must still mind links that lead out of a folder.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#security-considerations
 * @since 0.1.0
 */
export * as FileUri from "./FileUri.js"

/**
 * A schema of the wire vocabulary as one function: does this value conform? Compiled once per schema and many times
 * faster than decoding, because the vocabulary has no transformations: what conforms is taken as it is, with the members
 * we do not know. The schema itself speaks only when something is wrong, to say where.
 *
 * @since 0.1.0
 */
export * as Guard from "./Guard.js"

/**
 * Who speaks: the name and version that clients and servers tell each other, and the icons that stand for many things.
 * For people to read; nothing may depend on it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 * @since 0.1.0
 */
export * as Implementation from "./Implementation.js"

/**
 * Where and why a value does not conform, in words that may be shown to whoever sent it: one line for each place, none
 * longer than needed, nothing of our own.
 *
 * @since 0.1.0
 */
export * as Issue from "./Issue.js"

/**
 * Any JSON, as schemas, for the places where the protocol leaves the content to others, and the numbers of JSON. How text
 * becomes a value is the business of `@effect-mcp/jsonrpc/Json`.
 *
 * @since 0.1.0
 */
export * as Json from "./Json.js"

/**
 * The words of logging: what a server tells of its work, and how much of it a client wants to hear.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 * @since 0.1.0
 */
export * as Logging from "./Logging.js"

/**
 * Everything that can be answered with an error, by what happened rather than by number: the code is chosen per era, in
 * one table, when an error leaves, and read back when one comes in.
 *
 * These may cross the wire. What fails on this side of it (a timeout, a closed connection) is in
 * `@effect-mcp/jsonrpc/Outbound`, so that neither can be mistaken for the other.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 * @since 0.1.0
 */
export * as McpError from "./McpError.js"

/**
 * `_meta`: what travels beside the content of any message, open to everybody. The keys that the specification reserves
 * are named here; all others are kept as they come. Which names a key may have is said in `MetaKey`; what a modern
 * request must carry, in `modern/Envelope`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta
 * @since 0.1.0
 */
export * as Meta from "./Meta.js"

/**
 * Which names a key of `_meta` may have, and which the specification keeps for itself. A key may have a prefix, labels
 * with dots between them and a slash behind; the same rule names extensions.
 *
 * Nothing of what a key holds is known here; the keys that have a meaning are in `Meta`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 * @since 0.1.0
 */
export * as MetaKey from "./MetaKey.js"

/**
 * What a method is: its name, who may send it, its parameters and result, the capability that gates it, and the revisions
 * that have it. The two tables, `legacy/Methods` and `modern/Methods`, are made of these; no method is named here.
 *
 * @since 0.1.0
 */
export * as Method from "./Method.js"

/**
 * Lists in pages: an opaque cursor says where the next one begins. Who gives a cursor reads it; everybody else passes it
 * back as it is.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 * @since 0.1.0
 */
export * as Pagination from "./Pagination.js"

/**
 * The words of progress and cancellation: how far a request is, and that nobody waits for it any more. How both are
 * delivered is the business of `@effect-mcp/jsonrpc`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
 * @since 0.1.0
 */
export * as Progress from "./Progress.js"

/**
 * A schema of the vocabulary and a revision as one function: what a peer of that revision is told of a value. Fields that
 * it does not know are left out, kinds of content that it does not know become the nearest it does, and what needs no
 * change is passed on untouched. Compiled once per schema and revision.
 *
 * It reads the annotations of `Since` and knows no type by name; `legacy/Narrow` and `modern/Narrow` are its two doors.
 *
 * @since 0.1.0
 */
export * as Projection from "./Projection.js"

/**
 * The words of prompts: how a server lists the messages it has prepared, and how a client gets one with its arguments
 * filled in.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 * @since 0.1.0
 */
export * as Prompts from "./Prompts.js"

/**
 * The words of resources: how a server lists what can be read and the templates of what could be, how a client reads, and
 * how it hears of a change. Asking to hear of one differs per era: see `Subscriptions` of each.
 *
 * The contents of a resource and a link to one are in `Content`, because messages carry them too.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 * @since 0.1.0
 */
export * as Resources from "./Resources.js"

/**
 * The words of roots: the folders that a client lets a server work in. Which addresses lie inside one is said in
 * `FileUri`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 * @since 0.1.0
 */
export * as Roots from "./Roots.js"

/**
 * The words of sampling: a server asks the client for a message of its model, with tools of the server's if both can.
 * Which messages may follow which is said in `ToolDialogue`.
 *
 * Before 2025-11-25 a message has one block of content: a list of blocks is told to such peers as so many messages, and
 * the list of a result in words.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * @since 0.1.0
 */
export * as Sampling from "./Sampling.js"

/**
 * What messages of a model are made of: text, pictures and sound as everywhere, and the tools that it wants used and
 * what came of them. What a revision does not know is told to its peers as text.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#message-content
 * @since 0.1.0
 */
export * as SamplingContent from "./SamplingContent.js"

/**
 * When a field, or a kind of content, came into the vocabulary, when it left, and what other revisions are told instead:
 * annotations that the schemas of this package carry, and that `Projection` reads to say to a peer only what its revision
 * knows. Nothing here looks at a value.
 *
 * @since 0.1.0
 */
export * as Since from "./Since.js"

/**
 * The words of tasks as 2025-11-25 tried them: a request may be answered with a task at once, and its result fetched
 * later. Types and what may follow what; nothing here runs one.
 *
 * The extension that took their place is not part of the core and not here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @since 0.1.0
 */
export * as Tasks from "./Tasks.js"

/**
 * The names that operators know MCP by: spans, attributes and metrics of the OpenTelemetry conventions, and W3C Trace
 * Context in `_meta`. The conventions are still moving, so all of their names are here and nowhere else.
 *
 * What is in a request is never told, but for the names of tools and prompts.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md
 * @since 0.1.0
 */
export * as Telemetry from "./Telemetry.js"

/**
 * Strings whose form the specification names: addresses, templates of addresses, base64. They stay the strings they are
 * on the wire, and their form is not checked here: a peer may put anything into them. The schemas tell the kinds apart for
 * whoever reads them, and give test data of the right form.
 *
 * @since 0.1.0
 */
export * as Text from "./Text.js"

/**
 * Whether a text has the form that a field of a form may ask for: a mail address, a URI, a date, a moment. Enough to catch
 * a slip of the hand; whether the address exists is another matter. Every check reads a text once.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation#section-7.3
 * @since 0.1.0
 */
export * as TextFormat from "./TextFormat.js"

/**
 * How tools are spoken of in the messages of a model: each use is answered in the very next message, all uses of a message
 * in one, and a message of answers says nothing else.
 *
 * It looks at whole lists of messages; what one message may hold is said in `SamplingContent`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#message-content-constraints
 * @since 0.1.0
 */
export * as ToolDialogue from "./ToolDialogue.js"

/**
 * Which names a tool should have. A name that breaks these rules still works with most peers: whoever defines a tool is
 * warned, whoever calls one is not.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names
 * @since 0.1.0
 */
export * as ToolName from "./ToolName.js"

/**
 * The words of tools: how a server lists them, how a client calls one, what comes back.
 *
 * To define a tool with schemas, see `Tool` in `@effect-mcp/definition`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @since 0.1.0
 */
export * as Tools from "./Tools.js"

/**
 * The dated revisions of the Model Context Protocol, their order, and the choice of one that both sides speak.
 *
 * What differs between them is not here: each field says for itself when it came (`Since`), each method in the tables of
 * `legacy/Methods` and `modern/Methods`.
 *
 * @since 0.1.0
 */
export * as Version from "./Version.js"

/**
 * What only 2025-11-25 says of pages to open: each has an id, which the server names again when the page is done. The
 * next revision asks without one.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
 * @since 0.1.0
 */
export * as LegacyElicitation from "./legacy/Elicitation.js"

/**
 * The words of the handshake that opens every legacy conversation.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 * @since 0.1.0
 */
export * as LegacyInitialize from "./legacy/Initialize.js"

/**
 * Everything that may be said up to 2025-11-25: a table of contents. A method that is not here does not exist in the
 * legacy era. Those of tasks are written down in `TaskMethods`.
 *
 * @since 0.1.0
 */
export * as LegacyMethods from "./legacy/Methods.js"

/**
 * Says to a peer of a legacy revision only what that revision knows: newer fields are left out, newer kinds of content
 * become the nearest older one. Compiled once per schema and version; what needs no change is passed on untouched.
 *
 * How is the business of `Projection`; `modern/Narrow` is the same for the other era.
 *
 * @since 0.1.0
 */
export * as LegacyNarrow from "./legacy/Narrow.js"

/**
 * How a legacy client asks to hear of changes of one resource, and not to hear of them any more. Changes of the lists are
 * told to every client; the modern era asks for both in one request.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 * @since 0.1.0
 */
export * as LegacySubscriptions from "./legacy/Subscriptions.js"

/**
 * The methods of tasks, which only 2025-11-25 has, and as an experiment. Both sides may have tasks, and both may ask.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @since 0.1.0
 */
export * as LegacyTaskMethods from "./legacy/TaskMethods.js"

/**
 * How long, and by whom, a modern result may be kept: the two hints, which results carry them, and what a client makes of
 * them. Nothing here keeps anything or looks at a clock.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 * @since 0.1.0
 */
export * as ModernCaching from "./modern/Caching.js"

/**
 * The words of `server/discover`: what a server speaks and can do, asked by whoever wants to know before asking for
 * anything else. It takes nothing but the envelope.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 * @since 0.1.0
 */
export * as ModernDiscover from "./modern/Discover.js"

/**
 * What every modern request carries in `_meta`, because no handshake said it before: the revision it is written in, what
 * its client can do and who that is, and from which level on it wants to hear logs.
 *
 * Reading it is the first thing done to a request; the headers of HTTP that repeat it are in `Headers`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 * @since 0.1.0
 */
export * as ModernEnvelope from "./modern/Envelope.js"

/**
 * The headers in which a modern HTTP request repeats what its body says, so that whoever passes it on need not read the
 * body: which they are, how a value is written in one, and whether they say the same.
 *
 * Those that repeat arguments of a tool are in `ParamHeaders`. Nothing here knows of HTTP but the names.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#request-headers
 * @since 0.1.0
 */
export * as ModernHeaders from "./modern/Headers.js"

/**
 * How a modern server asks: it answers a request with questions, and the client makes the request again with the answers.
 * The questions are those that a legacy server sends as requests, without an id.
 *
 * `requestState` is the server's, and opaque to everybody else; how it is sealed is not the business of this package.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
 * @since 0.1.0
 */
export * as ModernInputRequired from "./modern/InputRequired.js"

/**
 * Everything that may be said from 2026-07-28 on: a table of contents. A method that is not here does not exist in the
 * modern era; what a server asks is no method, and is in `InputRequired`.
 *
 * @since 0.1.0
 */
export * as ModernMethods from "./modern/Methods.js"

/**
 * Says to a peer of a modern revision only what that revision knows: what ended with the legacy era is left out.
 * Compiled once per schema and version; what needs no change is passed on untouched.
 *
 * How is the business of `Projection`; what the modern era adds to every result is in `Stamp`, and comes afterwards.
 *
 * @since 0.1.0
 */
export * as ModernNarrow from "./modern/Narrow.js"

/**
 * The headers in which a modern HTTP `tools/call` repeats the arguments that its tool marks with `x-mcp-header`: which
 * marks are valid, what a call sends, and whether it says the same as its body.
 *
 * It reads the plain JSON Schema of a tool's arguments, and only along `properties`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-headers-from-tool-parameters
 * @since 0.1.0
 */
export * as ModernParamHeaders from "./modern/ParamHeaders.js"

/**
 * The word with which every modern result says what kind it is. An answer without one is complete: older servers say
 * nothing. One of a kind that nobody agreed on is no answer at all.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 * @since 0.1.0
 */
export * as ModernResultType from "./modern/ResultType.js"

/**
 * What the modern era must say beside a result: its kind, who answers, and, of the results that may be kept, for how long
 * and by whom. The last step before a result is sent, after `Narrow`.
 *
 * It knows no result by its type; the hints that a handler gave stay.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 * @since 0.1.0
 */
export * as ModernStamp from "./modern/Stamp.js"

/**
 * How a modern client asks to hear of changes: one request names all that it wants, stays open, and everything that it
 * brings carries its id.
 *
 * Which changes there are is not known here, and nothing is delivered.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 * @since 0.1.0
 */
export * as ModernSubscriptions from "./modern/Subscriptions.js"

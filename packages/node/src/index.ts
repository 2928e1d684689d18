/**
 * Standard streams and subprocesses for Effect MCP on Node.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * The servers that a host's configuration names, as one group: programs are launched, addresses reached over HTTP.
 *
 * What the configuration says is the business of `@effect-mcp/client/ServersConfig`, what a group is that of
 * `ClientSessionGroup`; this room only knows how a server is reached from Node.
 *
 * @since 0.1.0
 */
export * as ConfiguredServers from "./ConfiguredServers.js"

/**
 * Sends what is meant for this process's standard input and output elsewhere: calls of Node's own functions that would
 * reach descriptor 1 reach descriptor 2, and children that would inherit either get neither.
 *
 * Node cannot move a descriptor, so this replaces functions, for as long as it is asked to. `StandardStreams` asks;
 * this room does not know why.
 *
 * @since 0.1.0
 */
export * as Detour from "./Detour.js"

/**
 * What a launched server sees of our environment: an allow-list, so that no secret of the application reaches a program
 * that was not given it.
 *
 * @since 0.1.0
 */
export * as Environment from "./Environment.js"

/**
 * A server's HTTP endpoint on Node's own HTTP server: the shell that costs least. An application that has an HTTP server of
 * `@effect/platform` mounts the endpoint there instead, with `@effect-mcp/server/http/App`.
 *
 * It listens, and stops listening; what is said is the business of the endpoint.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 * @since 0.1.0
 */
export * as HttpServer from "./HttpServer.js"

/**
 * The messages of a Node readable: bytes in, messages out, nothing read that nobody takes. One reader at a time.
 *
 * It knows neither whose readable it is nor what is said back: `Output` is the other half, `Pipe` the two as a
 * transport.
 *
 * @since 0.1.0
 */
export * as Input from "./Input.js"

/**
 * Starts a program, never through a shell, and says in words what to do when it does not start.
 *
 * What becomes of the program afterwards is the business of `Subprocess`.
 *
 * @since 0.1.0
 */
export * as Launch from "./Launch.js"

/**
 * One request of Node's HTTP server as the endpoint takes it. Node's own objects do the work: nothing is read that was not
 * asked for, nothing is buffered beside Node's buffers.
 *
 * It knows no MCP; `HttpServer` listens and makes these.
 *
 * @since 0.1.0
 */
export * as NodeExchange from "./NodeExchange.js"

/**
 * The way out through a Node writable: what is said during one turn of the event loop leaves in one write, one write
 * at a time, in order. Who can wait waits while much is on its way; an answer is always taken in.
 *
 * A peer that does not read is given up when too much waits for it. It knows nothing of what comes in: that is `Input`.
 *
 * @since 0.1.0
 */
export * as Output from "./Output.js"

/**
 * A Node readable and a Node writable as one transport. Both stdio roles are one of these with something around it; a
 * socket is one with nothing around it.
 *
 * It neither opens nor closes the two streams, and it knows no process.
 *
 * @since 0.1.0
 */
export * as Pipe from "./Pipe.js"

/**
 * A process and everything it started, as one: whether any of it is left, and how to signal all of it.
 *
 * On POSIX this is the process group of a leader; on Windows, which has none, the tree below the process. It starts and
 * waits for nothing: that is `Subprocess`.
 *
 * @since 0.1.0
 */
export * as ProcessGroup from "./ProcessGroup.js"

/**
 * Who owns this process's standard input and output: one reader, one writer, and everybody else is sent to stderr.
 *
 * A protocol on standard output is broken by a single stray line, so whoever serves one claims the streams here. It
 * knows nothing of the protocol; `Detour` has the means.
 *
 * @since 0.1.0
 */
export * as StandardStreams from "./StandardStreams.js"

/**
 * What a launched server says on its stderr: always read, so that the server never blocks on it, shown as the
 * application wishes, and its last lines kept for the error that may follow.
 *
 * It draws no conclusion from what is said: stderr is for logs, not only for errors.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
export * as Stderr from "./Stderr.js"

/**
 * A client's end of stdio: the server is a program that we launch, and that ends with our scope.
 *
 * What is here joins three rooms that do not know each other: `Subprocess` (the program), `Pipe` (messages over its
 * standard input and output) and `Stderr` (what it logs). How the program ended decides how `incoming` ends.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
export * as StdioClient from "./StdioClient.js"

/**
 * A server's end of stdio: whoever launched this process is the client.
 *
 * The standard streams are claimed while it serves (`StandardStreams`), so that nothing but protocol reaches standard
 * output. It knows no method: what is served is said by the dispatcher.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
export * as StdioServer from "./StdioServer.js"

/**
 * A program that runs on our account: how it ended, and how to end it, step by step, with everything it started. Every
 * wait has an end, and a program that ends by itself is never signalled.
 *
 * It knows nothing of what travels through the pipes: that is `StdioClient`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#stdio
 * @since 0.1.0
 */
export * as Subprocess from "./Subprocess.js"

/**
 * Waiting while closing: for so long and no longer, and not cut short either.
 *
 * `Effect.timeout` in a finalizer is not enough: an interruption of the fiber that runs the finalizer, although it
 * has to let it finish, reaches the children that the timeout waits with.
 *
 * @since 0.1.0
 */
export * as Wait from "./Wait.js"

/**
 * How Windows is told to start a program: which file a name means, and how a batch file, which only `cmd.exe` can
 * run, is given its arguments unharmed. `npx` is a batch file there.
 *
 * Pure: what exists is asked of the caller. Nothing here runs on other systems.
 *
 * @since 0.1.0
 */
export * as WindowsCommand from "./WindowsCommand.js"

/**
 * The transport of a server over stdio. The client is the process that has launched this process.
 *
 * While the server runs, this module reserves the standard streams with `StandardStreams`, so that only protocol messages reach standard
 * output. `Pipe` reads and writes messages, and the `Dispatcher` handles the messages. `runMain` reserves standard output also before and
 * after this time, until the process ends.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import type * as LineFraming from "@effect-mcp/core/LineFraming"
import type { TransportError } from "@effect-mcp/core/LocalError"
import type { Registry, Running } from "@effect-mcp/core/Registry"
import type { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tap from "@effect-mcp/core/Tap"
import type { Listener, Transport } from "@effect-mcp/core/Transport"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Readable, Writable } from "node:stream"
import * as Pipe from "./stdio/Pipe.js"
import * as StandardStreams from "./stdio/StandardStreams.js"

/** @category models */
export interface Options extends LineFraming.Options {
  /** The stream from which the transport reads. Default: standard input, which the transport then reserves for itself. */
  readonly input?: Readable | undefined
  /** The stream to which the transport writes. Default: standard output, which the transport then reserves for itself. */
  readonly output?: Writable | undefined
  /**
   * The encoding of both streams, by its label in the Encoding Standard, for example `windows-1252` or `utf-16le`. With
   * an encoding other than UTF-8 and UTF-16, characters beyond ASCII are sent as JSON escape sequences. Default: UTF-8, which the
   * specification requires.
   */
  readonly encoding?: string | undefined
  /** A function that receives every message that the server reads or sends, without secrets. `Tap.log` is an example. Default: none. */
  readonly tap?: Tap.Tap | undefined
  /** How many characters may wait for a client that does not read. With more characters, the conversation ends. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
}

/**
 * Makes the transport over the standard streams of this process. Fails with reason `Open` when another transport uses the standard streams,
 * or when the encoding is unknown.
 *
 * Until the scope closes, `console`, loggers, `process.stdout.write` and child processes that inherit standard output write to stderr.
 * Native code and worker threads that write directly to descriptor 1 still write to standard output.
 *
 * `incoming` ends when the input ends or the output breaks, because both mean that the client has closed the connection. A last line
 * without a newline is a message. When the scope closes, the waiting messages are written for at most 1 second.
 *
 * @category utils
 */
export const transport = (options: Options = {}): Effect.Effect<Transport, TransportError, Scope.Scope> =>
  Effect.gen(function*() {
    const input = options.input ?? (yield* StandardStreams.input)
    const output = options.output === undefined
      ? yield* StandardStreams.output
      : { stream: options.output, write: undefined }
    const pipe = yield* Pipe.make({
      ...options,
      input,
      output: output.stream,
      write: output.write,
      onBroken: () => Exit.void
    })
    return options.tap === undefined ? pipe : yield* Tap.transport(pipe, "stdio", options.tap)
  })

/**
 * Returns the transport of `transport` as a stream of one element. The transport closes with the scope that the stream requires.
 *
 * @category utils
 */
export const listener = (options?: Options): Listener<TransportError, Scope.Scope> =>
  Stream.fromEffect(transport(options))

/**
 * Serves the client that launched this process until the client closes the connection.
 *
 * @category utils
 */
export const run = (options?: Options): Effect.Effect<void, TransportError, Dispatcher> =>
  Effect.scoped(Effect.flatMap(transport(options), serve))

/**
 * Serves the client that launched this process. When the client has closed the connection, and the server has no other listener such as an
 * HTTP endpoint, the layer ends the process with `SIGTERM`, so that finalizers run. With other listeners, the process continues until the
 * last listener has ended. If the application must not end with its client, use `run`.
 *
 * The layer waits only for listeners whose layers are already built. When an HTTP endpoint needs a slow layer, such as a database, provide
 * the slow layer to this layer, too. Otherwise, when standard input is empty from the start, the layer ends the process before the HTTP
 * endpoint begins.
 *
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<never, TransportError, Dispatcher> =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const dispatcher = yield* Dispatcher
    // This scope closes when the client has closed the connection, so that the waiting messages are written before the process ends.
    const scope = yield* EffectInternals.childOf(yield* Effect.scope)
    const opened = yield* Scope.extend(transport(options), scope)
    yield* serve(opened).pipe(
      Effect.onExit((exit) => Scope.close(scope, exit)),
      Effect.zipRight(endProcess(dispatcher.listenersEnded)),
      Effect.forkScoped
    )
  }))

/**
 * Provides the same layer as `layerWith()`, with the default options.
 *
 * @category layers
 */
export const layer: Layer.Layer<never, TransportError, Dispatcher> = layerWith()

/**
 * Provides the same layer as `layerWith`, with options from the configuration of the program.
 *
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<never, TransportError | ConfigError, Dispatcher> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerWith))

const serve = (transport: Transport): Effect.Effect<void, never, Dispatcher> =>
  Effect.flatMap(
    Dispatcher,
    (dispatcher) => dispatcher.listen(Stream.succeed(transport), () => Authenticator.stdio(process.env))
  )

// `NodeRuntime.runMain` listens for the signal, and interrupts the application. When `runMain` no longer listens, the
// application is ending by itself. An application without `runMain` exits here.
const endProcess = (listenersEnded: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const isSupervised = process.listenerCount("SIGTERM") > 0
    return Effect.map(listenersEnded, () => {
      if (!process.emit("SIGTERM", "SIGTERM") && !isSupervised) process.exit()
    })
  })

/**
 * Accepts programs that require no more services. For other programs, the type is a sentence that the compiler shows as the error. The type
 * also accepts a program that requires `any`. In this case one of its handlers has a wrong type, and the compiler reports the handler.
 *
 * @category models
 */
export type Complete<R> = [R] extends [never] ? unknown : 0 extends 1 & R ? unknown : Missing<R>

type Missing<R> = R extends Dispatcher | Running ?
  "A server is missing: add Layer.provide(McpServer.layer(info, features))"
  : R extends Registry ? "A feature is outside of its server: pass it to McpServer.layer(info, features)"
  : R extends ServerSession
    ? "Only handlers of tools, prompts and resources can ask the client: use RequestContext instead of ServerSession in completers, lists, session layers and the middleware of a server"
  : R extends { readonly Id: infer Name extends string } | { readonly _tag: infer Name extends string }
    ? `The service ${Name} is missing: add Layer.provide(a layer of this service). If each session or request needs its own service, give McpServer.layer a session, middleware or authenticator`
  : "A service is missing: add Layer.provide(a layer of this service)"

/**
 * Runs a program with a server on stdio, with or without other transports. The function works like `NodeRuntime.runMain`. In addition, it
 * redirects standard output to stderr from this call until the end of the process, also before the server starts and after the server ends.
 *
 * @category combinators
 */
export const runMain = <A, E, R = never>(effect: Effect.Effect<A, E, R> & Complete<R>): void => {
  Effect.runSync(StandardStreams.reserve)
  NodeRuntime.runMain(effect as Effect.Effect<A, E>)
}

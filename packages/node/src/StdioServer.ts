/**
 * A server's end of stdio: whoever launched this process is the client.
 *
 * The standard streams are claimed while it serves (`StandardStreams`), so that nothing but protocol reaches standard
 * output. It knows no method: what is served is said by the dispatcher.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import type * as LineFraming from "@effect-mcp/jsonrpc/LineFraming"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Listener, Transport } from "@effect-mcp/jsonrpc/Transport"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Readable, Writable } from "node:stream"
import * as Pipe from "./stdio/Pipe.js"
import * as StandardStreams from "./stdio/StandardStreams.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends LineFraming.Options {
  /** Read instead of standard input, which is not claimed then. */
  readonly input?: Readable | undefined
  /** Written instead of standard output, which is not claimed then. */
  readonly output?: Writable | undefined
  /** Characters that may wait for a client that does not read before it is given up. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
}

/**
 * The transport over this process's standard streams. Fails with reason `Open` when they are claimed already.
 *
 * `incoming` ends with the input, after a last line that lacks its end, and when the output is broken: both mean that
 * the client has gone. Bytes that are not UTF-8 are replaced. Closing the scope writes what was accepted, for at most
 * a second, and gives the streams back; see `StandardStreams.output` for what is kept away from them meanwhile.
 *
 * @since 0.1.0
 * @category constructors
 */
export const transport = (options: Options = {}): Effect.Effect<Transport, TransportError, Scope.Scope> =>
  Effect.gen(function*() {
    const input = options.input ?? (yield* StandardStreams.input)
    const output = options.output === undefined
      ? yield* StandardStreams.output
      : { stream: options.output, write: undefined }
    return yield* Pipe.make({
      ...options,
      input,
      output: output.stream,
      write: output.write,
      onBroken: () => Exit.void
    })
  })

/**
 * The one conversation that a process has on its standard streams. The transport lives as long as the scope around the
 * stream.
 *
 * @since 0.1.0
 * @category constructors
 */
export const listener = (options?: Options): Listener<TransportError, Scope.Scope> =>
  Stream.fromEffect(transport(options))

/**
 * Serves the client that launched this process until it hangs up.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (options?: Options): Effect.Effect<void, TransportError, Dispatcher> =>
  Effect.scoped(Effect.flatMap(transport(options), serve))

/**
 * Serves the client that launched this process. When it has hung up and nothing else is listened to, the process ends too:
 * a server whose client has gone must not stay behind. Applications that outlive their client use `run`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<never, TransportError, Dispatcher> =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const dispatcher = yield* Dispatcher
    // Closed when the client has gone: what was accepted is written before the process ends.
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    const opened = yield* Scope.extend(transport(options), scope)
    yield* serve(opened).pipe(
      Effect.onExit((exit) => Scope.close(scope, exit)),
      Effect.zipRight(Effect.sync(() => {
        if (dispatcher.listeners() === 0) endProcess()
      })),
      Effect.forkScoped
    )
  }))

/**
 * `layerWith` on the standard streams.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never, TransportError, Dispatcher> = layerWith()

const serve = (transport: Transport): Effect.Effect<void, never, Dispatcher> =>
  Effect.flatMap(Dispatcher, (dispatcher) => dispatcher.listen(Stream.succeed(transport)))

// As if we had been told to: `NodeRuntime.runMain` interrupts the application then, and finalizers run. Where nobody
// listens to that, there is nobody to tell.
const endProcess = (): void => {
  if (!process.emit("SIGTERM", "SIGTERM")) process.exit()
}

/**
 * Runs a program that is a server on stdio and nothing else: `NodeRuntime.runMain`, with everything that is logged or
 * printed sent to stderr from the first moment to the last, and not only while a client is served.
 *
 * @since 0.1.0
 * @category running
 */
export const runMain = <A, E>(effect: Effect.Effect<A, E>): void => {
  Effect.runSync(StandardStreams.reserve)
  NodeRuntime.runMain(effect)
}

/**
 * A Node readable and a Node writable as one transport. Both stdio roles are one of these with something around it; a
 * socket is one with nothing around it.
 *
 * It neither opens nor closes the two streams, and it knows no process.
 *
 * @since 0.1.0
 */
import type * as LineFraming from "@effect-mcp/jsonrpc/LineFraming"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { Readable, Writable } from "node:stream"
import * as Wait from "../subprocess/Wait.js"
import * as Input from "./Input.js"
import * as Output from "./Output.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends LineFraming.Options {
  readonly input: Readable
  readonly output: Writable
  /** How text gets to the output, when not by its own `write`. */
  readonly write?: Output.Write | undefined
  /** Characters that may wait for a peer that does not read. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
  /** How long closing waits for what was accepted to be written. Default: 1 second. */
  readonly flushTimeout?: Duration.DurationInput | undefined
  /** Says how `incoming` ends when nothing can be written any more; `undefined` to read on. Default: with the error. */
  readonly onBroken?: ((error: TransportError) => Exit.Exit<void, TransportError> | undefined) | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Pipe extends Transport {
  readonly run: NonNullable<Transport["run"]>
  /** Ends `incoming` this way, whatever more there is to read. The first end decides. */
  readonly end: (exit: Exit.Exit<void, TransportError>) => void
  readonly input: Pick<Input.Input, "isFlowing" | "isOver" | "received">
}

/**
 * A transport over the two streams until the scope closes: then it ends `incoming`, writes what was accepted, as long
 * as that takes no longer than `flushTimeout`, and takes its listeners off both streams.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Pipe, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const input = Input.make(options.input, options)
        const output = Output.make({
          writable: options.output,
          write: options.write,
          maxBacklog: options.maxBacklog,
          onBroken: (error) => {
            const end = options.onBroken === undefined ? Exit.fail(error) : options.onBroken(error)
            if (end !== undefined) input.end(end)
          }
        })
        return { input, output }
      }),
      ({ input, output }) =>
        Effect.suspend(() => {
          input.release()
          output.end()
          return Effect.zipRight(
            Wait.atMost(output.drained, options.flushTimeout ?? "1 second"),
            Effect.sync(() => output.release())
          )
        })
    ),
    ({ input, output }): Pipe => ({
      input,
      incoming: input.incoming,
      run: (receive) => input.run(receive),
      end: (exit) => input.end(exit),
      send: output.send,
      unsafeSend: output.unsafeSend
    })
  )

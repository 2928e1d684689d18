/**
 * Makes one transport from a `Readable` and a `Writable` of Node, for stdio and for sockets. `LineFraming` supports only UTF-8. For another
 * encoding, the pipe converts the bytes that it reads to UTF-8, and encodes the messages that it writes.
 *
 * A pipe does not open or close the two streams. `Input` reads messages and `Output` writes messages. `StdioServer` and `StdioClient`
 * provide the streams.
 */
import type * as LineFraming from "@effect-mcp/core/LineFraming"
import { TransportError } from "@effect-mcp/core/LocalError"
import type { Transport } from "@effect-mcp/core/Transport"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { Buffer } from "node:buffer"
import type { Readable, Writable } from "node:stream"
import * as Input from "./Input.js"
import * as Output from "./Output.js"

export interface Options extends LineFraming.Options {
  readonly input: Readable
  readonly output: Writable
  /** Writes text to the output. Default: the `write` of the output. */
  readonly write?: Output.Write<string | Uint8Array> | undefined
  /** The encoding of both streams. Default: UTF-8. */
  readonly encoding?: string | undefined
  /** How many characters may wait for a peer that does not read. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
  /** How long the pipe waits until the accepted messages are written when the scope closes. Default: 1 second. */
  readonly flushTimeout?: Duration.DurationInput | undefined
  /**
   * Returns the exit with which `incoming` ends when the output is broken, or `undefined` to continue reading. Default: `incoming` fails
   * with the error.
   */
  readonly onBroken?: ((error: TransportError) => Exit.Exit<void, TransportError> | undefined) | undefined
}

export interface Pipe extends Transport {
  readonly run: NonNullable<Transport["run"]>
  /** Ends `incoming` with this exit and drops all messages that were not delivered. Only the first call has an effect. */
  readonly end: (exit: Exit.Exit<void, TransportError>) => void
  readonly input: Pick<Input.Input, "isFlowing" | "isOver" | "received">
}

/**
 * Makes a pipe. Fails with reason `Open` when the encoding is unknown. When the scope closes, the pipe ends `incoming`, writes the accepted
 * messages within `flushTimeout`, and removes all listeners from both streams.
 */
export const make = (options: Options): Effect.Effect<Pipe, TransportError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.map(EffectInternals.fromEither(encodingOf(options.encoding ?? "utf-8")), (encoding) => {
        const input = new Input.Input(options.input, options, encoding?.decode)
        const output = new Output.Output({
          writable: options.output,
          write: encoding === undefined ? options.write : writeWith(encoding, options),
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
          return output.drained.pipe(
            TimeLimit.end(options.flushTimeout ?? "1 second"),
            Effect.zipRight(Effect.sync(() => output.release()))
          )
        })
    ),
    ({ input, output }): Pipe => ({
      input,
      incoming: input.incoming,
      run: (receive) => input.run(receive),
      end: (exit) => input.end(exit),
      send: output.send,
      unsafeSend: output.unsafeSend,
      canSend: output.canSend
    })
  )

const writeWith = ({ encode }: Encoding, { output, write }: Options): Output.Write => (text, callback) => {
  const bytes = encode(text)
  if (write !== undefined) write(bytes, callback)
  else output.write(bytes, callback)
}

interface Encoding {
  /** Converts a chunk to UTF-8. Bytes that are not valid in the encoding become a byte that is not valid in UTF-8. */
  readonly decode: (chunk: Uint8Array) => Uint8Array
  readonly encode: (text: string) => string | Uint8Array
}

const REPLACEMENT = "\uFFFD"
const INVALID = Buffer.of(0xff)

const toUtf8 = (text: string): Uint8Array =>
  text.includes(REPLACEMENT)
    ? Buffer.concat(
      text.split(REPLACEMENT).flatMap((part, at) => at === 0 ? [Buffer.from(part)] : [INVALID, Buffer.from(part)])
    )
    : Buffer.from(text)

// Writes every character beyond ASCII as an escape sequence of JSON. Every encoding except UTF-16 contains ASCII.
const escaped = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

const encoders: Readonly<Record<string, Encoding["encode"]>> = {
  "utf-16le": (text) => Buffer.from(text, "utf16le"),
  "utf-16be": (text) => Buffer.from(text, "utf16le").swap16()
}

/**
 * Returns the encoding with a label; `undefined` for UTF-8, which needs no conversion. Fails with reason `Open` when Node does not support
 * the label.
 */
const encodingOf = (label: string): Either.Either<Encoding | undefined, TransportError> =>
  Either.map(
    Either.try({
      try: () => new TextDecoder(label),
      catch: (cause) =>
        new TransportError({
          reason: "Open",
          message: `Unknown encoding ${JSON.stringify(label.slice(0, 40))}: use a label of the Encoding Standard`,
          cause
        })
    }),
    (decoder) =>
      decoder.encoding === "utf-8" ? undefined : {
        decode: (chunk) => toUtf8(decoder.decode(chunk, { stream: true })),
        encode: encoders[decoder.encoding] ?? escaped
      }
  )

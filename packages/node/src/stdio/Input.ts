/**
 * Reads messages from a `Readable` of Node. Only one reader at a time can consume the messages, with `run` or `incoming`. When there is no
 * reader, the readable is paused.
 *
 * `Output` writes messages, and `Pipe` makes a transport from an `Input` and an `Output`.
 */
import * as LineFraming from "@effect-mcp/core/LineFraming"
import { TransportError } from "@effect-mcp/core/LocalError"
import type * as Message from "@effect-mcp/core/Message"
import * as Outbox from "@effect-mcp/core/unstable/kit/Outbox"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import type { Readable } from "node:stream"

type End = Exit.Exit<void, TransportError>

interface Reader {
  readonly receive: (incoming: Message.Incoming) => void
  /** Whether the reader itself pauses and resumes the readable. `true` for `incoming`, `false` for `run`. */
  readonly pulls: boolean
  readonly end: (end: End) => void
}

// With these codes the operating system reports that the peer has closed its end. The input then counts as ended, not as failed.
const HUNG_UP: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE", "EIO"])

/**
 * How many messages are delivered in one turn of the event loop. Node reads up to 32 chunks in a turn, and thousands of messages would make
 * timers and other connections wait.
 */
const MAX_PER_TURN = 256

/**
 * Reads messages. This is a class with mutable fields for speed, because it handles every chunk of a conversation. It listens to the
 * readable from its construction until `release`.
 *
 * `reader` is the consumer of the messages; `undefined` when nobody consumes. When there is a reader, `early` is empty. `over` has the exit
 * after the input has ended; after that, no message is delivered. `taken` counts the messages since the last pause of the reading. `rest`
 * is set during a pause, which lasts until the next turn of the event loop. `toUtf8` converts the chunks when the input has another
 * encoding than UTF-8.
 */
export class Input {
  private readonly decoder: LineFraming.Decoder
  /**
   * Messages that arrived when there was no reader. This happens when a child process exits, because Node then reads the rest of its
   * output.
   */
  private early: Array<Message.Incoming> = []
  private reader: Reader | undefined
  private over: End | undefined
  private count = 0
  private taken = 0
  private rest: NodeJS.Immediate | undefined

  constructor(
    private readonly readable: Readable,
    options?: LineFraming.Options,
    private readonly toUtf8?: (chunk: Uint8Array) => Uint8Array
  ) {
    this.decoder = new LineFraming.Decoder(options)
    readable.pause()
    readable.on("data", this.onData).on("end", this.onEnd).on("error", this.onError).on("close", this.onClose)
    if (readable.errored) this.onError(readable.errored)
    else if (readable.readableEnded || readable.destroyed) this.onEnd()
  }

  /** How many bytes were read. */
  get received(): number {
    return this.count
  }

  /** Whether the input has ended, by the peer or by `end`. */
  get isOver(): boolean {
    return this.over !== undefined
  }

  /** Whether there is a reader and the readable is not paused by this reader. */
  get isFlowing(): boolean {
    return this.reader !== undefined && (this.rest !== undefined || this.readable.readableFlowing === true)
  }

  /** Passes every message to `receive` until the input ends. */
  run(receive: (incoming: Message.Incoming) => void): Effect.Effect<void, TransportError> {
    return Effect.async<void, TransportError>((resume) => {
      if (this.reader !== undefined) return resume(Effect.fail(alreadyRead))
      const reader: Reader = { receive, pulls: false, end: resume }
      this.attach(reader)
      if (this.reader === reader) this.readable.resume()
      return Effect.sync(() => this.detach(reader))
    })
  }

  /** The messages as a stream. The stream reads more bytes only when the reader has pulled all earlier messages. */
  readonly incoming: Stream.Stream<Message.Incoming, TransportError> = Stream.unwrapScoped(Effect.suspend(() => {
    if (this.reader !== undefined) return Effect.fail(alreadyRead)
    const { readable } = this
    const messages = Outbox.make<Message.Incoming, TransportError>()
    const reader: Reader = {
      receive: (incoming) => {
        messages.unsafeOffer(incoming)
        readable.pause()
      },
      pulls: true,
      end: (end) => messages.end(end)
    }
    const pull = Effect.suspend(() => {
      if (messages.size === 0 && !messages.isEnded) readable.resume()
      return messages.takeAll
    })
    return Effect.as(
      Effect.acquireRelease(
        Effect.sync(() => this.attach(reader)),
        () => Effect.sync(() => this.detach(reader))
      ),
      StreamArrays.fromPull(pull)
    )
  }))

  /** Ends the input with this exit and drops all messages that were not delivered. Only the first call has an effect. */
  end(end: End): void {
    if (this.over !== undefined) return
    this.early = []
    this.finish(end)
  }

  /** Ends the input and removes all listeners from the readable, which stays paused. */
  release(): void {
    this.end(Exit.void)
    const { readable } = this
    readable.off("data", this.onData).off("end", this.onEnd).off("error", this.onError).off("close", this.onClose)
  }

  private attach(reader: Reader): void {
    this.reader = reader
    const { early } = this
    this.early = []
    this.deliver(early)
    if (this.over !== undefined) this.notify(reader)
  }

  private detach(reader: Reader): void {
    if (this.reader !== reader) return
    this.reader = undefined
    this.readable.pause()
  }

  private finish(end: End): void {
    if (this.over !== undefined) return
    this.over = end
    if (this.reader !== undefined) this.notify(this.reader)
  }

  private notify(reader: Reader): void {
    this.detach(reader)
    reader.end(this.over!)
  }

  // The reader may detach while messages are delivered.
  private deliver(messages: ReadonlyArray<Message.Incoming>): void {
    for (let i = 0; i < messages.length; i++) {
      if (this.reader !== undefined) this.reader.receive(messages[i]!)
      else if (this.over === undefined) this.early.push(messages[i]!)
    }
  }

  private readonly onData = (chunk: Uint8Array | string): void => {
    // After `end`, `StdioClient` resumes the readable, and the rest is dropped here.
    if (this.over !== undefined) return
    this.count += chunk.length
    // A chunk is a string only if the application has set an encoding on its standard input.
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk
    const messages = this.decoder.push(this.toUtf8 === undefined ? bytes : this.toUtf8(bytes))
    this.deliver(messages)
    this.taken += messages.length
    if (this.reader === undefined) this.readable.pause()
    else if (!this.reader.pulls && this.taken > MAX_PER_TURN && this.over === undefined) this.takeRest()
  }

  /** Pauses the readable until the next turn of the event loop. */
  private takeRest(): void {
    this.taken = 0
    this.readable.pause()
    this.rest ??= setImmediate(() => {
      this.rest = undefined
      if (this.reader?.pulls === false && this.over === undefined) this.readable.resume()
    })
  }

  private readonly onEnd = (): void => {
    if (this.over === undefined) this.deliver(this.decoder.end())
    this.finish(Exit.void)
  }

  private readonly onError = (error: NodeJS.ErrnoException): void =>
    this.finish(
      HUNG_UP.has(error.code)
        ? Exit.void
        : Exit.fail(new TransportError({ reason: "Read", message: `Cannot read: ${error.message}`, cause: error }))
    )

  private readonly onClose = (): void => this.finish(Exit.void)
}

const alreadyRead: TransportError = new TransportError({
  reason: "Read",
  message: "The transport already has a reader"
})

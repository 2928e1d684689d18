/**
 * The messages of a Node readable: bytes in, messages out, nothing read that nobody takes. One reader at a time.
 *
 * It knows neither whose readable it is nor what is said back: `Output` is the other half, `Pipe` the two as a
 * transport.
 *
 * @since 0.1.0
 */
import * as LineFraming from "@effect-mcp/jsonrpc/LineFraming"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import type { Readable } from "node:stream"

type End = Exit.Exit<void, TransportError>

interface Reader {
  readonly receive: (incoming: Message.Incoming) => void
  readonly end: (end: End) => void
}

// How an operating system says that the other end is gone for good: an end of input, not a fault of ours.
const HUNG_UP: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE", "EIO"])

/**
 * Listens to the readable from the moment it is made until `release`; reads only while somebody takes the messages.
 *
 * @since 0.1.0
 * @category models
 */
export class Input {
  private readonly decoder: LineFraming.Decoder
  /** What came while nobody took it: Node reads on by itself when a child exits. */
  private early: Array<Message.Incoming> = []
  private reader: Reader | undefined
  private over: End | undefined
  private count = 0

  constructor(private readonly readable: Readable, options?: LineFraming.Options) {
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

  /** Whether the input has ended, or was told to. */
  get isOver(): boolean {
    return this.over !== undefined
  }

  /** Whether somebody is ready to take more. */
  get isFlowing(): boolean {
    return this.reader !== undefined && this.readable.readableFlowing === true
  }

  /** Hands every message to `receive` until the input ends. */
  run(receive: (incoming: Message.Incoming) => void): Effect.Effect<void, TransportError> {
    return Effect.async<void, TransportError>((resume) => {
      if (this.reader !== undefined) return resume(Effect.fail(beingRead))
      const reader: Reader = { receive, end: resume }
      this.attach(reader)
      if (this.reader === reader) this.readable.resume()
      return Effect.sync(() => this.detach(reader))
    })
  }

  /** The messages as a stream, which asks for bytes only when it has handed on all messages it had. */
  readonly incoming: Stream.Stream<Message.Incoming, TransportError> = Stream.unwrapScoped(Effect.suspend(() => {
    if (this.reader !== undefined) return Effect.fail(beingRead)
    const { readable } = this
    const messages = Outbox.make<Message.Incoming, TransportError>()
    const reader: Reader = {
      receive: (incoming) => {
        messages.unsafeOffer(incoming)
        readable.pause()
      },
      end: (end) => messages.end(end)
    }
    const pull = Effect.suspend(() => {
      if (messages.size === 0 && !messages.isEnded) readable.resume()
      return Effect.map(messages.takeAll, Chunk.unsafeFromArray)
    })
    return Effect.as(
      Effect.acquireRelease(
        Effect.sync(() => this.attach(reader)),
        () => Effect.sync(() => this.detach(reader))
      ),
      Stream.repeatEffectChunkOption(pull)
    )
  }))

  /** Ends the input for its reader, this way, whatever more there is to read. The first end decides. */
  end(end: End): void {
    if (this.over !== undefined) return
    this.early = []
    this.finish(end)
  }

  /** Ends the input and lets go of the readable, which is left paused. */
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
    if (this.over !== undefined) this.leave(reader)
  }

  private detach(reader: Reader): void {
    if (this.reader !== reader) return
    this.reader = undefined
    this.readable.pause()
  }

  private finish(end: End): void {
    if (this.over !== undefined) return
    this.over = end
    if (this.reader !== undefined) this.leave(this.reader)
  }

  private leave(reader: Reader): void {
    this.detach(reader)
    reader.end(this.over!)
  }

  // The reader may leave in the middle.
  private deliver(messages: ReadonlyArray<Message.Incoming>): void {
    for (let i = 0; i < messages.length; i++) {
      if (this.reader !== undefined) this.reader.receive(messages[i]!)
      else if (this.over === undefined) this.early.push(messages[i]!)
    }
  }

  private readonly onData = (chunk: Uint8Array | string): void => {
    // Whoever has ended us may let the rest flow by.
    if (this.over !== undefined) return
    this.count += chunk.length
    // A string only if the application has given its own standard input an encoding.
    this.deliver(this.decoder.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk))
    if (this.reader === undefined) this.readable.pause()
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

const beingRead: TransportError = new TransportError({
  reason: "Read",
  message: "The transport is being read already"
})

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (readable: Readable, options?: LineFraming.Options): Input => new Input(readable, options)

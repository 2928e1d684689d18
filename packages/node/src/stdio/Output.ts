/**
 * The way out through a Node writable: what is said during one turn of the event loop leaves in one write, one write
 * at a time, in order. Who can wait waits while much is on its way; an answer is always taken in.
 *
 * A peer that does not read is given up when too much waits for it. It knows nothing of what comes in: that is `Input`.
 *
 * @since 0.1.0
 */
import * as LineFraming from "@effect-mcp/jsonrpc/LineFraming"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type * as Message from "@effect-mcp/jsonrpc/Message"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Writable } from "node:stream"

/**
 * Writes text to a writable and calls back when it is out of our hands, with the error if it could not be written.
 *
 * @since 0.1.0
 * @category models
 */
export type Write = (text: string, callback: (error?: Error | null) => void) => void

/**
 * How many characters may wait, written or not, before `send` suspends.
 *
 * @since 0.1.0
 * @category limits
 */
export const SEND_LIMIT = 1024 * 1024

/**
 * How many characters may wait for a peer that does not read before it is given up. A single message always fits.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_BACKLOG = 64 * 1024 * 1024

/** One write joins lines until it has that many characters. */
const BATCH = 1024 * 1024

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly writable: Writable
  /** How text gets there, when not by the writable's own `write`. */
  readonly write?: Write | undefined
  /** Characters that may wait for a peer that does not read. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
  /** Called once, when nothing can be written any more. What waited is dropped. */
  readonly onBroken: (error: TransportError) => void
}

/**
 * @since 0.1.0
 * @category models
 */
export class Output {
  private readonly outbox = Outbox.make<string>()
  private readonly waiting = new Set<() => void>()
  private readonly write: Write
  private readonly maxBacklog: number
  /** Taken from the outbox, in reverse: the next one is the last. */
  private lines: Array<string> = []
  /** Characters accepted and not yet written. */
  private backlog = 0
  private writing = 0
  private turn: NodeJS.Immediate | undefined
  private broken = false
  private released = false

  constructor(private readonly options: Options) {
    const { writable } = options
    this.write = options.write ?? ((text, callback) => writable.write(text, callback))
    this.maxBacklog = options.maxBacklog ?? MAX_BACKLOG
    writable.on("error", this.onError).on("close", this.onClose)
    if (writable.destroyed || writable.writableEnded) this.onClose()
  }

  /** Says something now: `false` when nothing can be said any more, or the message has no JSON form. */
  readonly unsafeSend = (message: Message.Message): boolean => {
    const line = LineFraming.encode(message)
    return line !== undefined && this.accept(line)
  }

  /** Says something as soon as there is room. */
  readonly send = (message: Message.Message): Effect.Effect<void, TransportError> =>
    Effect.suspend(() => {
      const line = LineFraming.encode(message)
      return line === undefined ? Effect.fail(unencodable) : this.push(line)
    })

  /** Waits until everything accepted is written, or nothing can be written any more. */
  get drained(): Effect.Effect<void> {
    return Effect.suspend(() => this.backlog === 0 ? Effect.void : Effect.zipRight(this.progress, this.drained))
  }

  /** Takes nothing in any more; what waits is still written. */
  end(): void {
    this.outbox.end(Exit.void)
    this.wake()
  }

  /** Drops what waits and lets go of the writable. */
  release(): void {
    this.stop()
    this.released = true
    this.options.writable.off("close", this.onClose)
    // What is being written may still fail, and an error that nobody listens to ends the process.
    if (this.writing === 0) this.options.writable.off("error", this.onError)
  }

  private push(line: string): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      const full = this.backlog >= SEND_LIMIT || this.outbox.size >= this.outbox.capacity
      if (full && !this.outbox.isEnded) return Effect.zipRight(this.progress, this.push(line))
      return this.accept(line) ? Effect.void : Effect.fail(closed)
    })
  }

  private accept(line: string): boolean {
    if (this.outbox.isEnded) return false
    if (this.backlog > this.maxBacklog) {
      this.break(`The peer does not read: more than ${this.maxBacklog} characters wait for it`)
      return false
    }
    this.outbox.unsafeOffer(line)
    this.backlog += line.length
    this.schedule()
    return true
  }

  // Not at once, so that what is said in the same turn goes along, and so that a sender who never pauses leaves the
  // event loop its turns.
  private schedule(): void {
    if (this.writing === 0 && this.turn === undefined) this.turn = setImmediate(this.flush)
  }

  private readonly flush = (): void => {
    this.turn = undefined
    if (this.lines.length === 0) this.lines = this.outbox.unsafeTakeAll().reverse()
    if (this.lines.length === 0) return
    let text = this.lines.pop()!
    while (this.lines.length > 0 && text.length < BATCH) text += this.lines.pop()!
    this.writing = text.length
    this.write(text, this.written)
  }

  private readonly written = (error?: Error | null): void => {
    const size = this.writing
    this.writing = 0
    if (error) return this.onError(error)
    if (this.released) this.options.writable.off("error", this.onError)
    if (this.released || this.broken) return
    this.backlog -= size
    if (this.backlog > 0) this.schedule()
    this.wake()
  }

  private readonly progress: Effect.Effect<void> = Effect.async<void>((resume) => {
    const wake = () => resume(Effect.void)
    // Asked again here, because a fiber may be made to yield between looking and waiting.
    if (this.backlog === 0) return wake()
    this.waiting.add(wake)
    return Effect.sync(() => this.waiting.delete(wake))
  })

  private wake(): void {
    // Who finds no room when it runs waits once more, in the same order.
    const woken = [...this.waiting]
    this.waiting.clear()
    for (const wake of woken) wake()
  }

  private stop(): void {
    this.outbox.end(Exit.void)
    this.outbox.unsafeTakeAll()
    this.lines = []
    this.backlog = 0
    clearImmediate(this.turn)
    this.wake()
  }

  private break(message: string, cause?: unknown): void {
    if (this.broken || this.released) return
    this.broken = true
    this.stop()
    this.options.onBroken(new TransportError({ reason: "Write", message, cause }))
  }

  private readonly onError = (error: Error): void => this.break(`Cannot write: ${error.message}`, error)

  private readonly onClose = (): void => this.break("Cannot write: the pipe is closed")
}

const unencodable: TransportError = new TransportError({
  reason: "Encode",
  message: "The message has no JSON form"
})

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Output => new Output(options)

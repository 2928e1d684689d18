/**
 * Writes messages to a `Writable` of Node, in order. The messages of one turn of the event loop are joined to one write, and only one write
 * runs at a time. `send` waits while more than `SEND_LIMIT` characters are in the queue. `unsafeSend` never waits.
 *
 * When too many characters wait for a peer that does not read, the output breaks, and no more text is written. `Input` reads the peer's
 * messages, `Pipe` joins `Input` and `Output`, and `StandardStreams` provides the function that writes to standard output.
 */
import * as LineFraming from "@effect-mcp/core/LineFraming"
import { TransportError } from "@effect-mcp/core/LocalError"
import type * as Message from "@effect-mcp/core/Message"
import { closed } from "@effect-mcp/core/Transport"
import * as Outbox from "@effect-mcp/core/unstable/kit/Outbox"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Writable } from "node:stream"

/** Writes a text and calls back when the text was written, or with the error. */
export type Write<Chunk = string> = (text: Chunk, callback: (error?: Error | null) => void) => void

/** How many characters may be in the queue before `send` waits, including the characters of the running write. */
export const SEND_LIMIT = 1024 * 1024

/** How many characters may wait for a peer that does not read. With more characters, the output breaks. */
export const MAX_BACKLOG = 64 * 1024 * 1024

/** How many characters of joined lines one write has at most. A longer line is written alone. */
const BATCH = 1024 * 1024

export interface Options {
  readonly writable: Writable
  /** Writes text to the writable. Default: its own `write`. */
  readonly write?: Write | undefined
  /** How many characters may wait. When there are more, the next message breaks the output. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
  /** The output calls this function one time, when it cannot write any more. The waiting messages are dropped. */
  readonly onBroken: (error: TransportError) => void
}

/**
 * Writes messages. This is a class with mutable fields for speed, because it handles every message of a conversation. `backlog` counts the
 * characters in `outbox`, in `lines` and in the running write. `writing` counts the characters of the running write, and is 0 if no write
 * runs. When `backlog` is above 0, a flush is scheduled (`turn`) or a write runs. `broken` and `released` are set one time. When one of
 * them is set, no more text is written.
 */
export class Output {
  private readonly outbox = Outbox.make<string>()
  private readonly waiting = new Set<() => void>()
  private readonly write: Write
  private readonly maxBacklog: number
  /** Lines that were taken from the outbox, in reverse order: the last line is written next. */
  private lines: Array<string> = []
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

  /** Accepts a message and does not wait. Returns `false` when the output has ended or the message has no JSON form. */
  readonly unsafeSend = (message: Message.Message): boolean => {
    if (this.outbox.isEnded) return false
    const line = LineFraming.encode(message)
    return line !== undefined && this.accept(line)
  }

  readonly canSend = (): boolean =>
    this.outbox.isEnded || (this.backlog < SEND_LIMIT && this.outbox.size < this.outbox.capacity)

  /** Waits while the output is full, and then accepts the message. */
  readonly send = (message: Message.Message): Effect.Effect<void, TransportError> =>
    Effect.suspend(() => {
      if (this.outbox.isEnded) return Effect.fail(closed)
      const line = LineFraming.encode(message)
      return line === undefined ? Effect.fail(unencodable) : this.push(line)
    })

  /** Waits until all accepted messages are written, or the output is broken. */
  get drained(): Effect.Effect<void> {
    return Effect.suspend(() => this.backlog === 0 ? Effect.void : Effect.zipRight(this.progress, this.drained))
  }

  /** Accepts no more messages. The waiting messages are still written. */
  end(): void {
    this.outbox.end(Exit.void)
    this.wake()
  }

  /** Drops the waiting messages and removes all listeners from the writable. */
  release(): void {
    this.stop()
    this.released = true
    this.options.writable.off("close", this.onClose)
    // The running write may still fail, and an error event without a listener ends the process.
    if (this.writing === 0) this.options.writable.off("error", this.onError)
  }

  private push(line: string): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      if (!this.canSend()) return Effect.zipRight(this.progress, this.push(line))
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

  // The write runs in the next turn of the event loop. Therefore the messages of one turn are joined, and a sender that never pauses does
  // not block the event loop.
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
    // This is checked again, because the fiber may have yielded since the check of its caller.
    if (this.backlog === 0) return wake()
    this.waiting.add(wake)
    return Effect.sync(() => this.waiting.delete(wake))
  })

  private wake(): void {
    // When the output is still full, the senders wait again in the same order.
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

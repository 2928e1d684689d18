/**
 * Writes messages to a Node writable, in order: the messages of one turn of the event loop in one write, one write at a time. `send`
 * suspends while much waits to be written; `unsafeSend` never does.
 *
 * When too much waits for a peer that does not read, the output is broken. `Input` reads the peer's messages, `Pipe` joins the two, and
 * `StandardStreams` gives the function that writes to standard output.
 */
import * as LineFraming from "@effect-mcp/core/LineFraming"
import { TransportError } from "@effect-mcp/core/LocalError"
import type * as Message from "@effect-mcp/core/Message"
import { closed } from "@effect-mcp/core/Transport"
import * as Outbox from "@effect-mcp/core/unstable/kit/Outbox"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Writable } from "node:stream"

/** Writes text and calls back when it was written, or with the error. */
export type Write<Chunk = string> = (text: Chunk, callback: (error?: Error | null) => void) => void

/** How many characters may wait, written or not, before `send` suspends. */
export const SEND_LIMIT = 1024 * 1024

/** How many characters may wait for a peer that does not read, before the output breaks. */
export const MAX_BACKLOG = 64 * 1024 * 1024

/** One write joins lines up to this number of characters. */
const BATCH = 1024 * 1024

export interface Options {
  readonly writable: Writable
  /** Writes text to the writable. Default: its own `write`. */
  readonly write?: Write | undefined
  /** How many characters may wait; one more message breaks the output. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
  /** Called once, when nothing can be written any more. The messages that waited are dropped. */
  readonly onBroken: (error: TransportError) => void
}

/**
 * A class with mutable fields, because it handles every message of a conversation. `backlog` counts the characters in
 * `outbox`, in `lines` and in the write that runs, whose part is `writing` (0 if none runs). A flush is scheduled (`turn`)
 * or a write runs while `backlog` is above 0. `broken` and `released` are set once; after either nothing is written.
 */
export class Output {
  private readonly outbox = Outbox.make<string>()
  private readonly waiting = new Set<() => void>()
  private readonly write: Write
  private readonly maxBacklog: number
  /** Lines taken from the outbox, in reverse order: the next to write is the last. */
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

  /** Accepts a message without suspending; `false` when the output has ended or the message has no JSON form. */
  readonly unsafeSend = (message: Message.Message): boolean => {
    if (this.outbox.isEnded) return false
    const line = LineFraming.encode(message)
    return line !== undefined && this.accept(line)
  }

  readonly canSend = (): boolean =>
    this.outbox.isEnded || (this.backlog < SEND_LIMIT && this.outbox.size < this.outbox.capacity)

  /** Suspends while the output is full, then accepts the message. */
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

  /** Accepts no more messages; the messages that wait are still written. */
  end(): void {
    this.outbox.end(Exit.void)
    this.wake()
  }

  /** Drops the messages that wait and removes all listeners from the writable. */
  release(): void {
    this.stop()
    this.released = true
    this.options.writable.off("close", this.onClose)
    // The write that runs may still fail, and an error event without a listener ends the process.
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

  // In the next turn: this joins the messages of one turn, and a sender that never pauses does not block the event loop.
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
    // Checked again, because the fiber may have yielded since its caller looked.
    if (this.backlog === 0) return wake()
    this.waiting.add(wake)
    return Effect.sync(() => this.waiting.delete(wake))
  })

  private wake(): void {
    // A sender that finds the output still full waits again, in the same order.
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

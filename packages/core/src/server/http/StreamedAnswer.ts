/**
 * One open answer that the endpoint writes in pieces: a stream of server-sent events, or a long JSON body. This object buffers text while
 * the client reads slowly, sends a comment after a long silence, and disconnects a client that reads nothing. `EndpointContext` makes these
 * objects. The transports (`legacy/ResumableStream`, `legacy/Sse`, `modern/Http`) push the text.
 *
 * The fields are mutable, so that a push is one synchronous write without a fiber. While `flowing` is true, the queue is empty. `head` is
 * the number of written characters of the first text in the queue. `held` is the number of characters in the queue, and in the piece that
 * the client has not read. When `ending` is true, the answer accepts no more text, but still writes the text in the queue. `closed` is true
 * when the answer has ended.
 */
import * as Effect from "effect/Effect"
import * as Sse from "../../jsonrpc/Sse.js"
import type { Deadlines, Expirable } from "../../kit/Deadlines.js"
import * as Waking from "../../kit/Waking.js"
import type { ResolvedHttpLimits } from "../runtime/ResolvedLimits.js"
import * as Metrics from "../telemetry/Metrics.js"
import { type Headers, type HttpExchange, PIECE, type Reader, type Writer } from "./HttpExchange.js"
import type { Holder, UnsentText } from "./UnsentText.js"

/** The headers of every event stream. They tell proxies not to store, change or buffer the stream. */
export const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
} as const

/** The values that all streams of an endpoint share. */
export interface Shared {
  readonly sweeper: Deadlines
  readonly unsent: UnsentText
  readonly limits: Pick<ResolvedHttpLimits, "capacity" | "maxQueued" | "stallTimeout">
}

export interface Options {
  readonly status?: number | undefined
  readonly headers: Headers
  /** The time of silence after which the stream sends a comment, in milliseconds; `Infinity` for no comments. */
  readonly keepAlive: number
  /** Called once when the stream has closed. `unsent` are the texts of which no part was written. */
  readonly onClose: (unsent: ReadonlyArray<string>) => void
}

const COMMENT = Sse.comment()

export class EventStream implements Reader, Expirable, Holder {
  held = 0
  lastWrite: number
  private readonly queue: Array<string> = []
  private readonly writer: Writer
  private suspended: Set<() => void> | undefined
  private head = 0
  private writing = 0
  private flowing = true
  private flushed = 0
  private ending = false
  private closed = false

  constructor(
    exchange: Pick<HttpExchange, "stream">,
    private readonly shared: Shared,
    private readonly options: Options
  ) {
    const { headers, keepAlive, status } = options
    const { limits, sweeper } = shared
    this.lastWrite = sweeper.now()
    this.writer = exchange.stream(status ?? 200, headers, this)
    const firstDeadline = Math.min(keepAlive, limits.stallTimeout)
    if (firstDeadline !== Infinity) sweeper.watch(this, this.lastWrite + firstDeadline)
  }

  get isFull(): boolean {
    const { capacity, maxQueued } = this.shared.limits
    return !this.isClosed && (this.queue.length >= capacity || this.held >= maxQueued)
  }

  /** A sender must wait for this effect before it pushes more text; `undefined` while there is space. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.isFull ? this.space : undefined
  }

  /** Suspends while the stream is full. */
  get space(): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const wake = () => resume(Effect.void)
      if (!this.isFull) return wake()
      this.suspended ??= new Set()
      this.suspended.add(wake)
      return Effect.sync(() => this.suspended?.delete(wake))
    })
  }

  /** Whether the queue is empty, because the client reads fast enough. */
  get isFlowing(): boolean {
    return this.flowing
  }

  /** How many times this object has written text to the connection. */
  get flushes(): number {
    return this.flushed
  }

  get isClosed(): boolean {
    return this.closed || this.ending
  }

  /** Writes a text, or buffers it. Gives `false` when the stream is closed. */
  push(text: string): boolean {
    if (this.isClosed) return false
    if (this.flowing && text.length <= PIECE) {
      this.flushed++
      this.write(text)
      return true
    }
    this.queue.push(text)
    this.hold(text.length)
    this.flush()
    return true
  }

  /** Closes the stream after all waiting texts have been written. */
  end(): void {
    if (this.isClosed) return
    this.ending = true
    // `close` also wakes the senders.
    if (this.flowing) this.close(this.writer.end)
    else this.wake()
  }

  /** Closes the stream without waiting for a slow client. */
  endNow(): void {
    if (this.flowing) this.end()
    else this.cut()
  }

  /** Closes the stream and its connection now. Waiting texts are lost. */
  readonly cut = (): void => {
    if (!this.closed) this.close(this.writer.cut)
  }

  readonly drained = (): void => {
    if (this.closed || this.flowing) return
    this.flowing = true
    this.lastWrite = this.shared.sweeper.now()
    const { writing } = this
    this.writing = 0
    this.hold(-writing)
    this.flush()
    if (this.ending && this.flowing) this.close(this.writer.end)
    else if (!this.isFull) this.wake()
  }

  readonly gone = (): void => {
    if (!this.closed) this.close(() => {})
  }

  readonly sweep = (now: number): number => {
    if (this.closed) return Infinity
    const { keepAlive } = this.options
    const { stallTimeout } = this.shared.limits
    if (!this.flowing) {
      if (now - this.lastWrite < stallTimeout) return this.lastWrite + stallTimeout
      Metrics.add(Metrics.slowReaders)
      this.cut()
      return Infinity
    }
    if (now - this.lastWrite >= keepAlive) this.write(COMMENT)
    return this.flowing ? this.lastWrite + keepAlive : now + stallTimeout
  }

  private flush(): void {
    while (this.flowing && this.queue.length > 0) {
      this.flushed++
      const piece = this.take()
      // Subtracted before the write, because `write` counts the piece again if the client does not read it.
      this.hold(-piece.length)
      this.write(piece)
    }
  }

  /** Takes the next piece from the queue. */
  private take(): string {
    const { queue } = this
    let piece = ""
    while (queue.length > 0 && piece.length < PIECE) {
      const text = queue[0]!
      const end = endOfPiece(text, this.head + PIECE - piece.length)
      piece += text.slice(this.head, end)
      this.head = end
      if (end < text.length) break
      this.head = 0
      queue.shift()
    }
    return piece
  }

  private write(text: string): void {
    const { limits: { stallTimeout }, sweeper } = this.shared
    this.lastWrite = sweeper.now()
    this.flowing = this.writer.write(text)
    if (this.flowing || this.closed) return
    if (stallTimeout !== Infinity) sweeper.watch(this, this.lastWrite + stallTimeout)
    this.writing = text.length
    this.hold(text.length)
  }

  private hold(by: number): void {
    if (by === 0) return
    this.held += by
    this.shared.unsent.change(this, by)
  }

  private wake(): void {
    // Each sender checks again when it runs. When the stream is full again, the sender waits again. The senders keep their order.
    const { suspended } = this
    this.suspended = undefined
    suspended?.forEach(Waking.wake)
  }

  private close(how: () => void): void {
    this.closed = true
    this.shared.sweeper.unwatch(this)
    const unsent = this.queue.splice(0)
    if (this.head > 0) unsent.shift()
    this.hold(-this.held)
    how()
    this.options.onClose(unsent)
    this.wake()
  }
}

/** Gives the index at which a piece ends. A piece never ends between the two halves of a surrogate pair. */
const endOfPiece = (text: string, end: number): number => {
  if (end >= text.length) return text.length
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end
}

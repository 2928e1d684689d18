/**
 * One open response of server-sent events: buffers events while its reader is slow, sends a comment after a long silence,
 * and cuts a reader that takes nothing. What the events mean is left to the caller, which pushes their text.
 *
 * The fields are mutable because one push is one synchronous write, with no fiber and no queue to wake. What they hold:
 * while `flowing` the outbox is empty; no event is accepted once `ending`; `closed` is set once, together with `onClose`.
 */
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Headers, HttpExchange, Reader, Writer } from "./HttpExchange.js"
import type { Expirable, Sweeper } from "./Sweeper.js"

/** The headers of every stream. Proxies must not keep, rewrite or buffer it. */
export const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
} as const

export interface Options {
  readonly headers?: Headers | undefined
  readonly sweeper: Sweeper
  /** Milliseconds of silence after which a comment is sent; `Infinity` for no comments. */
  readonly keepAlive: number
  /** Milliseconds for which a reader may take nothing while events wait. */
  readonly stallTimeout: number
  /** How many events may wait before the stream is full. */
  readonly capacity: number
  /** Called once when the stream has closed, with the events that were never written. */
  readonly onClose: (unsent: ReadonlyArray<string>) => void
}

const COMMENT = Sse.comment()

export class EventStream implements Reader, Expirable {
  private readonly outbox: Outbox.Outbox<string>
  private readonly writer: Writer
  private flowing = true
  private lastWrite: number
  private flushed = 0
  private ending = false
  private closed = false

  constructor(exchange: HttpExchange, private readonly options: Options) {
    const { headers, sweeper } = options
    this.outbox = Outbox.make(options.capacity)
    this.lastWrite = sweeper.now()
    this.writer = exchange.stream(headers === undefined ? HEADERS : { ...HEADERS, ...headers }, this)
    const firstDeadline = Math.min(options.keepAlive, options.stallTimeout)
    if (firstDeadline !== Infinity) sweeper.watch(this, this.lastWrite + firstDeadline)
  }

  get isFull(): boolean {
    return this.outbox.isFull
  }

  /** Suspends while the stream is full. */
  get space(): Effect.Effect<void> {
    return this.outbox.awaitSpace
  }

  /** Whether the reader takes what is written: no event waits. */
  get isFlowing(): boolean {
    return this.flowing
  }

  /** How often waiting events were written. */
  get flushes(): number {
    return this.flushed
  }

  get isClosed(): boolean {
    return this.closed || this.ending
  }

  /** Writes or buffers the text of an event; `false` when the stream is closed. */
  push(text: string): boolean {
    if (this.isClosed) return false
    this.outbox.unsafeOffer(text)
    this.flush()
    return true
  }

  /** Closes the stream after the events that wait. */
  end(): void {
    if (this.isClosed) return
    this.ending = true
    this.outbox.end(Exit.void)
    if (this.flowing) this.close(this.writer.end)
  }

  /** Closes the stream now. */
  cut(): void {
    if (!this.closed) this.close(this.writer.cut)
  }

  readonly drained = (): void => {
    if (this.closed) return
    this.flowing = true
    this.lastWrite = this.options.sweeper.now()
    this.flush()
    if (this.ending && this.flowing) this.close(this.writer.end)
  }

  readonly gone = (): void => {
    if (!this.closed) this.close(() => {})
  }

  readonly sweep = (now: number): number => {
    if (this.closed) return Infinity
    const { keepAlive, stallTimeout } = this.options
    if (!this.flowing) {
      if (now - this.lastWrite < stallTimeout) return this.lastWrite + stallTimeout
      this.cut()
      return Infinity
    }
    if (now - this.lastWrite >= keepAlive) this.write(COMMENT, now)
    return this.flowing ? this.lastWrite + keepAlive : now + stallTimeout
  }

  private flush(): void {
    if (!this.flowing || this.outbox.size === 0) return
    const texts = this.outbox.unsafeTakeAll()
    this.flushed++
    this.write(texts.length === 1 ? texts[0]! : texts.join(""), this.options.sweeper.now())
  }

  private write(text: string, now: number): void {
    this.lastWrite = now
    this.flowing = this.writer.write(text)
    const { stallTimeout, sweeper } = this.options
    if (!this.flowing && stallTimeout !== Infinity) sweeper.watch(this, now + stallTimeout)
  }

  private close(how: () => void): void {
    this.closed = true
    this.options.sweeper.unwatch(this)
    const unsent = this.outbox.unsafeTakeAll()
    this.outbox.end(Exit.void)
    how()
    this.options.onClose(unsent)
  }
}

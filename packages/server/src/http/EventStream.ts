/**
 * One open response of server-sent events: what waits for its reader, a comment when there was nothing to say for long,
 * and an end to a reader that takes nothing.
 *
 * It knows neither messages nor sessions: who pushes the text of events hears when the stream is over.
 *
 * @since 0.1.0
 */
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Headers, HttpExchange, Reader, Writer } from "./HttpExchange.js"
import type { Expirable, Sweeper } from "./Sweeper.js"

/**
 * What every stream is opened with. Proxies must neither keep, nor rewrite, nor buffer it.
 *
 * @since 0.1.0
 * @category constants
 */
export const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
} as const

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly headers?: Headers | undefined
  readonly sweeper: Sweeper
  /** Milliseconds of silence after which a comment is sent; `Infinity` for none. */
  readonly keepAlive: number
  /** Milliseconds for which a reader may take nothing while something waits. */
  readonly stallTimeout: number
  /** How many events may wait before `room` is waited for. */
  readonly capacity: number
  /** Hears once that the stream is over, with the events that nobody was given, unless whoever has it ended it. */
  readonly onOver: (unwritten: ReadonlyArray<string>) => void
}

const COMMENT = Sse.comment()

/**
 * @since 0.1.0
 * @category models
 */
export class EventStream implements Reader, Expirable {
  private readonly outbox: Outbox.Outbox<string>
  private readonly writer: Writer
  private flowing = true
  private written: number
  private takes = 0
  private ending = false
  private over = false

  constructor(exchange: HttpExchange, private readonly options: Options) {
    const { headers, sweeper } = options
    this.outbox = Outbox.make(options.capacity)
    this.written = sweeper.now()
    this.writer = exchange.stream(headers === undefined ? HEADERS : { ...HEADERS, ...headers }, this)
    const patience = Math.min(options.keepAlive, options.stallTimeout)
    if (patience !== Infinity) sweeper.watch(this, this.written + patience)
  }

  get isFull(): boolean {
    return this.outbox.isFull
  }

  /** Suspends while as much waits as may. */
  get room(): Effect.Effect<void> {
    return this.outbox.awaitSpace
  }

  /** Whether the reader takes what it is given: nothing waits. */
  get isFlowing(): boolean {
    return this.flowing
  }

  /** How often what waited was taken. */
  get taken(): number {
    return this.takes
  }

  get isOver(): boolean {
    return this.over || this.ending
  }

  /** Takes the text of an event in, whatever waits; `false` when the stream is over. */
  push(text: string): boolean {
    if (this.isOver) return false
    this.outbox.unsafeOffer(text)
    this.pump()
    return true
  }

  /** Ends the stream after what waits. */
  end(): void {
    if (this.isOver) return
    this.ending = true
    this.outbox.end(Exit.void)
    if (this.flowing) this.finish()
  }

  /** Ends the stream now. */
  cut(): void {
    if (this.over) return
    this.finish(this.writer.cut)
  }

  readonly drained = (): void => {
    if (this.over) return
    this.flowing = true
    this.written = this.options.sweeper.now()
    this.pump()
    if (this.ending && this.flowing) this.finish()
  }

  readonly gone = (): void => {
    if (this.over) return
    this.finish(() => {})
  }

  readonly sweep = (now: number): number => {
    if (this.over) return Infinity
    const { keepAlive, stallTimeout } = this.options
    if (!this.flowing) {
      if (now - this.written < stallTimeout) return this.written + stallTimeout
      this.cut()
      return Infinity
    }
    if (now - this.written >= keepAlive) this.write(COMMENT, now)
    return this.flowing ? this.written + keepAlive : now + stallTimeout
  }

  private pump(): void {
    if (!this.flowing || this.outbox.size === 0) return
    const texts = this.outbox.unsafeTakeAll()
    this.takes++
    this.write(texts.length === 1 ? texts[0]! : texts.join(""), this.options.sweeper.now())
  }

  private write(text: string, now: number): void {
    this.written = now
    this.flowing = this.writer.write(text)
    const { stallTimeout, sweeper } = this.options
    if (!this.flowing && stallTimeout !== Infinity) sweeper.watch(this, now + stallTimeout)
  }

  private finish(how: () => void = this.writer.end): void {
    this.over = true
    this.options.sweeper.letGo(this)
    const unwritten = this.outbox.unsafeTakeAll()
    this.outbox.end(Exit.void)
    how()
    this.options.onOver(unwritten)
  }
}

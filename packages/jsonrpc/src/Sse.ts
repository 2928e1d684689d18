/**
 * Server-sent events: encodes events to text and decodes bytes to events. The same bytes give the same events, however
 * they are cut into chunks; an event that is too large does not affect the events after it.
 *
 * It knows neither HTTP nor what the events mean. That an event with empty data is no message is left to its readers.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 * @since 0.1.0
 */
import * as Oversized from "./runtime/Oversized.js"

/**
 * How many bytes an event may have, between the blank lines around it.
 *
 * @category constants
 */
export const MAX_EVENT_BYTES = 10 * 1024 * 1024

/** @category models */
export interface Event {
  /** The name of the event. Without one, the event is a "message". */
  readonly event?: string | undefined
  /** The id that the client sends to resume after this event. It stays valid until an event has another. */
  readonly id?: string | undefined
  /** How many milliseconds the client waits before it reconnects. */
  readonly retry?: number | undefined
  /** Absent when the event has no data line; an empty data line is the empty string. */
  readonly data?: string | undefined
}

/**
 * An event that was dropped because of its size.
 *
 * @category models
 */
export class TooLarge {
  readonly _tag = "TooLarge"
  constructor(
    readonly maxEventBytes: number,
    /** How its data begins, at most 4,096 bytes. */
    readonly start = "",
    /** How its data ends, when the event is reported at its end. */
    readonly end?: string | undefined
  ) {}
}

/**
 * The text of an event, with the blank line after it. Each line of the data, empty or not, has its own data line.
 * Line breaks in an id or a name are removed, because they would begin another field.
 *
 * @category utils
 */
export const encode = ({ data, event, id, retry }: Event): string => {
  let text = ""
  if (event !== undefined) text += `event: ${event.replace(/[\r\n]/g, "")}\n`
  // Clients ignore an id that holds NUL.
  if (id !== undefined) text += `id: ${id.replace(/[\r\n\0]/g, "")}\n`
  if (retry !== undefined) text += `retry: ${Math.max(0, Math.round(retry))}\n`
  if (data !== undefined) text += breaks.test(data) ? lines(data) : `data: ${data}\n`
  return text + "\n"
}

const breaks = /[\r\n]/

const lines = (data: string): string => data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`).join("")

/**
 * A comment, which clients ignore: keeps a connection open while there is no event.
 *
 * @category utils
 */
export const comment = (text = ""): string => `: ${text.replace(/[\r\n]/g, " ")}\n\n`

/** @category models */
export interface Options {
  /** Longer events are discarded and reported as `TooLarge`. Default: 10 MiB. */
  readonly maxEventBytes?: number | undefined
  /**
   * Whether an event that is too large is reported at its end, once its data ends; it is given how the data begins.
   * Default: it is reported as soon as it is too large.
   */
  readonly reportAtEnd?: ((start: string) => boolean) | undefined
}

const LF = 0x0a
const CR = 0x0d
const NOTHING: Uint8Array = new Uint8Array(0)
/** How many bytes are kept of the beginning of an event that is too large, and of its end. */
const KEPT_BYTES = 4096

/**
 * Decodes chunks of bytes to events. A class with mutable fields, because it runs for every chunk: `buffer` holds the
 * first `held` bytes of a line that has not ended, and the fields of the event so far are in `event`, `id`, `retry` and
 * `data`, never more than the limit and never the chunks themselves. Text after the last blank line is no event.
 *
 * @category models
 */
export class Decoder {
  private readonly text = new TextDecoder("utf-8", { ignoreBOM: true })
  private readonly maxEventBytes: number
  private readonly reportAtEnd: (start: string) => boolean
  private buffer: Uint8Array = NOTHING
  private held = 0
  /** Bytes of this event, without the line that has not ended. */
  private bytes = 0
  private skipping = false
  /** How an event begins that is reported at its end, and its last bytes. */
  private start: string | undefined
  private last: Uint8Array = NOTHING
  private first = true
  private afterCr = false
  private event: string | undefined
  private id: string | undefined
  private retry: number | undefined
  private data: Array<string> | undefined

  constructor(options: Options = {}) {
    this.maxEventBytes = options.maxEventBytes ?? MAX_EVENT_BYTES
    this.reportAtEnd = options.reportAtEnd ?? (() => false)
  }

  /** Returns the events that end in this chunk. Events without any field are left out. */
  push(chunk: Uint8Array): Array<Event | TooLarge> {
    const events: Array<Event | TooLarge> = []
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === LF && this.afterCr) {
        // The second half of CRLF, which two chunks may share.
        this.afterCr = false
        start = at + 1
      } else if (byte === LF || byte === CR) {
        this.afterCr = byte === CR
        this.line(chunk.subarray(start, at), events)
        start = at + 1
      } else {
        this.afterCr = false
      }
    }
    if (start < chunk.length) this.keep(chunk.subarray(start), events)
    return events
  }

  /** Whether the event may grow by this piece. Reports an event that is too large, once. */
  private fits(piece: Uint8Array, events: Array<Event | TooLarge>): boolean {
    if (this.skipping) {
      if (this.start !== undefined) this.last = Oversized.ending(this.last, piece, KEPT_BYTES)
      return false
    }
    if (this.bytes + this.held + piece.length <= this.maxEventBytes) return true
    this.skipping = true
    const held = this.buffer.subarray(0, this.held)
    // So that it is the same however the bytes are cut into chunks.
    const kept = Math.min(KEPT_BYTES, this.maxEventBytes - this.bytes)
    const start = this.data === undefined
      ? dataOf(this.text.decode(Oversized.beginning(held, piece, kept)))
      : this.data[0]!.slice(0, KEPT_BYTES)
    if (this.reportAtEnd(start)) {
      this.last = Oversized.ending(held, piece, KEPT_BYTES)
      this.clear()
      this.start = start
    } else {
      this.clear()
      events.push(new TooLarge(this.maxEventBytes, start))
    }
    return false
  }

  private keep(piece: Uint8Array, events: Array<Event | TooLarge>): void {
    if (!this.fits(piece, events)) {
      // Remembers that the line is not empty: an empty line would end the event.
      this.held = 1
      return
    }
    const held = this.held + piece.length
    if (held > this.buffer.length) {
      // Doubling bounds the bytes copied per line, however small the chunks are.
      const larger = new Uint8Array(Math.max(held, 2 * this.buffer.length))
      larger.set(this.buffer.subarray(0, this.held))
      this.buffer = larger
    }
    this.buffer.set(piece, this.held)
    this.held = held
  }

  private line(last: Uint8Array, events: Array<Event | TooLarge>): void {
    if (this.held === 0 && last.length === 0) return this.dispatch(events)
    if (this.fits(last, events)) {
      if (this.held > 0) this.keep(last, events)
      const bytes = this.held > 0 ? this.buffer.subarray(0, this.held) : last
      this.bytes += bytes.length
      this.field(this.text.decode(bytes))
    }
    this.held = 0
  }

  private field(text: string): void {
    const line = this.first && text.startsWith("\uFEFF") ? text.slice(1) : text
    this.first = false
    const colon = line.indexOf(":")
    // A line that begins with a colon is a comment.
    if (colon === 0) return
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (name === "data") (this.data ??= []).push(value)
    else if (name === "event") this.event = value
    else if (name === "id" && !value.includes("\0")) this.id = value
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value)
  }

  private dispatch(events: Array<Event | TooLarge>): void {
    // A byte order mark is removed from the first line only, and this may have been it.
    this.first = false
    const { data, event, id, retry } = this
    if (!this.skipping && (data !== undefined || event !== undefined || id !== undefined || retry !== undefined)) {
      events.push({ event, id, retry, data: data?.join("\n") })
    }
    if (this.start !== undefined) {
      events.push(new TooLarge(this.maxEventBytes, this.start, this.text.decode(this.last)))
      this.start = undefined
      this.last = NOTHING
    }
    this.skipping = false
    this.clear()
  }

  private clear(): void {
    this.buffer = NOTHING
    this.held = 0
    this.bytes = 0
    this.event =
      this.id =
      this.retry =
      this.data =
        undefined
  }
}

/** The data of a line, when it is a line of data. */
const dataOf = (line: string): string => /^\uFEFF?data:/.test(line) ? line.replace(/^\uFEFF?data: ?/, "") : ""

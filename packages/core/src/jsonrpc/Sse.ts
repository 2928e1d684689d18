/**
 * Encodes server-sent events (SSE) to text, and decodes bytes to events. It does not matter how the bytes are split into chunks. An event
 * that is too large does not affect the events after it.
 *
 * This module also returns events with empty data. The callers must ignore these events, because they contain no message.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 * @since 0.1.0
 */
import { ByteBuffer } from "./runtime/ByteBuffer.js"
import * as Oversized from "./runtime/Oversized.js"

/**
 * How many bytes an event may have by default (`Options.maxEventBytes`): 10 MiB. The blank lines around the event do not count.
 *
 * @category constants
 */
export const MAX_EVENT_BYTES = 10 * 1024 * 1024

/** @category models */
export interface Event {
  /** The name of the event. Clients treat an event without a name as a "message". */
  readonly event?: string | undefined
  /** The id that a client sends to resume after this event. An event without an id has the id of the event before it. */
  readonly id?: string | undefined
  /** How many milliseconds a client waits before it reconnects. */
  readonly retry?: number | undefined
  /** The data. `undefined` when the event has no data line; the empty string when it has one empty data line. */
  readonly data?: string | undefined
}

/**
 * An event that was dropped because it has too many bytes.
 *
 * @category models
 */
export class TooLarge {
  readonly _tag = "TooLarge"
  constructor(
    readonly maxEventBytes: number,
    /** The beginning of the data, at most 4,096 bytes. */
    readonly start = "",
    /** The end of the data, if the decoder reports the event at its end (`Options.reportAtEnd`). */
    readonly end?: string | undefined
  ) {}
}

/**
 * Returns the text of an event, with the blank line that ends the event. Each line of the data, also an empty line, becomes a separate data
 * line. Removes line breaks in an id or a name, because a line break would begin another field.
 *
 * @category utils
 */
export const encode = ({ data, event, id, retry }: Event): string => {
  let text = ""
  if (event !== undefined) text += `event: ${event.replace(/[\r\n]/g, "")}\n`
  // NUL is removed, because clients ignore an id that contains NUL.
  if (id !== undefined) text += `id: ${id.replace(/[\r\n\0]/g, "")}\n`
  if (retry !== undefined) text += `retry: ${Math.max(0, Math.round(retry))}\n`
  if (data !== undefined) text += breaks.test(data) ? lines(data) : `data: ${data}\n`
  return text + "\n"
}

const breaks = /[\r\n]/

const lines = (data: string): string => data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`).join("")

/**
 * Returns the text of a comment. Clients ignore comments. A server sends comments to keep a connection open when there is no event.
 *
 * @category utils
 */
export const comment = (text = ""): string => `: ${text.replace(/[\r\n]/g, " ")}\n\n`

/** @category models */
export interface Options {
  /** How many bytes an event may have. The decoder discards a larger event and reports it as `TooLarge`. Default: 10 MiB. */
  readonly maxEventBytes?: number | undefined
  /**
   * Whether the decoder reports an event that is too large at the end of the event, with the end of its data. The function receives the
   * beginning of the data. Default: the decoder reports the event as soon as the event is too large.
   */
  readonly reportAtEnd?: ((start: string) => boolean) | undefined
}

const LF = 0x0a
const CR = 0x0d
const LINE_END = Uint8Array.of(LF)

/**
 * Decodes chunks of bytes to events. This is a class with mutable fields because it runs for every chunk. `held` has a copy of the bytes of
 * a line that has not ended. `event`, `id`, `retry` and `data` have the fields of the event so far. Together, these fields never have more
 * bytes than the limit. `skipped` is set from the byte that exceeds the limit of an event to the end of the event. Text after the last
 * blank line is not an event.
 *
 * @category models
 */
export class Decoder {
  private readonly text = new TextDecoder("utf-8", { ignoreBOM: true })
  private readonly maxEventBytes: number
  private readonly reportAtEnd: (start: string) => boolean
  private readonly held: ByteBuffer
  /** How many bytes this event has so far, without the line that has not ended. */
  private bytes = 0
  private skipped: Oversized.Skipped | undefined
  private first = true
  private afterCr = false
  private event: string | undefined
  private id: string | undefined
  private retry: number | undefined
  private data: Array<string> | undefined

  constructor(options: Options = {}) {
    this.maxEventBytes = options.maxEventBytes ?? MAX_EVENT_BYTES
    this.held = new ByteBuffer(this.maxEventBytes)
    this.reportAtEnd = options.reportAtEnd ?? (() => false)
  }

  /** Returns the events that end in this chunk. Leaves out events that have no field. */
  push(chunk: Uint8Array): Array<Event | TooLarge> {
    const events: Array<Event | TooLarge> = []
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === LF && this.afterCr) {
        // The second half of CRLF. The two halves may be in two chunks.
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

  /** Whether the event may grow by this piece. Reports each event that is too large one time. */
  private fits(piece: Uint8Array, events: Array<Event | TooLarge>): boolean {
    if (this.skipped !== undefined) {
      this.skipped.add(piece)
      return false
    }
    if (this.bytes + this.held.size + piece.length <= this.maxEventBytes) return true
    const held = this.held.all
    // The stored start has the same length for all chunk sizes.
    const kept = Math.min(Oversized.KEPT_BYTES, this.maxEventBytes - this.bytes)
    const last = dataOf(this.text.decode(Oversized.beginning(held, piece, kept)))
    const start = [...this.data ?? [], last].join("\n").slice(0, Oversized.KEPT_BYTES)
    const isReportedAtEnd = this.reportAtEnd(start)
    this.clear()
    this.skipped = new Oversized.Skipped(start, held, piece, isReportedAtEnd)
    if (!isReportedAtEnd) events.push(new TooLarge(this.maxEventBytes, start))
    return false
  }

  private keep(piece: Uint8Array, events: Array<Event | TooLarge>): void {
    // The bytes of a skipped line are counted, because a line that looks empty would end the event.
    if (!this.fits(piece, events)) this.held.skip(piece)
    // The first piece is copied, because a view would keep the memory of its whole chunk.
    else this.held.add(this.held.size === 0 ? piece.slice() : piece)
  }

  private line(last: Uint8Array, events: Array<Event | TooLarge>): void {
    const isWhole = this.held.size === 0
    if (isWhole && last.length === 0) return this.dispatch(events)
    if (this.fits(last, events)) {
      if (!isWhole) this.held.add(last)
      const bytes = isWhole ? last : this.held.all
      this.bytes += bytes.length
      this.field(this.text.decode(bytes))
    } else {
      this.skipped?.add(LINE_END)
    }
    this.held.clear()
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
    // A byte order mark is removed only from the first line of the input, and this empty line may have been the first line.
    this.first = false
    const { data, event, id, retry } = this
    if (this.skipped?.end !== undefined) {
      events.push(new TooLarge(this.maxEventBytes, this.skipped.start, dataAtEnd(this.skipped.end)))
    } else if (data !== undefined || event !== undefined || id !== undefined || retry !== undefined) {
      events.push({ event, id, retry, data: data?.join("\n") })
    }
    this.clear()
  }

  private clear(): void {
    this.held.clear()
    this.skipped = undefined
    this.bytes = 0
    this.event =
      this.id =
      this.retry =
      this.data =
        undefined
  }
}

/** Returns the data in the last lines of an event. The first of these lines may be incomplete. */
const dataAtEnd = (text: string): string => {
  const [first = "", ...lines] = text.replace(/\n$/, "").split("\n")
  return [dataOf(first) || first, ...lines.filter((line) => line.startsWith("data:")).map(dataOf)].join("\n")
}

/** Returns the data of a data line; the empty string for any other line. */
const dataOf = (line: string): string => /^\uFEFF?data:/.test(line) ? line.replace(/^\uFEFF?data: ?/, "") : ""

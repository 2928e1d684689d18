/**
 * Server-sent events: events to text, and bytes to events. Any way of cutting the same bytes into chunks gives the same
 * events; an event that is too large costs itself and nothing after it.
 *
 * It knows neither HTTP nor what the events mean: that one with empty data is no message is the reader's business.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 * @since 0.1.0
 */

/**
 * How many bytes an event may have, between the blank lines around it.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_EVENT_BYTES = 10 * 1024 * 1024

/**
 * @since 0.1.0
 * @category models
 */
export interface Event {
  /** The name of the event; none is "message". */
  readonly event?: string | undefined
  /** What to come back with after a cut. It holds for the events after it, too. */
  readonly id?: string | undefined
  /** How many milliseconds to wait before coming back. */
  readonly retry?: number | undefined
  /** Absent when there was no line of data, which is not the same as an empty one. */
  readonly data?: string | undefined
}

/**
 * An event that was dropped because of its size.
 *
 * @since 0.1.0
 * @category models
 */
export class TooLarge {
  readonly _tag = "TooLarge"
  constructor(readonly maxEventBytes: number) {}
}

/**
 * The text that says the event, with the blank line after it. Every line of the data gets a line of its own, an empty
 * one, too; what would break out of an id or a name is left out.
 *
 * @since 0.1.0
 * @category encoding
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
 * A comment, which every client drops: something to send when there is nothing to say.
 *
 * @since 0.1.0
 * @category encoding
 */
export const comment = (text = ""): string => `: ${text.replace(/[\r\n]/g, " ")}\n\n`

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Longer events are reported as `TooLarge` and never kept. Default: 10 MiB. */
  readonly maxEventBytes?: number | undefined
}

const LF = 0x0a
const CR = 0x0d
const NOTHING = new Uint8Array(0)

/**
 * Cuts bytes into events. Holds a copy of the beginning of one event between two chunks, never more than the limit and
 * never the chunks themselves. What comes after the last blank line is no event.
 *
 * @since 0.1.0
 * @category models
 */
export class Decoder {
  private readonly text = new TextDecoder("utf-8", { ignoreBOM: true })
  private readonly maxEventBytes: number
  private buffer = NOTHING
  private held = 0
  /** Bytes of this event, without the line that is being read. */
  private bytes = 0
  private skipping = false
  private first = true
  private afterCr = false
  private event: string | undefined
  private id: string | undefined
  private retry: number | undefined
  private data: Array<string> | undefined

  constructor(options: Options = {}) {
    this.maxEventBytes = options.maxEventBytes ?? MAX_EVENT_BYTES
  }

  /** The events that end in this chunk. One without any field is not among them. */
  push(chunk: Uint8Array): Array<Event | TooLarge> {
    const events: Array<Event | TooLarge> = []
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === LF && this.afterCr) {
        // The second half of CRLF, which may have been cut in two.
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

  /** Whether the event may have this much more; the first time that it may not is the one that is reported. */
  private fits(length: number, events: Array<Event | TooLarge>): boolean {
    if (this.skipping) return false
    if (this.bytes + this.held + length <= this.maxEventBytes) return true
    this.skipping = true
    this.forget()
    events.push(new TooLarge(this.maxEventBytes))
    return false
  }

  private keep(piece: Uint8Array, events: Array<Event | TooLarge>): void {
    if (!this.fits(piece.length, events)) {
      // Only that there is something on this line is remembered: an empty one would end the event.
      this.held = 1
      return
    }
    const held = this.held + piece.length
    if (held > this.buffer.length) {
      // Twice the size each time: whatever the chunks, a line is copied a constant number of times.
      const larger = new Uint8Array(Math.max(held, 2 * this.buffer.length))
      larger.set(this.buffer.subarray(0, this.held))
      this.buffer = larger
    }
    this.buffer.set(piece, this.held)
    this.held = held
  }

  private line(last: Uint8Array, events: Array<Event | TooLarge>): void {
    if (this.held === 0 && last.length === 0) return this.dispatch(events)
    if (this.fits(last.length, events)) {
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
    // A comment.
    if (colon === 0) return
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (name === "data") (this.data ??= []).push(value)
    else if (name === "event") this.event = value
    else if (name === "id" && !value.includes("\0")) this.id = value
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value)
  }

  private dispatch(events: Array<Event | TooLarge>): void {
    // A blank line before anything else is one, too.
    this.first = false
    const { data, event, id, retry } = this
    if (!this.skipping && (data !== undefined || event !== undefined || id !== undefined || retry !== undefined)) {
      events.push({ event, id, retry, data: data?.join("\n") })
    }
    this.skipping = false
    this.forget()
  }

  private forget(): void {
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

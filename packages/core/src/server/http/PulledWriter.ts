/**
 * Writes an answer on a platform that pulls the body. The writer buffers the written text until the platform pulls. `WebExchange` and
 * `AppExchange` give the writer a source, from which their platform pulls.
 *
 * Mutable fields: `text` is the text that waits for a pull. `pulled` is true when the platform has pulled, and waits for text. `full` is
 * true while the sender waits for a pull. `state` is "ended" when no more text follows, and "over" when the platform has pulled the last
 * text.
 */
import * as Sse from "../../jsonrpc/Sse.js"
import type { Headers, Reader, SlowReaders, Writer } from "./HttpExchange.js"

/** The exchange that the writer answers. */
export interface Owner {
  /** Disconnects the client, and calls `abort`. */
  readonly cut: () => void
  /** The writer calls this function when the platform has pulled everything. `last` is the number of characters of the last text. */
  readonly finish: (last: number, slowReaders: SlowReaders | undefined) => void
}

/** The object that the platform pulls from. For a web stream it is the controller of the stream. */
export type Source = Pick<ReadableStreamDefaultController<Uint8Array>, "close" | "enqueue" | "error">

/** `write` returns `false` when more than this number of characters wait for a pull. */
const HIGH_WATER = 16 * 1024

const bytes = new TextEncoder()

export class PulledWriter implements Writer {
  private text: string
  private state: "open" | "ended" | "over" = "open"
  private full = false
  private pulled = false
  private stopWatching: (() => void) | undefined

  constructor(
    headers: Headers,
    private readonly reader: Reader,
    private readonly owner: Owner,
    private readonly slowReaders: SlowReaders | undefined,
    /** Gives the source; `undefined` when the platform does not pull any more. */
    private readonly source: () => Source | undefined,
    /** Runs `flush` now or later. `flush` gives the waiting text to the source. */
    private readonly give: (flush: () => void) => void = (flush) => flush()
  ) {
    // Some servers send the headers of a stream only with the beginning of its body.
    this.text = headers["content-type"] === "text/event-stream" ? Sse.comment() : ""
  }

  get isOver(): boolean {
    return this.state === "over"
  }

  /** The platform pulls. The source gets the waiting text, or the next text that is written. */
  pull(): void {
    this.pulled = true
    this.offer()
  }

  write(text: string): boolean {
    if (this.state !== "open") return true
    this.text += text
    this.offer()
    return !(this.full = this.text.length >= HIGH_WATER)
  }

  readonly end = (): void => {
    if (this.state !== "open") return
    this.state = "ended"
    this.offer()
    // The stream is closed when the platform pulls the last text. Until then, the endpoint can cut off a reader that does not pull.
    if (!this.isOver) this.stopWatching = this.slowReaders?.watch(0, this.cut)
  }

  readonly cut = (): void => {
    if (this.state === "over") return
    // The owner of the writer has ended the stream. So the writer does not call `gone` of the reader.
    this.state = "ended"
    this.owner.cut()
  }

  /** Ends the stream now, with an error. When `error` is `undefined`, the stream ends because nobody reads it any more. */
  abort(error: Error | undefined): void {
    const { state } = this
    if (state === "over") return
    this.state = "over"
    this.text = ""
    this.stopWatching?.()
    if (error === undefined) this.source()?.close()
    else this.source()?.error(error)
    if (state === "open") this.reader.gone()
  }

  private offer(): void {
    if (this.pulled && (this.text !== "" || this.state !== "open")) this.give(this.flush)
  }

  private readonly flush = (): void => {
    const { full, source, text } = this
    if (text !== "") {
      this.text = ""
      this.full = this.pulled = false
      source()?.enqueue(bytes.encode(text))
      if (full) this.reader.drained()
    }
    if (this.state === "open" || this.text !== "") return
    const { state } = this
    this.state = "over"
    this.stopWatching?.()
    source()?.close()
    if (state === "ended") this.owner.finish(text.length, this.slowReaders)
  }
}

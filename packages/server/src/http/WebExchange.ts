/**
 * One web `Request`, and the web `Response` that answers it, as an `HttpExchange`. It uses nothing but the Fetch API and its
 * streams. It knows nothing of MCP; `WebHandler` makes one for each request.
 *
 * Its classes have mutable fields, because the endpoint answers by calling functions. What they hold: `settle` is called
 * once, with the response; nothing is answered once `done`, and then nothing of the exchange is kept.
 */
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import type * as Context from "effect/Context"
import * as Body from "./Body.js"
import type { BodyFault, Headers, HttpExchange, Reader, SlowReaders, Writer } from "./HttpExchange.js"
import { allHeaders, pathOf, PIECE } from "./HttpExchange.js"

export class WebExchange implements HttpExchange {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  // The Fetch API joins fields that were repeated, and does not keep them apart.
  readonly rawHeaders = undefined
  added: Headers | undefined
  slowReaders: SlowReaders | undefined
  isGone = false
  private done = false
  private onLeave: (() => void) | undefined
  private stopReading: (() => void) | undefined
  private stopTicking: (() => void) | undefined
  private writer: WebWriter | undefined

  constructor(
    private readonly request: Request,
    readonly services: Context.Context<never> | undefined,
    private readonly settle: (response: Response) => void,
    /** Called once: the client has taken the answer, as far as this end can see, or has disconnected. */
    private readonly onDone: (exchange: WebExchange) => void
  ) {
    const [, host, target] = URL_PARTS.exec(request.url)!
    this.method = request.method
    this.url = target === "" ? "/" : target!
    const headers: Record<string, string> = {}
    request.headers.forEach((value, name) => {
      headers[name] = value
    })
    // Some platforms leave it out.
    headers.host ??= host!
    this.headers = headers
    const { signal } = request
    if (signal.aborted) this.leave()
    else signal.addEventListener("abort", this.leave, { once: true })
  }

  get path(): string {
    return pathOf(this.url)
  }

  /** Whether the endpoint waits for the rest of the request. */
  get isReading(): boolean {
    return this.stopReading !== undefined
  }

  body(maxBytes: number, then: (body: string | BodyFault) => void): void {
    if (this.done) return
    let answered = false
    const stop = Body.read(this.request, maxBytes, (body) => {
      answered = true
      this.stopReading = undefined
      then(body)
    })
    if (!answered) this.stopReading = stop
  }

  reply(status: number, headers: Headers, body: string): void {
    if (this.done || this.writer !== undefined) return
    if (body.length > PIECE && this.slowReaders !== undefined) {
      return this.slowReaders.sendLong(this, status, headers, body)
    }
    this.settle(new Response(body === "" ? null : body, { status, headers: allHeaders(headers, this.added) }))
    this.finish()
  }

  stream(status: number, headers: Headers, reader: Reader): Writer {
    // Some servers send the headers of a stream only with the beginning of its body.
    const first = headers["content-type"] === "text/event-stream" ? Sse.comment() : ""
    const writer = new WebWriter(first, reader, this)
    if (this.done) {
      queueMicrotask(reader.gone)
      return writer
    }
    this.writer = writer
    this.stopTicking = this.slowReaders?.tick()
    this.settle(new Response(writer.readable, { status, headers: allHeaders(headers, this.added) }))
    return writer
  }

  onGone(listener: () => void): void {
    this.onLeave = listener
  }

  /** Disconnects the client: a stream ends with an error, so that what it has is not taken for all of it. */
  cut(): void {
    this.close(new Error("The server has cut off this answer: its client did not take it in time"))
  }

  /** The request was aborted or its stream was canceled. */
  readonly leave = (): void => this.close(undefined)

  private close(error: Error | undefined): void {
    if (this.done) return
    this.isGone = true
    this.settle(new Response(null, { status: DISCONNECTED }))
    const { onLeave, writer } = this
    this.finish()
    writer?.abort(error)
    onLeave?.()
  }

  /** The answer is complete. A platform may abort the request also then, which means nothing any more. */
  finish(): void {
    this.done = true
    this.stopReading?.()
    this.stopTicking?.()
    this.stopReading =
      this.stopTicking =
      this.onLeave =
      this.writer =
        undefined
    this.request.signal.removeEventListener("abort", this.leave)
    this.onDone(this)
  }
}

/** The status of the response that is made for a client that has disconnected: no client receives it. */
const DISCONNECTED = 499

/** How many characters may wait to be pulled before `write` returns `false`. */
const HIGH_WATER = 16 * 1024

const bytes = new TextEncoder()

/** Buffers what is written until the platform pulls it. */
class WebWriter implements Writer {
  readonly readable: ReadableStream<Uint8Array>
  private controller!: ReadableStreamDefaultController<Uint8Array>
  private state: "open" | "ended" | "over" = "open"
  private full = false
  /** Whether the platform has pulled, and got nothing yet. */
  private pulled = false
  private canceled = false
  private stopWatching: (() => void) | undefined

  constructor(
    /** What waits to be pulled. */
    private text: string,
    private readonly reader: Reader,
    private readonly exchange: WebExchange
  ) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller
        },
        pull: () => {
          this.pulled = true
          this.flush()
        },
        cancel: () => {
          this.canceled = true
          this.exchange.leave()
        }
      },
      // The stream itself buffers nothing, so a pull means that the platform takes more.
      { highWaterMark: 0 }
    )
  }

  write(text: string): boolean {
    if (this.state !== "open") return true
    this.text += text
    if (this.pulled) this.flush()
    return !(this.full = this.text.length >= HIGH_WATER)
  }

  readonly end = (): void => {
    if (this.state !== "open") return
    this.state = "ended"
    if (this.pulled) this.flush()
    // Closed when the last text is pulled, so that a reader that does not pull it can be cut.
    if (this.state === "ended") this.stopWatching = this.exchange.slowReaders?.watch(0, this.cut)
  }

  readonly cut = (): void => {
    if (this.state === "over") return
    // Its reader has ended it, and is not called.
    this.state = "ended"
    this.exchange.cut()
  }

  /** Ends the stream now: with an error, or because it has no reader any more. */
  abort(error: Error | undefined): void {
    const { state } = this
    if (state === "over") return
    this.state = "over"
    this.text = ""
    this.stopWatching?.()
    if (error !== undefined) this.controller.error(error)
    // A stream that was canceled is closed already.
    else if (!this.canceled) this.controller.close()
    if (state === "open") this.reader.gone()
  }

  private flush(): void {
    if (this.text !== "") {
      const { full, text } = this
      this.text = ""
      this.full = this.pulled = false
      this.controller.enqueue(bytes.encode(text))
      if (full) this.reader.drained()
    }
    if (this.state !== "ended" || this.text !== "") return
    this.state = "over"
    this.stopWatching?.()
    this.controller.close()
    this.exchange.finish()
  }
}

/** The host of an absolute URL; its path and query. */
const URL_PARTS = /^[^:]+:\/\/([^/?#]*)([^#]*)/

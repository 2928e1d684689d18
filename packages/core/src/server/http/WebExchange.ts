/**
 * Adapts one web `Request`, and its web `Response`, to the interface `HttpExchange`. An exchange uses only the Fetch API and its streams,
 * and does not depend on MCP. `WebHandler` makes an exchange for each request. `RequestBody` reads the body, and `PulledWriter` writes a
 * stream.
 *
 * The fields are mutable, because the endpoint answers by calling functions. The first call of `settle` gives the response, and later calls
 * have no effect. When `done` is true, the exchange answers nothing more. When `isWatching` is true, the exchange listens to the signal of
 * the request. `hasLeft` is true when the request was aborted, its stream was canceled, or the exchange was cut off.
 */
import type * as Context from "effect/Context"
import * as Guard from "./Guard.js"
import {
  type Headers,
  type HttpExchange,
  pathOf,
  PIECE,
  present,
  type Reader,
  type SlowReaders,
  type Writer
} from "./HttpExchange.js"
import { type Owner, PulledWriter } from "./PulledWriter.js"
import * as RequestBody from "./RequestBody.js"

export class WebExchange implements HttpExchange, Owner {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  // The Fetch API joins repeated header fields, so the single fields are unknown.
  readonly rawHeaders = undefined
  // No HTTP middleware of Effect runs around this request.
  readonly values = undefined
  private done = false
  private hasLeft = false
  private isWatching = false
  private onLeave: (() => void) | undefined
  private stopReading: (() => void) | undefined
  private stopTicking: (() => void) | undefined
  private writer: PulledWriter | undefined

  constructor(
    private readonly request: Request,
    readonly services: Context.Context<never> | undefined,
    private readonly settle: (response: Response) => void,
    /** Called once, when the platform has taken the whole answer, or when the client has disconnected. */
    private readonly onDone: (exchange: WebExchange) => void
  ) {
    const [, target] = URL_PARTS.exec(request.url)!
    this.method = request.method
    this.url = target === "" ? "/" : target!
    const headers: Record<string, string> = {}
    request.headers.forEach((value, name) => {
      headers[name] = value
    })
    // Some platforms leave the Host header out.
    headers.host = Guard.hostOf(request.url, headers.host)!
    this.headers = headers
  }

  get path(): string {
    return pathOf(this.url)
  }

  get isGone(): boolean {
    this.watch()
    return this.hasLeft
  }

  /** Whether the endpoint still waits for a part of the request's body. */
  get isReading(): boolean {
    return this.stopReading !== undefined
  }

  body(into: RequestBody.OpenBody, then: (body: string | RequestBody.BodyFault) => void): void {
    if (this.done) return
    let answered = false
    const stop = RequestBody.read(this.request, into, (body) => {
      answered = true
      this.stopReading = undefined
      // After a fault, the client may have disconnected. Then `then` must not be called.
      if (typeof body === "string" || !this.isGone) then(body)
    })
    if (!answered) this.stopReading = stop
  }

  reply(status: number, headers: Headers, body: string, slowReaders?: SlowReaders): void {
    if (this.done || this.writer !== undefined) return
    if (body.length > PIECE && slowReaders !== undefined) return slowReaders.sendLong(this, status, headers, body)
    this.settle(new Response(body === "" ? null : body, { status, headers: present(headers) }))
    this.finish()
  }

  stream(status: number, headers: Headers, reader: Reader, slowReaders?: SlowReaders): Writer {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined
    const writer = new PulledWriter(headers, reader, this, slowReaders, () => controller)
    if (this.isGone || this.done) {
      queueMicrotask(reader.gone)
      return writer
    }
    this.writer = writer
    this.stopTicking = slowReaders?.tick()
    const body = new ReadableStream<Uint8Array>(
      {
        start: (own) => {
          controller = own
        },
        pull: () => writer.pull(),
        cancel: () => {
          // A stream that was cancelled is already closed.
          controller = undefined
          this.leave()
        }
      },
      // The stream itself buffers nothing, so a pull means that the platform wants more text.
      { highWaterMark: 0 }
    )
    this.settle(new Response(body, { status, headers: present(headers) }))
    return writer
  }

  onGone(listener: () => void): void {
    this.onLeave = listener
    // While the body is being read, the end of reading already shows that the client has disconnected.
    if (!this.isReading) this.watch()
  }

  /**
   * Listens to the signal of the request. Called only for a request that is not answered immediately: on Node, making the signal costs as
   * much as reading all headers.
   */
  private watch(): void {
    if (this.isWatching || this.done) return
    this.isWatching = true
    const { signal } = this.request
    if (signal.aborted) this.leave()
    else signal.addEventListener("abort", this.leave, { once: true })
  }

  /** Disconnects the client. A stream ends with an error, so that the client knows that the answer is not complete. */
  cut(): void {
    this.close(new Error("The server has cut off this answer: its client did not read it in time"))
  }

  /** The request was aborted or its stream was canceled. */
  readonly leave = (): void => this.close(undefined)

  private close(error: Error | undefined): void {
    if (this.done) return
    this.hasLeft = true
    this.settle(new Response(null, { status: DISCONNECTED }))
    const { onLeave, writer } = this
    this.finish()
    writer?.abort(error)
    onLeave?.()
  }

  /** The answer is complete. When the platform aborts the request later, nothing happens. */
  finish(): void {
    this.done = true
    this.stopReading?.()
    this.stopTicking?.()
    this.stopReading =
      this.stopTicking =
      this.onLeave =
      this.writer =
        undefined
    if (this.isWatching) this.request.signal.removeEventListener("abort", this.leave)
    this.onDone(this)
  }
}

/** The status of the response for a client that has disconnected. No client receives this response. */
const DISCONNECTED = 499

/** The path and the query of an absolute URL. */
const URL_PARTS = /^[^:]+:\/\/[^/?#]*([^#]*)/

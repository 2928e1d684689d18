/**
 * One HTTP request and its response (an exchange) for the endpoint. The exchange uses the request and response objects of Node. It reads a
 * body only when the endpoint requests the body, and has no buffers of its own.
 *
 * `HttpServer` makes an exchange for each request. `MountedExchange` extends this class.
 */
import {
  type Headers,
  type HttpExchange,
  pathOf,
  PIECE,
  type Reader,
  type SlowReaders,
  type Writer
} from "@effect-mcp/core/unstable/server/HttpExchange"
import * as ListensOn from "@effect-mcp/core/unstable/server/ListensOn"
import * as RequestBody from "@effect-mcp/core/unstable/server/RequestBody"
import type * as Context from "effect/Context"
import { Buffer, isUtf8 } from "node:buffer"
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"

export class NodeExchange implements HttpExchange {
  readonly method: string
  readonly url: string
  /** Whether the endpoint has answered. The value stays `false` when the application itself has answered. */
  private isAnswered = false
  private onLeave: (() => void) | undefined

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    // Only `set-cookie` would be an array, and clients do not send this header.
    readonly headers = request.headers as Headers
  ) {
    this.method = request.method!
    this.url = request.url!
  }

  /** The services for this request. The value is `undefined`, because a request of Node cannot carry services. */
  get services(): Context.Context<never> | undefined {
    return undefined
  }

  get values(): undefined {
    return undefined
  }

  get rawHeaders(): ReadonlyArray<string> {
    return this.request.rawHeaders
  }

  get remoteAddress(): string | undefined {
    return this.request.socket.remoteAddress
  }

  get encrypted(): boolean {
    return (this.request.socket as TLSSocket).encrypted === true
  }

  get isLocal(): boolean | undefined {
    return ListensOn.isLocal(this.request)
  }

  get path(): string {
    return pathOf(this.url)
  }

  get isGone(): boolean {
    return this.response.destroyed || this.response.closed
  }

  body(into: RequestBody.OpenBody, then: (body: string | RequestBody.BodyFault) => void): void {
    RequestBody.readNode(this.request, into, (body) =>
      then(
        !(body instanceof Uint8Array)
          ? body
          : isUtf8(body)
          ? Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8")
          : { fault: "encoding" }
      ))
  }

  reply(status: number, headers: Headers, body: string, slowReaders?: SlowReaders): void {
    const { response } = this
    if (response.headersSent || this.isGone) return
    this.isAnswered = true
    const length = Buffer.byteLength(body)
    if (body.length > PIECE && slowReaders !== undefined) {
      return slowReaders.sendLong(this, status, { ...headers, "content-length": String(length) }, body)
    }
    // A 204 response has no content and no `content-length`. For other responses, this header comes before the spread: in Node 22 and
    // earlier, it takes ten times as long to add a member to a copy.
    const all: OutgoingHttpHeaders = status === 204 ? { ...headers } : { "content-length": length, ...headers }
    response.writeHead(status, all)
    if (length === 0) response.end()
    else response.end(body)
    // `writableLength` is 0 when the operating system has accepted all text.
    if (response.writableLength > 0) this.watch(slowReaders)
  }

  stream(status: number, headers: Headers, reader: Reader, slowReaders?: SlowReaders): Writer {
    const { response } = this
    this.isAnswered = true
    response.on("drain", reader.drained)
    response.on("close", reader.gone)
    response.writeHead(status, { ...headers })
    const { socket } = response
    // The head is sent in one system call together with all text that is written in the same turn.
    if (socket !== null && socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(uncork, socket)
    }
    response.flushHeaders()
    return new NodeWriter(response, () => this.watch(slowReaders))
  }

  onGone(listener: () => void): void {
    // A request that is forwarded to several nodes one after another sets a listener for each node. Only the last listener is called.
    if (this.onLeave === undefined) {
      this.response.on("close", () => {
        if (!this.isAnswered || !this.response.writableFinished) this.onLeave!()
      })
    }
    this.onLeave = listener
  }

  /** Limits how long a client may take to read the rest of an answer. */
  private watch(slowReaders: SlowReaders | undefined): void {
    const { response } = this
    if (response.writableLength === 0 || slowReaders === undefined) return
    // An answer that waits behind other answers on its connection does not have its socket yet.
    const stop = slowReaders.watch(response.writableLength, () => this.request.socket.destroy())
    response.on("finish", stop)
    response.on("close", stop)
  }
}

const uncork = (socket: Socket): void => socket.uncork()

/**
 * Writes a stream to a response. Node sends all text that is written in one turn of the event loop in one piece. This writer never corks
 * the response, for two reasons. In Node 22 and later, `end` of a corked response sends the last chunk before the corked text. And a full
 * buffer with text beyond ASCII sometimes does not emit "drain".
 */
class NodeWriter implements Writer {
  constructor(private readonly response: ServerResponse, private readonly onEnd: () => void) {}

  write(text: string): boolean {
    return this.response.write(text)
  }

  readonly end = (): void => {
    this.response.end()
    this.onEnd()
  }

  readonly cut = (): void => {
    this.response.destroy()
  }
}

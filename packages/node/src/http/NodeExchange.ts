/**
 * One request of Node's HTTP server as the endpoint takes it. Node's own objects do the work: nothing is read that was not
 * asked for, nothing is buffered beside Node's buffers.
 *
 * It knows no MCP; `HttpServer` listens and makes these.
 *
 * @since 0.1.0
 */
import type { BodyFault, Headers, HttpExchange, Reader, Writer } from "@effect-mcp/server/unstable/HttpExchange"
import { Buffer, isUtf8 } from "node:buffer"
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http"

/**
 * How many bytes of a body that is too large are still read, so that the client gets to the answer; then it is cut off.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_DISCARDED = 64 * 1024 * 1024

/**
 * @since 0.1.0
 * @category models
 */
export class NodeExchange implements HttpExchange {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  added: Headers | undefined

  constructor(private readonly request: IncomingMessage, private readonly response: ServerResponse) {
    this.method = request.method!
    this.url = request.url!
    // Only `set-cookie`, which no client sends, would be an array.
    this.headers = request.headers as Headers
  }

  get path(): string {
    const query = this.url.indexOf("?")
    return query === -1 ? this.url : this.url.slice(0, query)
  }

  get isGone(): boolean {
    return this.response.destroyed || this.response.closed
  }

  body(maxBytes: number, then: (body: string | BodyFault) => void): void {
    const { request } = this
    let first: Buffer | undefined
    let rest: Array<Buffer> | undefined
    let size = 0
    request.on("data", (chunk: Buffer) => {
      const before = size
      size += chunk.length
      if (size <= maxBytes) {
        if (first === undefined) first = chunk
        else (rest ??= [first]).push(chunk)
        return
      }
      first = rest = undefined
      // Answered at once, but read on: to close with bytes unread would take the answer back.
      if (before <= maxBytes) then({ fault: "size" })
      else if (size - maxBytes > MAX_DISCARDED) request.destroy()
    })
    request.on("end", () => {
      if (size > maxBytes) return
      const body = rest !== undefined ? Buffer.concat(rest, size) : first
      if (body === undefined) return then("")
      then(isUtf8(body) ? body.toString("utf8") : { fault: "encoding" })
    })
  }

  reply(status: number, headers: Headers, body: string): void {
    const { response } = this
    if (response.headersSent || this.isGone) return
    const length = Buffer.byteLength(body)
    const all: OutgoingHttpHeaders = this.added === undefined ? { ...headers } : { ...headers, ...this.added }
    // There is none to a 204, not even an empty one.
    if (status !== 204) all["content-length"] = length
    response.writeHead(status, all)
    if (length === 0) response.end()
    else response.end(body)
  }

  stream(headers: Headers, reader: Reader): Writer {
    const { response } = this
    response.on("drain", reader.drained)
    response.on("close", reader.gone)
    response.writeHead(200, this.added === undefined ? { ...headers } : { ...headers, ...this.added })
    response.flushHeaders()
    return new NodeWriter(response)
  }

  onGone(listener: () => void): void {
    this.response.on("close", () => {
      if (!this.response.writableFinished) listener()
    })
  }
}

/**
 * Node sends in one piece what is written to a response in one turn of the event loop. This writer never corks the
 * response itself: since Node 22, `end` of a corked response sends the last chunk before the text that it holds, and a
 * full buffer of text beyond ASCII may report no `drain`.
 */
class NodeWriter implements Writer {
  constructor(private readonly response: ServerResponse) {}

  write(text: string): boolean {
    return this.response.write(text)
  }

  readonly end = (): void => {
    this.response.end()
  }

  readonly cut = (): void => {
    this.response.destroy()
  }
}

/**
 * One HTTP request and its response (an exchange), in an application with its own HTTP server. In this application a router may have
 * changed the URL, and a body parser may have read the body. `NodeHandler` makes an exchange for each request.
 */
import * as JsonText from "@effect-mcp/core/unstable/jsonrpc/JsonText"
import * as Guard from "@effect-mcp/core/unstable/server/Guard"
import { type Headers, pathOf, repeated } from "@effect-mcp/core/unstable/server/HttpExchange"
import type { Open } from "@effect-mcp/core/unstable/server/OpenExchanges"
import type { BodyFault, OpenBody } from "@effect-mcp/core/unstable/server/RequestBody"
import type * as Context from "effect/Context"
import { Buffer, isUtf8 } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"
import { NodeExchange } from "./NodeExchange.js"

/** The members that Express adds to a request of Node. */
interface Mounted extends IncomingMessage {
  readonly originalUrl?: string | undefined
  readonly body?: unknown
}

export class MountedExchange extends NodeExchange implements Open {
  isReading = false

  constructor(
    private readonly mounted: Mounted,
    private readonly answer: ServerResponse,
    private readonly given:
      | { readonly body?: unknown; readonly context?: Context.Context<never> | undefined }
      | undefined
  ) {
    super(mounted, answer, headersOf(mounted))
  }

  override get services(): Context.Context<never> | undefined {
    return this.given?.context
  }

  override get path(): string {
    return pathOf(this.mounted.originalUrl ?? this.url)
  }

  override body(into: OpenBody, then: (body: string | BodyFault) => void): void {
    const { mounted } = this
    // Some parsers set an empty `body` for a media type that they do not read, so `body` is used only when the request was read.
    const body = this.given?.body ?? (mounted.readableDidRead ? mounted.body : undefined)
    if (body !== undefined) return then(textOf(body, into.maxBytes))
    if (mounted.readableDidRead) return then({ fault: "taken" })
    if (mounted.readableEnded) return then("")
    this.isReading = true
    super.body(into, (body) => {
      this.isReading = false
      then(body)
    })
  }

  cut(): void {
    this.answer.destroy()
  }
}

/** Returns the headers of a request. For some repeated headers, Node keeps only the first, so these headers are read from `rawHeaders`. */
const headersOf = ({ headers, originalUrl, rawHeaders, url }: Mounted): Headers => ({
  ...headers as Headers,
  host: Guard.hostOf(originalUrl ?? url!, headers.host),
  ...repeated(rawHeaders)
})

/** Returns the text of a body that the application has read. The body may be a parsed value, a text, or bytes. */
const textOf = (body: unknown, maxBytes: number): string | BodyFault => {
  if (body instanceof Uint8Array) {
    return body.length > maxBytes
      ? { fault: "size" }
      : isUtf8(body)
      ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8")
      : { fault: "encoding" }
  }
  const text = typeof body === "string" ? body : JsonText.stringify(body)
  return text === undefined ? { fault: "unreadable" } : Buffer.byteLength(text) > maxBytes ? { fault: "size" } : text
}

/**
 * Encodes and decodes the messages ("envelopes") that nodes send to each other about one HTTP request, for `ForwardedRequests` and
 * `ForwardedRequest`. The node where the request arrived sends the request to the node that serves the session. That node sends the answer
 * back in pieces. `id` identifies the request at the node where it arrived.
 *
 * An envelope begins with a line of JSON. The rest of the text is the body: JSON text, or server-sent events with JSON text. The body is
 * not escaped, and this module does not parse the body.
 */
import * as Schema from "effect/Schema"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as SchemaCheck from "../../protocol/schema/SchemaCheck.js"
import type { Headers, HttpExchange } from "../http/HttpExchange.js"

/** An envelope from the node where the request arrived. `from` is the name of that node. */
export type Forth =
  | Pick<HttpExchange, "method" | "url" | "path" | "headers" | "remoteAddress" | "encrypted"> & {
    readonly type: "exchange"
    readonly from: string
    readonly id: string
    /** `undefined` for a request without a body. */
    readonly body: string | undefined
  }
  /** The client has read `size` more characters of the answer. */
  | { readonly type: "taken"; readonly from: string; readonly id: string; readonly size: number }
  /**
   * `gone`: the client has disconnected. `request`: a request in the form of an earlier version of this library. The body of such a request
   * is in the first line, and the request needs an answer in the earlier form.
   */
  | { readonly type: "gone" | "request"; readonly from: string; readonly id: string }

/** An envelope from the node that serves the session. */
export type Back =
  | {
    readonly type: "reply"
    readonly id: string
    readonly status: number
    readonly headers: Headers
    readonly body: string
  }
  | {
    readonly type: "stream"
    readonly id: string
    readonly node: string
    readonly status: number
    readonly headers: Headers
  }
  /**
   * A piece of the answer. `node` is the node that answers. When the request no longer exists at the receiving node, the receiving node
   * sends `gone` to `node`.
   */
  | { readonly type: "text"; readonly id: string; readonly node: string; readonly body: string }
  /** The answer has ended. An answer that was `cut` is not complete. */
  | { readonly type: "end" | "cut"; readonly id: string }
  /**
   * The node does not serve the session, or will soon release the session because it is closing (`isDraining`). The request has not run.
   */
  | { readonly type: "moved"; readonly id: string; readonly isDraining?: boolean }

export type Envelope = Forth | Back

export const encode = (envelope: Envelope): string => {
  const { body, ...line } = envelope as Envelope & { readonly body?: string }
  return body === undefined ? JSON.stringify(line) : `${JSON.stringify(line)}\n${body}`
}

/** Decodes a text of `encode`. Gives `undefined` for any other text, for example a text from another version of this library. */
export const decode = (text: string): Envelope | undefined => {
  const end = text.indexOf("\n")
  const line = JsonText.parse(end === -1 ? text : text.slice(0, end))
  if (line instanceof JsonText.Refused || !isLine(line)) return undefined
  if (end !== -1) return { ...line, body: text.slice(end + 1) } as Envelope
  return line.type === "reply" || line.type === "text" ? undefined : line as Envelope
}

const headers = Schema.Record({ key: Schema.String, value: Schema.String })

const forth = { from: Schema.String, id: Schema.String }

const answer = { id: Schema.String, status: Schema.Int.pipe(Schema.between(200, 599)), headers }

/** An envelope without its body. */
const isLine = SchemaCheck.compile(Schema.Union(
  Schema.Struct({
    type: Schema.Literal("exchange"),
    ...forth,
    method: Schema.String,
    url: Schema.String,
    path: Schema.String,
    headers,
    remoteAddress: Schema.optional(Schema.String),
    encrypted: Schema.optional(Schema.Boolean)
  }),
  Schema.Struct({ type: Schema.Literal("taken"), ...forth, size: Schema.Number }),
  Schema.Struct({ type: Schema.Literal("gone"), ...forth }),
  Schema.Struct({ type: Schema.Literal("request"), ...forth }),
  Schema.Struct({ type: Schema.Literal("reply"), ...answer }),
  Schema.Struct({ type: Schema.Literal("stream"), ...answer, node: Schema.String }),
  Schema.Struct({ type: Schema.Literal("text"), id: Schema.String, node: Schema.String }),
  Schema.Struct({ type: Schema.Literal("end"), id: Schema.String }),
  Schema.Struct({ type: Schema.Literal("cut"), id: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("moved"),
    id: Schema.String,
    isDraining: Schema.optional(Schema.Boolean)
  })
))

export const isForth = (envelope: Envelope): envelope is Forth => "from" in envelope

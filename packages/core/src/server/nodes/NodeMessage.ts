/**
 * What nodes (`ForwardedRequests`, `ForwardedRequest`) send to each other about one HTTP request: the request itself, from the node where
 * it arrived to the node that serves its session, and the answer back, in pieces. `id` names the request at the node where it arrived.
 *
 * An envelope is a line of JSON. A body, which is JSON text or events with JSON text, follows the line as it is, and is the rest of the
 * text: it is neither escaped nor parsed on its way.
 */
import * as Schema from "effect/Schema"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as SchemaCheck from "../../protocol/schema/SchemaCheck.js"
import type { Headers, HttpExchange } from "../http/HttpExchange.js"

/** From the node where the request arrived. `from` is that node. */
export type Forth =
  | Pick<HttpExchange, "method" | "url" | "path" | "headers" | "remoteAddress" | "encrypted"> & {
    readonly type: "exchange"
    readonly from: string
    readonly id: string
    /** `undefined` for a request without a body. */
    readonly body: string | undefined
  }
  /** The client has taken so many more characters of the answer. */
  | { readonly type: "taken"; readonly from: string; readonly id: string; readonly size: number }
  /**
   * `gone`: the client has disconnected. `request`: a request as an earlier version of this library sends it, with the body in the line;
   * it expects an answer of that form.
   */
  | { readonly type: "gone" | "request"; readonly from: string; readonly id: string }

/** From the node that serves the session. */
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
  /** `node` is the one that answers: it learns when there is no such request any more. */
  | { readonly type: "text"; readonly id: string; readonly node: string; readonly body: string }
  /** There will be no more of the answer. It is not complete when it is `cut`. */
  | { readonly type: "end" | "cut"; readonly id: string }
  /** The node does not serve the session, or gives it away soon because the node drains. Nothing has run. */
  | { readonly type: "moved"; readonly id: string; readonly isDraining?: boolean }

export type Envelope = Forth | Back

export const encode = (envelope: Envelope): string => {
  const { body, ...line } = envelope as Envelope & { readonly body?: string }
  return body === undefined ? JSON.stringify(line) : `${JSON.stringify(line)}\n${body}`
}

/** Reads what `encode` has written; `undefined` for anything else, such as what another version of this library sent. */
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

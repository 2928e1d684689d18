/**
 * What nodes send to each other about one HTTP request: the request itself, from the node where it arrived to the node that serves
 * its session, and the answer back, in pieces. `id` names the request at the node where it arrived.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { Headers } from "../http/HttpExchange.js"

/** From the node where the request arrived. `from` is that node. */
export type Forth =
  | {
    readonly type: "request"
    readonly from: string
    readonly id: string
    readonly method: string
    readonly url: string
    readonly path: string
    readonly headers: Headers
    readonly remoteAddress: string | undefined
    readonly encrypted: boolean | undefined
    /** `undefined` for a request that has none. */
    readonly body: string | undefined
  }
  /** The client has taken so many more characters of the answer. */
  | { readonly type: "taken"; readonly from: string; readonly id: string; readonly size: number }
  /** The client has disconnected. */
  | { readonly type: "gone"; readonly from: string; readonly id: string }

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
  | { readonly type: "text"; readonly id: string; readonly node: string; readonly text: string }
  | { readonly type: "end"; readonly id: string }
  /** The answer is not complete, and there will be no more of it. */
  | { readonly type: "cut"; readonly id: string }
  /** The node does not serve the session, or gives it away soon because the node drains. Nothing has run. */
  | { readonly type: "moved"; readonly id: string; readonly isDraining?: boolean }

export type Envelope = Forth | Back

export const encode = (envelope: Envelope): string => JSON.stringify(envelope)

/** Reads what `encode` has written; `undefined` for anything else, such as what another version of this library sent. */
export const decode = (text: string): Envelope | undefined => {
  const value = Json.parse(text) as Partial<Envelope> | undefined
  return typeof value === "object" && value !== null && typeof value.id === "string" && TYPES.has(value.type as string)
    ? value as Envelope
    : undefined
}

const TYPES = new Set<string>(
  ["request", "taken", "gone", "reply", "stream", "text", "end", "cut", "moved"] satisfies Array<Envelope["type"]>
)

export const isForth = (envelope: Envelope): envelope is Forth => "from" in envelope

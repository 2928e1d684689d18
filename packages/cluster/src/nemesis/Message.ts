/**
 * Makes the JSON-RPC messages that the clients of a run send, and reads the messages of the server. The module depends on the tools of
 * `Features`, but not on HTTP.
 */
import * as JsonText from "@effect-mcp/core/unstable/jsonrpc/JsonText"
import { now, type Outcome, type Seen } from "./History.js"

export interface Message {
  readonly id?: number | string | undefined
  readonly method?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly result?: Readonly<Record<string, unknown>> | undefined
  readonly error?: { readonly code: number; readonly message: string } | undefined
}

export const parse = (text: string): Message => {
  const value = JsonText.parse(text)
  return typeof value === "object" && value !== null ? value : {}
}

export const request = (id: number | undefined, method: string, params: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })

export const isResponse = ({ error, id, method, result }: Message): boolean =>
  method === undefined && id !== undefined && (result !== undefined || error !== undefined)

/**
 * Returns the client for which a text of the server was made. The text has the name of a call, which begins with the name of the client.
 */
export const madeFor = (text: string): string | undefined => /"(?:[^"]* )?(c\d+)\/\d+\\?"/.exec(text)?.[1]

/** Returns the history's entry for a message outside of the streams that its client can resume. */
export const seen = (client: string, data: string): Seen => ({
  ...{ _tag: "Seen", at: now(), client, data },
  madeFor: madeFor(data)
})

/** Returns how a response ends a call. */
export const outcomeOf = ({ error, result }: Message): Outcome => {
  if (error !== undefined) return { type: "error", code: error.code, message: error.message }
  const [content] = (result?.content ?? []) as ReadonlyArray<{ readonly text?: string }>
  // Before revision 2025-06-18 a result has the answer only as text.
  const answer = result?.structuredContent ?? JsonText.parse(content?.text ?? "")
  const { echo, node, served } = (answer ?? {}) as Readonly<Record<string, string>>
  return echo === undefined || node === undefined || served === undefined
    ? { type: "error", code: 0 }
    : { type: "result", echo, served, node }
}

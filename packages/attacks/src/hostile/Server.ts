/**
 * A hostile server as data: what it sends instead of the answers of a well-behaved server. The data is the same for every transport:
 * `HostileServers` plays the server in memory, and `program` plays it over standard streams and HTTP.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Growing } from "../Growth.js"

/** One HTTP request to a hostile server. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: string
  /** The origin of the server. */
  readonly origin: string
  /** Another origin, which counts its requests. */
  readonly other: string
}

export interface ServerAttack extends Growing<ServerAttack> {
  readonly name: string
  /** The texts that the server sends when it receives a request of this method. Default: a well-behaved answer. */
  readonly on?: Readonly<Record<string, (id: string, params: any) => ReadonlyArray<string>>> | undefined
  /** What the server sends before anything else, over standard streams only. */
  readonly first?: ReadonlyArray<string> | undefined
  /** The era of the server. Default: legacy. */
  readonly era?: "modern" | undefined
  /** Answers an HTTP request itself. When it returns `false`, the request is answered as over every transport. */
  readonly http?: ((exchange: Exchange) => boolean) | undefined
  /** How many HTTP requests the client may send. Default: any number. */
  readonly atMost?: number | undefined
  /** What the client does. Default: it calls the tool `echo`. */
  readonly use?: "call" | "calls" | "list" | "all" | "connect" | "read" | "prompts" | "subscribe" | "stay" | undefined
  /** How the client's effect must end. Default: it may succeed or fail. */
  readonly expect?: "ok" | "fails" | undefined
  /** What the error of the client's effect must say. */
  readonly says?: RegExp | undefined
}

export const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

/** An object of many members. */
export const members = (count: number): string => `{${range(count).map((n) => `"k${n}":0`).join(",")}}`

export const wide = members(90_000)

export const result = (id: string, value: string): string => `{"jsonrpc":"2.0","id":${id},"result":${value}}`

export const error = (id: string, value: string): string => `{"jsonrpc":"2.0","id":${id},"error":${value}}`

export const notification = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","method":"${method}","params":${params}}`

export const request = (id: string, method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`

const prefix = "io.modelcontextprotocol/"

/** What a server of 2026-07-28 offers. */
export const discovered = (more = ""): string =>
  `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}}${more}}`

/** A result of 2026-07-28. `members` begin with a comma. */
export const complete = (id: string, members = "", ttlMs = "0"): string =>
  result(id, `{"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"private"${members}}`)

export const acknowledged = (id: string, filter: string): string =>
  notification(
    "notifications/subscriptions/acknowledged",
    `{"notifications":${filter},"_meta":{"${prefix}subscriptionId":${id}}}`
  )

const modern = (id: string, method: string, params: any): ReadonlyArray<string> => {
  if (method === "server/discover") return [complete(id, `,${discovered().slice(1, -1)}`)]
  if (method === "subscriptions/listen") return [acknowledged(id, JSON.stringify(params.notifications))]
  const value = good[method]
  return value === undefined
    ? [error(id, "{\"code\":-32601,\"message\":\"no\"}")]
    : [complete(id, `,${value.slice(1, -1)}`)]
}

const good: Readonly<Record<string, string>> = {
  "tools/list": `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`,
  "tools/call": `{"content":[{"type":"text","text":"hello"}]}`,
  "resources/read": `{"contents":[{"uri":"test://a","text":"a"}]}`,
  "prompts/list": `{"prompts":[]}`,
  ping: "{}"
}

export const initialized = (version = "2025-11-25"): string =>
  `{"protocolVersion":"${version}","capabilities":{"tools":{"listChanged":true},"resources":{},"prompts":{},"logging":{}},` +
  `"serverInfo":{"name":"hostile","version":"1"}}`

/** What a server sends when it receives a text. */
export const answers = (attack: ServerAttack, text: string): ReadonlyArray<string> => {
  const { id, method, params } = JSON.parse(text)
  if (method === undefined || id === undefined) return []
  const own = attack.on?.[method]
  if (own !== undefined) return own(JSON.stringify(id), params)
  if (attack.era === "modern") return modern(JSON.stringify(id), method, params)
  if (method === "initialize") return [result(JSON.stringify(id), initialized())]
  const value = good[method]
  return value === undefined
    ? [error(JSON.stringify(id), "{\"code\":-32601,\"message\":\"no\"}")]
    : [result(JSON.stringify(id), value)]
}

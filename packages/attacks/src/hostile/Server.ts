/**
 * How a hostile server is written down: what it sends instead of the answers of a well-behaved server. It is the same over
 * every transport; `Wires` and `program` carry it.
 */

export interface ServerAttack {
  readonly name: string
  /** The texts that it sends when it receives a request of this method. Default: a well-behaved answer. */
  readonly on?: Readonly<Record<string, (id: string, params: any) => ReadonlyArray<string>>> | undefined
  /** What it sends before anything else. */
  readonly first?: ReadonlyArray<string> | undefined
  /** What the client does. Default: it calls the tool `echo`. */
  readonly use?: "call" | "list" | "connect" | "read" | "prompts" | undefined
  /** Whether the client's effect may succeed, or may fail. Default: both may be. */
  readonly expect?: "ok" | "fails" | undefined
  /** Limits of the transports that carry it. Default: all. */
  readonly over?: ReadonlyArray<string> | undefined
}

export const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

export const result = (id: string, value: string): string => `{"jsonrpc":"2.0","id":${id},"result":${value}}`

export const error = (id: string, value: string): string => `{"jsonrpc":"2.0","id":${id},"error":${value}}`

export const notification = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","method":"${method}","params":${params}}`

export const request = (id: string, method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`

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
  if (method === "initialize") return [result(JSON.stringify(id), initialized())]
  const value = good[method]
  return value === undefined
    ? [error(JSON.stringify(id), "{\"code\":-32601,\"message\":\"no\"}")]
    : [result(JSON.stringify(id), value)]
}

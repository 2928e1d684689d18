/**
 * A hostile HTTP request as data: its bytes, and what the server must do with them. `HttpRequests` sends the bytes, and compares what the
 * server does.
 */
import type { Growing } from "../Growth.js"

export interface Context {
  /** An open session, for the request alone. */
  readonly session: string
  /** The session of another client. */
  readonly other: string
}

export interface HttpAttack extends Growing<HttpAttack> {
  readonly name: string
  /** The bytes, in the pieces in which they are sent. */
  readonly send: (context: Context) => ReadonlyArray<string | Uint8Array>
  /**
   * What the server may do: statuses of its responses in order ("400", "200 400"), "cut" when it closes the connection
   * without a response, "waits" when it waits for more.
   */
  readonly expect: ReadonlyArray<string>
  /** The code of the JSON-RPC error in the response. */
  readonly code?: number | undefined
}

export type Headers = Readonly<Record<string, string | undefined>>

export interface Parts {
  readonly method?: string | undefined
  readonly target?: string | undefined
  readonly version?: string | undefined
  /** Replaces headers, or removes them with `undefined`. */
  readonly headers?: Headers | undefined
  /** Lines that are added to the headers as they are. */
  readonly lines?: ReadonlyArray<string> | undefined
  readonly body?: string | Uint8Array | undefined
}

export const echo = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "echo", arguments: { text: "hello" } }
})

/** The bytes of a request: a valid call of `echo`, with the given parts replaced. */
export const request = ({ session }: Context, parts: Parts = {}): Uint8Array => {
  const { body = echo, headers = {}, lines = [], method = "POST", target = "/mcp", version = "HTTP/1.1" } = parts
  const bytes = Buffer.from(body)
  const all: Headers = {
    host: "localhost",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-session-id": session,
    "content-length": String(bytes.length),
    ...headers
  }
  const head = [
    `${method} ${target} ${version}`,
    ...Object.entries(all).flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}`]),
    ...lines
  ]
  return Buffer.concat([Buffer.from(head.join("\r\n") + "\r\n\r\n", "latin1"), bytes])
}

/** An attack that changes parts of a valid request. */
export const attack = (
  name: string,
  expect: string | ReadonlyArray<string>,
  parts: Parts | ((context: Context) => Parts),
  more: Partial<HttpAttack> = {}
): HttpAttack => ({
  name,
  expect: typeof expect === "string" ? [expect] : expect,
  send: (context) => [request(context, typeof parts === "function" ? parts(context) : parts)],
  ...more
})

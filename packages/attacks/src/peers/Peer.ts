/**
 * How a hostile client is written down: the texts that it sends after a handshake, and the answers that it must get. The
 * texts are the same over every transport; `Wire` says how they travel.
 */

/** The code of an error, or that there is a result, an error, any answer, or none. */
export type Expected = number | "result" | "error" | "answer" | "none"

export interface PeerAttack {
  readonly name: string
  /** The messages, as text. `scale` is smaller over HTTP, where each message is a request of its own. */
  readonly send: (scale: (count: number) => number) => ReadonlyArray<string>
  /** The answers, by id. */
  readonly expect: Readonly<Record<string, Expected>>
  /** Answers a request of the server with these messages. Default: not at all. */
  readonly onRequest?: ((request: any) => ReadonlyArray<string>) | undefined
  /** Sends these messages when a response arrives. */
  readonly onAnswer?: ((response: any) => ReadonlyArray<string> | Promise<ReadonlyArray<string>>) | undefined
  /** The revision of the handshake; `none` for no handshake. */
  readonly version?: string | undefined
  /** The transports that carry it. Default: all. */
  readonly over?: ReadonlyArray<string> | undefined
}

export const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

export const request = (id: unknown, method: string, params?: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })

export const notification = (method: string, params?: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method, params })

export const call = (id: unknown, name: string, args: object = {}): string =>
  request(id, "tools/call", { name, arguments: args })

export const one = (name: string, text: string, expected: Expected, more: Partial<PeerAttack> = {}): PeerAttack => ({
  name,
  send: () => [text],
  expect: { 1: expected },
  ...more
})

/** Many messages, after which a `ping` must be answered. */
export const flood = (
  name: string,
  count: number,
  message: (n: number) => string,
  more: Partial<PeerAttack> = {}
): PeerAttack => ({
  name: `${count} times: ${name}`,
  send: (scale) => [...range(scale(count)).map(message), request("last", "ping")],
  expect: { last: "result" },
  ...more
})

/** An object of many members, which costs much to describe. */
export const wide = (members: number): object => Object.fromEntries(range(members).map((n) => [`k${n}`, 0]))

export const deep = (levels: number): unknown => range(levels).reduce<unknown>((inner) => [inner], 1)

const prefix = "io.modelcontextprotocol/"

/** `_meta` of a request of 2026-07-28, but for the members that are replaced; `undefined` leaves one out. */
export const envelope = (more: Readonly<Record<string, unknown>> = {}): object => ({
  [`${prefix}protocolVersion`]: "2026-07-28",
  [`${prefix}clientInfo`]: { name: "client", version: "1" },
  [`${prefix}clientCapabilities`]: { elicitation: {} },
  ...Object.fromEntries(Object.entries(more).map(([key, value]) => [`${prefix}${key}`, value]))
})

/** A request of 2026-07-28. */
export const modern = (id: unknown, method: string, params: object = {}, _meta: unknown = envelope()): string =>
  request(id, method, { ...params, _meta })

export const modernCall = (id: unknown, name: string, more: object = {}): string =>
  modern(id, "tools/call", { name, arguments: {}, ...more })

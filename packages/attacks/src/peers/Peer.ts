/**
 * A hostile client as data: the texts that it sends after a handshake, and the answers that it must get. The texts are the same for every
 * transport; `Wire` sends them.
 */
import { type Growing, grows } from "../Growth.js"

/** What must come: an error with this code, a result, any error, any answer, or no answer. */
export type Expected = number | "result" | "error" | "answer" | "none"

export interface PeerAttack extends Growing<PeerAttack> {
  readonly name: string
  /** The messages, as text. */
  readonly send: () => ReadonlyArray<string>
  /** The attack that is played over HTTP instead, where each message is a request of its own. */
  readonly overHttp?: (() => PeerAttack) | undefined
  /** The answers, by id. */
  readonly expect: Readonly<Record<string, Expected>>
  /** Answers a request of the server with these messages. Default: not at all. */
  readonly onRequest?: ((request: any) => ReadonlyArray<string>) | undefined
  /** Sends these messages when a response arrives. */
  readonly onAnswer?: ((response: any) => ReadonlyArray<string> | Promise<ReadonlyArray<string>>) | undefined
  /** The revision of the handshake; `none` for no handshake. */
  readonly version?: string | undefined
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

/** One message with a value of any size. */
export const large = (
  name: string,
  size: number,
  text: (size: number) => string,
  expected: Expected,
  more: Partial<PeerAttack> = {}
): PeerAttack => grows(size, (size) => ({ name, send: () => [text(size)], expect: { 1: expected }, ...more }))

/** How many messages of a flood are sent over HTTP. */
const OVER_HTTP = 200

/** Many messages, and then a message with the id `last`, which must be answered. `at` makes all of these messages. */
export const many = (
  count: number,
  at: (count: number) => Pick<PeerAttack, "name" | "send">,
  more: Partial<PeerAttack> = {}
): PeerAttack => {
  const attack = (count: number): PeerAttack => ({
    expect: { last: "result" },
    isBounded: true,
    ...more,
    ...at(count)
  })
  return { ...grows(count, attack), overHttp: () => attack(Math.min(count, OVER_HTTP)) }
}

/** Many messages, after which a `ping` must be answered. */
export const flood = (
  name: string,
  count: number,
  message: (n: number) => string,
  more: Partial<PeerAttack> = {}
): PeerAttack =>
  many(count, (size) => ({
    name: `${count} times: ${name}`,
    send: () => [...range(size).map(message), request("last", "ping")]
  }), more)

/** An object of many members, which costs much to describe. */
export const wide = (members: number): object => Object.fromEntries(range(members).map((n) => [`k${n}`, 0]))

export const deep = (levels: number): unknown => range(levels).reduce<unknown>((inner) => [inner], 1)

const prefix = "io.modelcontextprotocol/"

/** `_meta` of a request of 2026-07-28, with replaced members; `undefined` leaves a member out. */
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

/**
 * One HTTP request and the ways to answer it: the interface between the endpoint, which knows no socket, and the HTTP server that has a
 * socket. `AppExchange` and `WebExchange` here, `NodeExchange` in the node package, and `nodes/ForwardedRequests` implement it.
 *
 * All members are plain functions, not effects, so that a request that is answered at once costs no fiber besides its handler's. Nobody
 * sets a member of an exchange: what the endpoint finds out about a request is in its `Stage.Passage`. What stands behind the stages of
 * the endpoint gets an `Answerable` or an `Admitted`.
 */
import type * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"
import type * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as Sse from "../../jsonrpc/Sse.js"
import type { Principal } from "../Authenticator.js"
import type { Brought } from "../runtime/RequestOrigin.js"
import type { BodyFault, OpenBody } from "./RequestBody.js"

/** Header fields by their names in lower case. Repeated fields are joined with ", ", so a check of a single value fails. */
export type Headers = Readonly<Record<string, string | undefined>>

/** What the HTTP server knows of a request. */
export interface Arrived extends Brought {
  readonly method: string
  /** Path and query, as the endpoint matches them. */
  readonly url: string
  /** The path that the client used, also where a router has removed its beginning. */
  readonly path: string
  readonly headers: Headers
  /** Names and values in turn, as the client has sent them; `undefined` where the platform does not keep them. */
  readonly rawHeaders: ReadonlyArray<string> | undefined
  /** The address of the other end of the connection, and whether the connection is encrypted, where the platform tells. */
  readonly remoteAddress?: string | undefined
  readonly encrypted?: boolean | undefined
  /** The span that the application's HTTP server has made of the request, or a span below it. */
  readonly span?: Tracer.AnySpan | undefined
}

export interface HttpExchange extends Arrived {
  /** Whether the client has disconnected: nothing reaches it any more. */
  readonly isGone: boolean
  /** Reads the body, once. Calls back at most once, and never when the client disconnects meanwhile. */
  readonly body: (into: OpenBody, then: (body: string | BodyFault) => void) => void
  /** Sends a complete answer, if the client is still connected. */
  readonly reply: (status: number, headers: Headers, body: string, slowReaders?: SlowReaders) => void
  /** Begins an answer in pieces. The headers leave at once; the reader is called only after this returns. */
  readonly stream: (status: number, headers: Headers, reader: Reader, slowReaders?: SlowReaders) => Writer
  /** Calls back when the client disconnects before it was answered. A listener replaces the listener before it. */
  readonly onGone: (listener: () => void) => void
  /**
   * For a request that arrived at another node and has not begun to run here: instead of answering, that node looks again for the node that
   * serves the session. With `isDraining` it waits until this node has given the session away.
   */
  readonly moved?: ((isDraining: boolean) => void) | undefined
  /** For a request that arrived at another node: from now on a part of it may have run. */
  readonly begins?: (() => void) | undefined
}

/** A request on its way through the endpoint. Its answer gets the headers that the endpoint adds to every answer. */
export interface Answerable extends Pick<HttpExchange, "headers" | "isGone" | "onGone"> {
  readonly arrived: Arrived
  readonly reply: (status: number, headers: Headers, body: string) => void
  readonly stream: (status: number, headers: Headers, reader: Reader) => Writer
}

/** A request whose user the endpoint has looked for: only such a request can be handed to what serves it. */
export interface Admitted extends Answerable, Pick<HttpExchange, "moved">, Admission {}

/** What is known of the sender of a request. */
export interface Admission {
  /** The id of the user, for sessions and limits. */
  readonly principal: Principal | undefined
  /** The user as a service. */
  readonly user: Context.Context<never> | undefined
  /** Calls back once when that user is no longer valid, unless the function that it returns is called before. */
  readonly watchUser: ((onEnd: () => void) => () => void) | undefined
}

/** How the endpoint treats readers that are slow. */
export interface SlowReaders {
  /** Sends a body that is longer than `PIECE` in pieces, as fast as the client takes them. */
  readonly sendLong: (exchange: Pick<HttpExchange, "stream">, status: number, headers: Headers, body: string) => void
  /**
   * Counts so many characters as not taken by the client, and calls back when `stallTimeout` has passed or the endpoint holds too
   * much, unless the function that it returns is called before.
   */
  readonly watch: (held: number, cut: () => void) => () => void
  /**
   * Keeps the deadlines of streams with a timer that belongs to the request that is running, until the function that it
   * returns is called: where the platform ends a timer with the request that started it, the shared timer may have ended.
   */
  readonly tick: () => () => void
}

/** How many characters of an answer are written at once. */
export const PIECE = 64 * 1024

/** The writing end of an answer in pieces. */
export interface Writer {
  /** Writes the text; `false` when the caller should wait until the reader has `drained`. */
  readonly write: (text: string) => boolean
  /** Ends the stream after what was written. */
  readonly end: () => void
  /** Ends the stream and its connection now; what was written may be lost. */
  readonly cut: () => void
}

/** What the implementation of an exchange reports about the client that reads an answer in pieces. */
export interface Reader {
  /** The client has taken what was written, after `write` returned `false`. */
  readonly drained: () => void
  /** The client has disconnected. Not called after `end` and `cut`. */
  readonly gone: () => void
}

/** Fields that a request has once. For some of these fields, Node's HTTP server keeps only the first value, unless it joins the values. */
const SINGLE = new Set([
  "authorization",
  "content-type",
  "host",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id",
  "origin"
])

/** The values of fields that may be sent only once and were repeated, joined; `undefined` when there are none. */
export const repeated = (rawHeaders: ReadonlyArray<string>): Headers | undefined => {
  let repeated: Record<string, string> | undefined
  const first = new Map<string, string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!SINGLE.has(name)) continue
    const before = first.get(name)
    const value = before === undefined ? rawHeaders[i + 1]! : `${before}, ${rawHeaders[i + 1]!}`
    first.set(name, value)
    if (before !== undefined) (repeated ??= {})[name] = value
  }
  return repeated
}

/** The same exchange, which passes on the messages that are read and sent. */
export const tapped = (
  exchange: HttpExchange,
  pass: (direction: "in" | "out", message: Message.Incoming) => void
): HttpExchange => {
  const shown = (direction: "in" | "out", text: string): void => {
    if (text !== "") pass(direction, MessageText.parse(text))
  }
  const { encrypted, headers, isLocal, method, path, rawHeaders, remoteAddress, services, span, url, values } = exchange
  return {
    method,
    url,
    path,
    headers,
    rawHeaders,
    services,
    remoteAddress,
    encrypted,
    isLocal,
    values,
    span,
    get isGone() {
      return exchange.isGone
    },
    onGone: (listener) => exchange.onGone(listener),
    body: (into, then) =>
      exchange.body(into, (read) => {
        if (typeof read === "string") shown("in", read)
        then(read)
      }),
    reply: (status, headers, text, slowReaders) => {
      shown("out", text)
      exchange.reply(status, headers, text, slowReaders)
    },
    stream: (status, headers, reader, slowReaders) => {
      const writer = exchange.stream(status, headers, reader, slowReaders)
      const [decoder, encoder] = [new Sse.Decoder(), new TextEncoder()]
      return {
        write: (text) => {
          for (const event of decoder.push(encoder.encode(text))) if ("data" in event) shown("out", event.data ?? "")
          return writer.write(text)
        },
        end: () => writer.end(),
        cut: () => writer.cut()
      }
    }
  }
}

/** The headers of an answer that have a value. */
export const present = (headers: Headers): Record<string, string> => {
  const all: Record<string, string> = {}
  for (const name in headers) {
    if (headers[name] !== undefined) all[name] = headers[name]
  }
  return all
}

/** The path of a path and query. */
export const pathOf = (url: string): string => {
  const query = url.indexOf("?")
  return query === -1 ? url : url.slice(0, query)
}

/** MUST answer 202 without a body to a message that gets no response (2025-11-25 basic/transports). */
export const accepted = (exchange: Answerable): void => exchange.reply(202, {}, "")

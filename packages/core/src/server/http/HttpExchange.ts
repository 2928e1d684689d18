/**
 * One HTTP request, and the functions that answer it. It is the interface between the endpoint, which has no sockets, and the HTTP server,
 * which has them. `AppExchange`, `WebExchange`, and `NodeExchange` of the node package, each implement it for a platform;
 * `nodes/ForwardedRequests` implements it for a request that arrived at another node.
 *
 * All members are plain functions, not effects, so that a request that is answered at once costs no fiber except the fiber of its handler.
 * The endpoint never sets a member of an exchange. Everything that the endpoint finds out about a request is in the request's
 * `Stage.Passage`. After the stages, code of the endpoint gets the request as an `Answerable` or as an `Admitted`.
 */
import type * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"
import type * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as Sse from "../../jsonrpc/Sse.js"
import type { Principal } from "../Authenticator.js"
import type { Brought } from "../runtime/RequestOrigin.js"
import type { BodyFault, OpenBody } from "./RequestBody.js"

/** Header fields by their names in lower case. Repeated fields are joined with ", ", so a check that expects a single value fails. */
export type Headers = Readonly<Record<string, string | undefined>>

/** Everything that the HTTP server knows of a request. */
export interface Arrived extends Brought {
  readonly method: string
  /** The path and the query, as the endpoint compares them with its own path. */
  readonly url: string
  /** The path that the client used. It is the whole path, also where a router has removed the beginning of `url`. */
  readonly path: string
  readonly headers: Headers
  /**
   * The names and the values of the header fields in turn, as the client has sent them; `undefined` where the platform does not keep them.
   */
  readonly rawHeaders: ReadonlyArray<string> | undefined
  /**
   * The address of the other end of the connection; `undefined` where the platform does not give it. `encrypted` says whether the
   * connection is encrypted.
   */
  readonly remoteAddress?: string | undefined
  readonly encrypted?: boolean | undefined
  /** The span that the application's HTTP server has made for the request, or a span below it; `undefined` where there is no span. */
  readonly span?: Tracer.AnySpan | undefined
}

export interface HttpExchange extends Arrived {
  /** Whether the client has disconnected. Nothing reaches a client that has disconnected. */
  readonly isGone: boolean
  /** Reads the body; may be called once. It calls `then` at most once, and never when the client disconnects before. */
  readonly body: (into: OpenBody, then: (body: string | BodyFault) => void) => void
  /** Sends a complete answer, if the client is still connected. */
  readonly reply: (status: number, headers: Headers, body: string, slowReaders?: SlowReaders) => void
  /**
   * Begins an answer that is written in pieces. The headers leave at once. Functions of the reader are called only after `stream` has
   * returned.
   */
  readonly stream: (status: number, headers: Headers, reader: Reader, slowReaders?: SlowReaders) => Writer
  /** Calls the listener when the client disconnects before it was answered. A later listener replaces an earlier listener. */
  readonly onGone: (listener: () => void) => void
  /**
   * Only for a request that arrived at another node and has not begun to run here. The request is not answered here: the other node looks
   * again for the node that serves the session. With `isDraining`, the other node waits until this node has given the session away.
   */
  readonly moved?: ((isDraining: boolean) => void) | undefined
  /** Only for a request that arrived at another node. Call it before a part of the request runs. */
  readonly begins?: (() => void) | undefined
}

/** A request that passes through the endpoint. Its answer also gets the headers that the endpoint adds to every answer. */
export interface Answerable extends Pick<HttpExchange, "headers" | "isGone" | "onGone"> {
  readonly arrived: Arrived
  readonly reply: (status: number, headers: Headers, body: string) => void
  readonly stream: (status: number, headers: Headers, reader: Reader) => Writer
}

/** A request whose user the endpoint has found. Only such a request can be given to a transport. */
export interface Admitted extends Answerable, Pick<HttpExchange, "moved">, Admission {}

/** What is known of the sender of a request. */
export interface Admission {
  /** The id of the user, for sessions and limits; `undefined` for an anonymous user, and on a server without users. */
  readonly principal: Principal | undefined
  /** The user as a service; `undefined` on a server without users. */
  readonly user: Context.Context<never> | undefined
  /**
   * Calls `onEnd` once when the user is no longer valid, unless the function that it returns is called before. `undefined` where the user
   * stays valid.
   */
  readonly watchUser: ((onEnd: () => void) => () => void) | undefined
}

/** How the endpoint treats readers that are slow. */
export interface SlowReaders {
  /** Sends a body of more than `PIECE` characters in pieces, as fast as the client takes them. */
  readonly sendLong: (exchange: Pick<HttpExchange, "stream">, status: number, headers: Headers, body: string) => void
  /**
   * Counts `held` characters as not taken by the client. It calls `cut` when the client takes nothing for `stallTimeout`, or when the
   * endpoint holds too much text. Call the function that it returns when the client has taken the text.
   */
  readonly watch: (held: number, cut: () => void) => () => void
  /**
   * Keeps the deadlines of streams with a timer that belongs to the running request, until the function that it returns is called. Some
   * platforms end a timer together with the request that started it, so the timer that all requests share may have ended.
   */
  readonly tick: () => () => void
}

/** How many characters of an answer are written at a time. */
export const PIECE = 64 * 1024

/** The functions that write an answer in pieces. */
export interface Writer {
  /** Writes the text. Gives `false` when the caller should write no more before `drained` of the reader is called. */
  readonly write: (text: string) => boolean
  /** Ends the stream after everything that was written. */
  readonly end: () => void
  /** Ends the stream and its connection now. Text that was written may be lost. */
  readonly cut: () => void
}

/** The functions by which an exchange tells the endpoint of the client that reads an answer in pieces. */
export interface Reader {
  /** The client has taken everything that was written. It is called only after `write` has returned `false`. */
  readonly drained: () => void
  /** The client has disconnected. It is never called after `end` or `cut`. */
  readonly gone: () => void
}

/**
 * The fields that a request may have only once. Of some of these fields, Node's HTTP server keeps only the first value, unless its option
 * to join the values is set.
 */
const SINGLE = new Set([
  "authorization",
  "content-type",
  "host",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id",
  "origin"
])

/** The joined values of the fields that may be sent only once and were repeated; `undefined` when there are no such fields. */
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

/** The same exchange. It also calls `pass` with each message that is read or sent. */
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

/** The path without the query. */
export const pathOf = (url: string): string => {
  const query = url.indexOf("?")
  return query === -1 ? url : url.slice(0, query)
}

/** MUST answer 202 without a body to a message that gets no response (2025-11-25 basic/transports). */
export const accepted = (exchange: Answerable): void => exchange.reply(202, {}, "")

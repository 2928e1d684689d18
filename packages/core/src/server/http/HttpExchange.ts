/**
 * One HTTP request, and the functions that answer the request. This is the interface between the endpoint, which has no sockets, and the
 * HTTP server, which has the sockets. `AppExchange`, `WebExchange`, and `NodeExchange` of the node package implement this interface, each
 * for one platform. `nodes/ForwardedRequests` implements it for a request that arrived at another node.
 *
 * All members are plain functions, not effects. So a request needs no fiber except the fiber of its handler. The endpoint never sets a
 * member of an exchange. It stores the facts that it finds about a request in a `Stage.Passage`. After the stages, code of the endpoint
 * gets the request as an `Answerable` or as an `Admitted`.
 */
import type * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"
import type * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as Sse from "../../jsonrpc/Sse.js"
import type { Principal } from "../Authenticator.js"
import type { Brought } from "../runtime/RequestOrigin.js"
import type { BodyFault, OpenBody } from "./RequestBody.js"

/** Header fields by their names in lower case. The values of repeated fields are joined with ", ". */
export type Headers = Readonly<Record<string, string | undefined>>

/** The facts about a request that the HTTP server gives. */
export interface Arrived extends Brought {
  readonly method: string
  /** The path and the query, in the form in which the endpoint compares them with its own path. */
  readonly url: string
  /** The whole path in the client's request. A router may have removed the beginning of `url`, but not of this path. */
  readonly path: string
  readonly headers: Headers
  /**
   * The header fields as the client has sent them: name, value, name, value, and so on; `undefined` where the platform does not keep them.
   */
  readonly rawHeaders: ReadonlyArray<string> | undefined
  /**
   * The address of the other end of the connection; `undefined` where the platform does not give it. `encrypted` says whether the
   * connection is encrypted.
   */
  readonly remoteAddress?: string | undefined
  readonly encrypted?: boolean | undefined
  /** The span that the application's HTTP server has made for the request, or a child of this span; `undefined` where there is no span. */
  readonly span?: Tracer.AnySpan | undefined
}

export interface HttpExchange extends Arrived {
  /** Whether the client has disconnected. Nothing reaches a client that has disconnected. */
  readonly isGone: boolean
  /** Reads the body. Call this function only once. It calls `then` at most once, and never after the client has disconnected. */
  readonly body: (into: OpenBody, then: (body: string | BodyFault) => void) => void
  /** Sends a complete answer, if the client is still connected. */
  readonly reply: (status: number, headers: Headers, body: string, slowReaders?: SlowReaders) => void
  /**
   * Begins an answer that the endpoint writes in pieces. Sends the headers immediately. Calls the functions of `reader` only after `stream`
   * has returned.
   */
  readonly stream: (status: number, headers: Headers, reader: Reader, slowReaders?: SlowReaders) => Writer
  /** Calls the listener when the client disconnects before the answer. A later listener replaces an earlier listener. */
  readonly onGone: (listener: () => void) => void
  /**
   * Gives a request back to the node where it arrived, which then searches again for the node of the session. Exists only for a request
   * that another node has passed on and that has not begun to run here. With `isDraining`, the other node waits until this node has
   * released the session.
   */
  readonly moved?: ((isDraining: boolean) => void) | undefined
  /**
   * Tells the exchange that the request begins to run at this node. Call this function before a part of the request runs. Exists only for a
   * request that another node has passed on.
   */
  readonly begins?: (() => void) | undefined
}

/** A request in the endpoint. The endpoint adds its own headers to the answer. */
export interface Answerable extends Pick<HttpExchange, "headers" | "isGone" | "onGone"> {
  readonly arrived: Arrived
  readonly reply: (status: number, headers: Headers, body: string) => void
  readonly stream: (status: number, headers: Headers, reader: Reader) => Writer
}

/** An authenticated request. Only such a request can go to a transport. */
export interface Admitted extends Answerable, Pick<HttpExchange, "moved">, Admission {}

/** The facts about the sender of a request. */
export interface Admission {
  /** The id of the user, for sessions and limits; `undefined` for an anonymous user, and on a server without users. */
  readonly principal: Principal | undefined
  /** The user as a service; `undefined` on a server without users. */
  readonly user: Context.Context<never> | undefined
  /**
   * Calls `onEnd` once when the user is no longer valid. Returns a function that stops watching. `undefined` where the user stays valid.
   */
  readonly watchUser: ((onEnd: () => void) => () => void) | undefined
}

/** The functions of the endpoint for clients that read slowly. */
export interface SlowReaders {
  /** Sends a body of more than `PIECE` characters in pieces, as fast as the client reads them. */
  readonly sendLong: (exchange: Pick<HttpExchange, "stream">, status: number, headers: Headers, body: string) => void
  /**
   * Counts `held` characters as not read by the client. Calls `cut` when the client reads nothing for `stallTimeout`, or when the endpoint
   * holds too much text. Returns a function: call it when the client has read the text.
   */
  readonly watch: (held: number, cut: () => void) => () => void
  /**
   * Starts a timer for the deadlines of streams, for the current request. Returns a function that stops this timer. An exchange needs its
   * own timer on a platform that ends a timer together with the request that started the timer. On such a platform, the timer that all
   * requests share may have ended.
   */
  readonly tick: () => () => void
}

/** How many characters of an answer the endpoint writes at a time. */
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

/** The functions with which an exchange tells the endpoint how the client reads an answer in pieces. */
export interface Reader {
  /** The client has read all written text. The exchange calls this function only after `write` has returned `false`. */
  readonly drained: () => void
  /** The client has disconnected. The exchange never calls this function after `end` or `cut`. */
  readonly gone: () => void
}

/**
 * The fields that a request may have only once. For some of them, Node's HTTP server keeps only the first value by default.
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

/** Gives the joined values of repeated fields that a request may have only once; `undefined` when there are no such fields. */
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

/** Makes an exchange that also calls `pass` with each message that the endpoint reads or sends. */
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

/** Gives the headers of an answer that have a value. */
export const present = (headers: Headers): Record<string, string> => {
  const all: Record<string, string> = {}
  for (const name in headers) {
    if (headers[name] !== undefined) all[name] = headers[name]
  }
  return all
}

/** Gives the path without the query. */
export const pathOf = (url: string): string => {
  const query = url.indexOf("?")
  return query === -1 ? url : url.slice(0, query)
}

/** MUST answer 202 without a body to a message that gets no response (2025-11-25 basic/transports). */
export const accepted = (exchange: Answerable): void => exchange.reply(202, {}, "")

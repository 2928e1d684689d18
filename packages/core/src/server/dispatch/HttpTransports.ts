/**
 * All HTTP transports of one `Endpoint`. This module finds the transport that serves a path, and ends the transports when the endpoint
 * closes. `legacy/Http` (with sessions) or `legacy/Stateless` (without sessions) serves legacy messages (revisions up to 2025-11-25).
 * `modern/Http` serves modern messages (revision 2026-07-28). `legacy/Sse` has a separate path.
 *
 * Legacy and modern messages use the same path, so this module chooses the transport of each POST. A server that supports only legacy or
 * only modern messages refuses the other messages. From the error, a client that supports legacy and modern messages learns which messages
 * to send.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import * as Effect from "effect/Effect"
import * as Message from "../../jsonrpc/Message.js"
import { encode } from "../../jsonrpc/Sse.js"
import * as McpError from "../../protocol/McpError.js"
import * as Version from "../../protocol/Version.js"
import { type Admitted, type Answerable, type Arrived, pathOf } from "../http/HttpExchange.js"
import type * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import * as SessionId from "../http/SessionId.js"
import { Http } from "../legacy/Http.js"
import type { HttpContext } from "../legacy/HttpContext.js"
import * as Sse from "../legacy/Sse.js"
import * as Stateless from "../legacy/Stateless.js"
import * as ModernHttp from "../modern/Http.js"
import type { Sessions } from "../nodes/Nodes.js"
import type { Routed } from "../nodes/Routing.js"
import type { Entrances } from "./Dispatch.js"
import type { Draining } from "./Draining.js"
import * as EraOfMessage from "./EraOfMessage.js"

type Serve = (exchange: Admitted) => void

/**
 * Serves a POST. `requires` are the authorization scopes that the messages of the POST require; `undefined` where they require no scopes.
 */
type Post = (exchange: Admitted, incoming: Message.Incoming, requires: ReadonlyArray<string> | undefined) => void

/** The functions that serve the requests to one path. */
export interface ServedPath {
  readonly allow: string
  readonly get: Serve | undefined
  readonly delete: Serve | undefined
  /**
   * The form (JSON or event stream) that the endpoint prefers for the response to a POST; `undefined` where the response to a POST has no
   * content.
   */
  readonly responses: MediaType.Form | undefined
  readonly post: Post
  /** Whether this node serves the session that a request names. */
  readonly hasSession: (request: Arrived) => boolean
  /**
   * Gives the function that passes a request on to the node that serves the session; `undefined` when this node serves the session, or when
   * the request names no session.
   */
  readonly toOwner: (request: Arrived) => ((request: Routed) => void) | undefined
}

export interface HttpTransports {
  /** Finds the functions that serve a URL; `undefined` when no transport has the path of the URL. */
  readonly find: (url: string) => ServedPath | undefined
  /** The sessions of this node, for the code that passes requests between nodes. */
  readonly sessions: Omit<Sessions, "handle">
  /** From now on this node does not take over sessions of other nodes. */
  readonly drain: () => void
  /** While the endpoint drains: ends all streams and sessions without a running request. Gives `true` when no request runs any more. */
  readonly release: () => boolean
  /** Interrupts and answers all running requests, and waits until the sessions have ended. */
  readonly close: Effect.Effect<void>
  /** The number of open sessions. */
  readonly size: () => number
}

export const make = (context: HttpContext, entrances: Entrances, draining: Draining): HttpTransports => {
  const { legacy, modern: serving, requests, versions } = entrances
  const { nodes, options: { path, retry, sessions, ssePath } } = context
  const http = legacy !== undefined && sessions ? new Http(context) : undefined
  const stateless = legacy === undefined || sessions ? undefined : Stateless.make(context, requests, legacy)
  const sse = ssePath === undefined || legacy === undefined ? undefined : Sse.make(context)
  const modern = serving && ModernHttp.make(context, requests, serving, versions)
  const main = mainPath(context, http, byEra(http?.post, stateless?.post, modern?.post, versions, draining))
  const ofSse = sse && pathOfSse(context, sse)
  const [mainAt, sseAt] = [path && withoutSlash(path), ssePath && withoutSlash(ssePath)]
  return {
    find: (url) => {
      if (url === path) return main
      const at = withoutSlash(pathOf(url))
      if (ofSse !== undefined && at === sseAt) return ofSse
      return path === undefined || at === mainAt ? main : undefined
    },
    sessions: {
      has: (id) => http?.has(id) === true,
      ids: () => http?.ids() ?? [],
      adopt: (entry, membership) => http?.adopt(entry, membership) !== false,
      abandon: () => {
        http?.abandon()
        sse?.abandon()
      }
    },
    drain: () => {
      nodes?.drain(encode({ retry }))
      http?.drain()
    },
    release: () => {
      // `release` runs several times. Another subscription may have begun since the last run.
      modern?.endSubscriptions()
      const released = [http?.release(), sse?.release(), nodes?.isIdle(), !stateless?.size(), !modern?.size()]
      return !released.includes(false)
    },
    close: Effect.suspend(() => {
      stateless?.close()
      modern?.close()
      const sessions = [http?.close ?? Effect.void, sse?.close ?? Effect.void]
      return Effect.all(sessions, { concurrency: "unbounded", discard: true })
    }),
    size: () => (http?.size ?? 0) + (sse?.size() ?? 0)
  }
}

const mainPath = (
  { nodes, options: { responses } }: HttpContext,
  http: Http | undefined,
  post: Post
): ServedPath => ({
  allow: http === undefined ? "POST, OPTIONS" : "GET, POST, DELETE, OPTIONS",
  get: http?.get,
  delete: http?.delete,
  responses,
  post,
  hasSession: ({ headers }) => http?.has(headers["mcp-session-id"] ?? "") === true,
  toOwner: ({ headers }) => {
    if (nodes === undefined || http === undefined) return undefined
    const session = headers["mcp-session-id"] ?? ""
    if (http.has(session) || !SessionId.isSession(session)) return undefined
    return (request) => nodes.toSession(session, request)
  }
})

/** Makes the path of HTTP+SSE. Only revision 2024-11-05 has this transport, so every message is legacy. */
const pathOfSse = ({ nodes }: HttpContext, sse: Sse.SseEndpoint): ServedPath => ({
  allow: "GET, POST, OPTIONS",
  get: sse.get,
  delete: undefined,
  responses: undefined,
  post: sse.post,
  hasSession: ({ url }) => sse.has(Sse.sessionOf(url) ?? ""),
  toOwner: ({ method, url }) => {
    const session = nodes !== undefined && method === "POST" ? Sse.sessionOf(url) : undefined
    const node = session === undefined || sse.has(session) ? undefined : Sse.nodeOf(session)
    return node === undefined ? undefined : (request) => nodes!.toNode(node, request)
  }
})

/** Removes the slash at the end of a path: "/mcp/" is the same path as "/mcp". Some clients add a slash to the URL of the server. */
const withoutSlash = (path: string): string => path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path

/** Makes the function that serves POSTs: legacy messages, modern messages, or both. `session` serves the legacy messages of sessions. */
const byEra = (
  session: Post | undefined,
  stateless: Post | undefined,
  modern: Post | undefined,
  versions: ReadonlyArray<string>,
  draining: Draining
): Post => {
  const legacy = session ?? stateless
  const choose = EraOfMessage.chooser(versions)
  return (exchange, incoming, requires) => {
    const header = exchange.headers["mcp-protocol-version"]
    const era = Message.isMalformed(incoming) || Message.isResponse(incoming)
      ? header === undefined ? "legacy" : Version.eraOf(header)
      : choose(incoming, header)
    // MUST answer 400 to an unsupported revision (2025-11-25 basic/transports#protocol-version-header)
    if (typeof era === "object") return refuse(exchange, incoming, era, legacy === undefined ? "modern" : "legacy")
    const post = era === "modern" ? modern ?? legacy : legacy ?? modern
    // Any other node can serve a POST without a session.
    if (draining.hasBegun && post !== session) return Refusal.send(exchange, Refusal.closing)
    post!(exchange, incoming, requires)
  }
}

const refuse = (
  exchange: Answerable,
  incoming: Message.Incoming,
  error: McpError.McpError,
  era: Version.Era
): void => {
  const id = !Message.isMalformed(incoming) && Message.isRequest(incoming) ? incoming.id : undefined
  Refusal.failure(exchange, 400, Message.failure(id, McpError.toWire(error, era)))
}

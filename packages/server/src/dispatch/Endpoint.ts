/**
 * The server's HTTP endpoint: checks Host and Origin, finds the path, authenticates the client, finds the node of its session, reads
 * the body. `EraOfPost` passes legacy messages to `legacy/Http` or `legacy/Stateless`, and modern messages to `modern/Http`;
 * `legacy/Sse` has a path of its own.
 *
 * `HttpEndpoint`, `WebHandler`, and `HttpServer` and `NodeHandler` of the node package, call it with an `HttpExchange` for each
 * request. They own the sockets; the dispatcher owns the fibers of the handlers.
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import * as Events from "@effect-mcp/jsonrpc/Sse"
import * as Era from "@effect-mcp/protocol/Era"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { Caller, Refuses } from "../Authenticator.js"
import { Dispatcher } from "../Dispatcher.js"
import * as Documents from "../http/Documents.js"
import * as EndpointContext from "../http/EndpointContext.js"
import * as Guard from "../http/Guard.js"
import * as Health from "../http/Health.js"
import type { Headers, HttpExchange } from "../http/HttpExchange.js"
import { pathOf, repeated } from "../http/HttpExchange.js"
import * as MediaType from "../http/MediaType.js"
import * as PostHeaders from "../http/PostHeaders.js"
import * as Refusal from "../http/Refusal.js"
import type { HttpOptions } from "../HttpOptions.js"
import * as Http from "../legacy/Http.js"
import * as HttpContext from "../legacy/HttpContext.js"
import * as SessionFacts from "../legacy/SessionFacts.js"
import * as Sse from "../legacy/Sse.js"
import * as Stateless from "../legacy/Stateless.js"
import * as ModernHttp from "../modern/Http.js"
import type { Routed } from "../nodes/Routing.js"
import type { Principal } from "../Principal.js"
import * as Metrics from "../runtime/Metrics.js"
import * as Permission from "../runtime/Permission.js"
import * as RefusalFault from "../runtime/RefusalFault.js"
import * as Reply from "../runtime/Reply.js"
import * as SecretId from "../runtime/SecretId.js"
import type { Entrances } from "./Dispatch.js"
import * as EraOfPost from "./EraOfPost.js"
import * as Leaving from "./Leaving.js"

export interface Endpoint {
  /** Answers a request, at once or later. */
  readonly handle: (exchange: HttpExchange) => void
  /**
   * Ends the endpoint before its scope does, after `drain`: streams end, running requests are interrupted and answered with
   * -32000, new requests are refused with 503. Waits until the sessions have ended, for `closeTimeout` at most. Can be run
   * again.
   */
  readonly close: Effect.Effect<void>
  /**
   * Is not ready from now on, and serves as before for the time that load balancers get. Then it refuses new requests with 503,
   * gives its sessions to other nodes, and waits until no request runs, for `drainTimeout` at most. Can be run again.
   */
  readonly drain: Effect.Effect<void>
  /** How many sessions there are, those of HTTP+SSE included. */
  readonly sessions: () => number
}

/** An endpoint that serves until the scope closes. With an `EventStore` in the context, clients can resume streams. */
export const make = (
  options: HttpOptions = {}
): Effect.Effect<Endpoint, never, Dispatcher | Scope.Scope> =>
  Effect.gen(function*() {
    // `McpServer.layer` provides every dispatcher.
    const entrances = (yield* Dispatcher) as Entrances
    yield* entrances.listening
    const context = yield* Effect.flatMap(
      EndpointContext.make(options),
      (context) => HttpContext.make(context, entrances.versions.filter(Version.isLegacy), entrances.open)
    )
    const { nodes, sweeper } = context
    const isMember = () => nodes === undefined || nodes.place() !== undefined
    const health = yield* Health.make(options, sweeper, isMember)
    const made = yield* Metrics.timed(endpoint(context, entrances, Guard.make(options), health), () => sweeper.now())
    yield* Metrics.sessions.observe(made.sessions)
    yield* Metrics.streams.observe(() => context.openStreams)
    yield* Effect.addFinalizer(() => made.close)
    return made
  })

type Serve = (exchange: HttpExchange, principal: Principal | undefined) => void

/** How requests to one path are served. */
interface ServedPath {
  readonly allow: string
  readonly get: Serve | undefined
  readonly delete: Serve | undefined
  /** The media types that a POST must accept; `undefined` when its headers accept them. */
  readonly accepts: (headers: Headers) => string | undefined
  readonly post: (exchange: HttpExchange, incoming: Message.Incoming, principal: Principal | undefined) => void
}

const endpoint = (
  context: HttpContext.HttpContext,
  { authenticate, documents: ofAuthenticator, legacy, modern: serving, requests, requiredScopes, versions }: Entrances,
  guard: Guard.Guard,
  health: Health.Health | undefined
): Endpoint => {
  const { options } = context
  const { maxBodyBytes, path, responses, sessions, ssePath } = options
  const documents = Documents.make(guard, ofAuthenticator, options.documents)
  const http = legacy !== undefined && sessions ? Http.make(context) : undefined
  const stateless = legacy === undefined || sessions ? undefined : Stateless.make(context, requests, legacy)
  const sse = ssePath === undefined || legacy === undefined ? undefined : Sse.make(context)
  const modern = serving && ModernHttp.make(context, requests, serving, versions)
  let closing = false
  let addedToAll: Headers | undefined
  /** Whether the operator has been warned of a request whose Host or Origin was refused. */
  let hasWarned = false
  /** Whether closing has gone on without sessions that did not end in time. */
  let abandoned = false

  const { nodes } = context
  const leaving = Leaving.make({
    timeout: options.drainTimeout ?? (nodes === undefined ? 0 : Leaving.TIMEOUT),
    hasOthers: nodes !== undefined,
    begin: () => {
      nodes?.leave(Events.encode({ retry: options.retry }))
      http?.leave()
    },
    release: () => {
      // A subscription may have been beginning until now.
      modern?.endSubscriptions()
      const released = [http?.release(), sse?.release(), nodes?.isIdle(), !stateless?.size(), !modern?.size()]
      return !released.includes(false)
    }
  })

  /** Nothing of the request is at this node: any other one can serve it. */
  const unlessDraining = (post: EraOfPost.Post): EraOfPost.Post => (exchange, incoming, principal) =>
    leaving.hasBegun() ? Refusal.send(exchange, Refusal.closing) : post(exchange, incoming, principal)

  const main: ServedPath = {
    allow: http === undefined ? "POST, OPTIONS" : "GET, POST, DELETE, OPTIONS",
    get: http?.get,
    delete: http?.delete,
    accepts: ({ accept }) => {
      const { events, json } = MediaType.accepted(accept)
      if (json && (events || responses === "json")) return undefined
      return responses === "json" ? "application/json" : "application/json and text/event-stream"
    },
    post: EraOfPost.post(
      http?.post ?? (stateless && unlessDraining(stateless.post)),
      modern && unlessDraining(modern.post),
      versions
    )
  }
  // Only 2024-11-05 has this transport, so there is no era to choose.
  const ofSse: ServedPath | undefined = sse === undefined ? undefined : {
    allow: "GET, POST, OPTIONS",
    get: sse.get,
    delete: undefined,
    accepts: () => undefined,
    post: sse.post
  }

  const mainPath = path === undefined ? undefined : withoutSlash(path)
  const pathOfSse = ssePath === undefined ? undefined : withoutSlash(ssePath)
  const find = (url: string): ServedPath | undefined => {
    if (url === path) return main
    const at = withoutSlash(pathOf(url))
    if (ofSse !== undefined && at === pathOfSse) return ofSse
    return path === undefined || at === mainPath ? main : undefined
  }

  /**
   * Serves a request whose user was found: here, or at the node of its session. A session that `isNowhere` was looked for in vain:
   * its request gets the refusal of an unknown session. `given` is the body, if it was read before.
   */
  const serve = (
    exchange: HttpExchange,
    target: ServedPath,
    principal: Principal | undefined,
    isNowhere = false,
    given?: string
  ): void => {
    // Closing may have begun while the client was authenticated.
    if (closing) return Refusal.send(exchange, Refusal.closing)
    if (exchange.method !== "POST") {
      const refused = Permission.refusal(exchange.user, [])
      if (refused !== undefined) return refuse(exchange, refused)
      if (!isNowhere && isServedElsewhere(exchange, target, principal)) return
      exchange.begins?.()
      return (exchange.method === "GET" ? target.get! : target.delete!)(exchange, principal)
    }
    const refusal = PostHeaders.refusal(exchange.headers, target.accepts(exchange.headers), maxBodyBytes)
    if (refusal !== undefined) return Refusal.send(exchange, refusal)
    if (!isNowhere && isServedElsewhere(exchange, target, principal, given)) return
    const post = (body: string) => {
      if (closing) return Refusal.send(exchange, Refusal.closing)
      // The session may have left this node while the body arrived.
      if (!isNowhere && isServedElsewhere(exchange, target, principal, body)) return
      const incoming = MessageText.parse(body, options)
      const refused = exchange.user === undefined
        ? undefined
        : Permission.refusal(exchange.user, requiredScopes(incoming))
      if (refused !== undefined) return refuse(exchange, refused, incoming)
      exchange.begins?.()
      target.post(exchange, incoming, principal)
    }
    if (given !== undefined) post(given)
    else read(exchange, post)
  }

  const read = (exchange: HttpExchange, then: (body: string) => void): void =>
    exchange.body(maxBodyBytes, (body) => {
      if (typeof body !== "string") return Refusal.send(exchange, Refusal.ofBody(body, maxBodyBytes))
      then(body)
    })

  /** What finds the node of a request whose session this node does not serve. */
  const elsewhere = (
    { headers, method, url }: HttpExchange,
    target: ServedPath
  ): ((request: Routed) => void) | undefined => {
    if (nodes === undefined) return undefined
    if (target === main) {
      const session = headers["mcp-session-id"] ?? ""
      if (http === undefined || http.has(session) || !SecretId.isSession(session)) return undefined
      return (request) => nodes.toSession(session, request)
    }
    const session = method === "POST" ? Sse.sessionOf(url) : undefined
    const node = session === undefined || sse!.has(session) ? undefined : Sse.nodeOf(session)
    return node === undefined ? undefined : (request) => nodes.toNode(node, request)
  }

  const isElsewhere = (exchange: HttpExchange, target: ServedPath): boolean => elsewhere(exchange, target) !== undefined

  /**
   * Whether this node does not serve the session of a request. Then the request goes to the node that does; nothing of the request
   * has run here. A POST is not read before there is such a session.
   */
  const isServedElsewhere = (
    exchange: HttpExchange,
    target: ServedPath,
    principal: Principal | undefined,
    body?: string
  ): boolean => {
    const to = elsewhere(exchange, target)
    if (to === undefined) return false
    if (exchange.elsewhere !== undefined) exchange.elsewhere(leaving.hasBegun())
    else if (leaving.hasBegun()) Refusal.send(exchange, Refusal.closing)
    else {
      to({
        exchange,
        isOfAnother: ({ facts }) => SessionFacts.areOfAnother(facts, principal?.id),
        read: exchange.method !== "POST" ? undefined : (then) => body === undefined ? read(exchange, then) : then(body),
        local: (given = body) => serve(exchange, target, principal, isElsewhere(exchange, target), given)
      })
    }
    return true
  }

  const refuse = (exchange: HttpExchange, refused: Refuses, incoming?: Message.Incoming): void => {
    const refusal = Refusal.of(refused)
    const fault = RefusalFault.of(refusal)
    if (fault !== undefined) {
      Runtime.runFork(context.runtime, Effect.logError(fault.message))
      return Refusal.send(exchange, Refusal.failed)
    }
    if (incoming === undefined || Message.isMalformed(incoming) || !Message.isRequest(incoming)) {
      return Refusal.send(exchange, refusal)
    }
    const error = Reply.errorOf(refusal, Era.ofMessage(incoming, exchange.headers["mcp-protocol-version"]))
    Refusal.failure(exchange, refusal.status, Message.failure(incoming.id, error), refusal.headers)
  }

  const authenticated = (exchange: HttpExchange, target: ServedPath): void => {
    if (authenticate === undefined) return serve(exchange, target, undefined)
    let waiting = true
    const interrupt = authenticate(callerOf(exchange), (found) => {
      waiting = false
      if (Either.isRight(found)) {
        exchange.user = found.right.user
        return serve(exchange, target, found.right.principal)
      }
      refuse(exchange, found.left)
    })
    if (waiting) exchange.onGone(() => waiting && interrupt())
  }

  nodes?.serve({
    has: (id) => http?.has(id) === true,
    ids: () => http?.ids() ?? [],
    adopt: (entry, membership) => http?.adopt(entry, membership) !== false,
    abandon: () => {
      http?.abandon()
      sse?.abandon()
    },
    handle: (exchange) => {
      const target = find(exchange.url)
      if (target === undefined || isElsewhere(exchange, target)) exchange.elsewhere?.(leaving.hasBegun())
      else authenticated(exchange, target)
    }
  })

  const drain = Effect.suspend(() => {
    addedToAll = LAST
    return closing ? Effect.void : health?.drain ?? Effect.void
  }).pipe(Effect.zipRight(leaving.run))

  return {
    drain,
    handle: (exchange) => {
      const { headers, method, url } = exchange
      exchange.added = addedToAll
      if (health !== undefined && (method === "GET" || method === "HEAD") && health.answers(exchange)) return
      exchange.slowReaders = context
      const document = documents?.(exchange.path)
      // A document is for the pages of every origin.
      const refusal = guard.check(document === undefined ? headers : { ...headers, origin: undefined }, exchange)
      if (refusal !== undefined) {
        if (!hasWarned) Runtime.runFork(context.runtime, Effect.logWarning(`${refusal.message}. ${ALLOW}`))
        hasWarned = true
        return Refusal.send(exchange, refusal)
      }
      if (headers.origin !== undefined) {
        exchange.added = { ...addedToAll, ...(document === undefined ? guard.cors(headers) : Guard.anyOrigin) }
      }
      if (closing) return Refusal.send(exchange, Refusal.closing)
      if (document !== undefined) return document(exchange)
      const target = find(url)
      if (target === undefined) return Refusal.send(exchange, Refusal.notFound(pathOf(url)))
      const { allow } = target
      if (method === "OPTIONS") return exchange.reply(204, guard.preflight(headers, allow), "")
      if (!isAllowed(allow, method)) return Refusal.send(exchange, Refusal.methodNotAllowed(method, allow))
      // Which of them identifies the client would be a guess. A single one may have a comma, too.
      const isAmbiguous = authenticate !== undefined && headers.authorization?.includes(",") === true
      if (isAmbiguous && isRepeated(exchange, "authorization")) {
        return Refusal.send(exchange, Refusal.repeatedHeader("Authorization"))
      }
      leaving.onRequest()
      if (leaving.hasBegun() && (method === "GET" || isElsewhere(exchange, target))) {
        return Refusal.send(exchange, Refusal.closing)
      }
      authenticated(exchange, target)
    },
    close: Effect.flatMap(drain, () => {
      if (abandoned) return Effect.void
      closing = true
      stateless?.close()
      modern?.close()
      return Effect.all([http?.close ?? Effect.void, sse?.close ?? Effect.void], {
        concurrency: "unbounded",
        discard: true
      }).pipe(
        Effect.disconnect,
        Effect.interruptible,
        Effect.timeoutTo({ duration: options.closeTimeout, onSuccess: () => false, onTimeout: () => true }),
        Effect.flatMap((isLate) => {
          abandoned = isLate
          return isLate ? Effect.logWarning(LATE) : Effect.void
        })
      )
    }),
    sessions: () => (http?.size() ?? 0) + (sse?.size() ?? 0)
  }
}

/** From the beginning of the shutdown on: a proxy that used the connection again might do so when it is closed. */
const LAST: Headers = { connection: "close" }

const ALLOW =
  "If its client should be served, name the value in the options allowedHosts or allowedOrigins of the endpoint. " +
  "This warning is not repeated"

const LATE = "Closing the HTTP endpoint does not wait longer for its sessions: a handler or the release of a session " +
  "layer has not ended within closeTimeout"

const callerOf = (exchange: HttpExchange): Caller => {
  const { elsewhere, encrypted, headers, method, path, remoteAddress, services, url } = exchange
  const query = url.indexOf("?")
  return {
    _tag: "Http",
    request: {
      method,
      // A router may have removed the beginning of the path.
      url: query === -1 ? path : path + url.slice(query),
      headers,
      remoteAddress,
      encrypted,
      isForwarded: elsewhere !== undefined
    },
    services
  }
}

const isRepeated = ({ rawHeaders }: HttpExchange, name: string): boolean =>
  rawHeaders !== undefined && repeated(rawHeaders)?.[name] !== undefined

/** "/mcp/" is the same path as "/mcp": some clients add a slash to the URL that they are given. */
const withoutSlash = (path: string): string => path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path

const isAllowed = (allow: string, method: string): boolean =>
  (method === "POST" || method === "GET" || method === "DELETE") && allow.includes(method)

/**
 * The server's HTTP endpoint: checks Host and Origin, finds the path, authenticates the client, reads the body. `EraOfPost` passes
 * legacy messages to `legacy/Http` or `legacy/Stateless`, and modern ones to `modern/Http`; `legacy/Sse` has a path of its own.
 *
 * `HttpEndpoint`, `WebHandler`, and `HttpServer` of the node package, call it with an `HttpExchange` for each request. They
 * own the sockets; the dispatcher owns the fibers of the handlers.
 */
import type * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import * as Version from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { Dispatcher } from "../Dispatcher.js"
import * as EndpointContext from "../http/EndpointContext.js"
import * as Guard from "../http/Guard.js"
import type { BodyFault, Headers, HttpExchange } from "../http/HttpExchange.js"
import { pathOf, repeated } from "../http/HttpExchange.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import type { HttpOptions } from "../HttpOptions.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import * as Http from "../legacy/Http.js"
import * as HttpContext from "../legacy/HttpContext.js"
import * as Sse from "../legacy/Sse.js"
import * as Stateless from "../legacy/Stateless.js"
import * as ModernHttp from "../modern/Http.js"
import type { Principal } from "../Principal.js"
import * as EraOfPost from "./EraOfPost.js"

export interface Endpoint {
  /** Answers a request, at once or later. */
  readonly handle: (exchange: HttpExchange) => void
  /**
   * Ends the endpoint before its scope does: streams end, running requests are interrupted and answered with -32000, new
   * requests are refused with 503. Waits until the sessions have ended, for `closeTimeout` at most. Can be run again.
   */
  readonly close: Effect.Effect<void>
  /** How many sessions there are, those of HTTP+SSE included. */
  readonly sessions: () => number
}

/** An endpoint that serves until the scope closes. With an `EventStore` in the context, clients can resume streams. */
export const make = <R = never>(
  options: HttpOptions<R> = {}
): Effect.Effect<Endpoint, never, Dispatcher | Scope.Scope | R> =>
  Effect.zipRight(
    Effect.flatMap(Dispatcher, ({ listening }) => listening),
    Effect.acquireRelease(
      Effect.map(
        Effect.flatMap(EndpointContext.make(options), HttpContext.make),
        (context) => endpoint(context, Guard.make(options))
      ),
      ({ close }) => close
    )
  )

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

const endpoint = (context: HttpContext.HttpContext, guard: Guard.Guard): Endpoint => {
  const { options } = context
  const { authenticate, maxBodyBytes, path, responses, sessions, ssePath } = options
  const { versions } = context.dispatcher
  const hasLegacy = versions.some(Version.isLegacy)
  const http = hasLegacy && sessions ? Http.make(context) : undefined
  const stateless = hasLegacy && !sessions ? Stateless.make(context) : undefined
  const sse = ssePath === undefined || !hasLegacy ? undefined : Sse.make(context)
  const legacy = http ?? stateless
  const modern = versions.some(Version.isModern) ? ModernHttp.make(context) : undefined
  let closing = false
  /** Whether closing has gone on without sessions that did not end in time. */
  let abandoned = false

  const main: ServedPath = {
    allow: http === undefined ? "POST, OPTIONS" : "GET, POST, DELETE, OPTIONS",
    get: http?.get,
    delete: http?.delete,
    accepts: ({ accept }) => {
      const { events, json } = MediaType.accepted(accept)
      if (json && (events || responses === "json")) return undefined
      return responses === "json" ? "application/json" : "application/json and text/event-stream"
    },
    post: EraOfPost.post(legacy?.post, modern?.post, versions)
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

  const serve = (exchange: HttpExchange, target: ServedPath, principal: Principal | undefined): void => {
    // Closing may have begun while the client was authenticated.
    if (closing) return Refusal.send(exchange, Refusal.closing)
    if (exchange.method === "GET") return target.get!(exchange, principal)
    if (exchange.method === "DELETE") return target.delete!(exchange, principal)
    const refusal = refusalOfBody(exchange.headers, target)
    if (refusal !== undefined) return Refusal.send(exchange, refusal)
    exchange.body(maxBodyBytes, (body) => {
      if (typeof body !== "string") return Refusal.send(exchange, refusalOfFault(body, maxBodyBytes))
      if (closing) return Refusal.send(exchange, Refusal.closing)
      target.post(exchange, MessageText.parse(body, options), principal)
    })
  }

  /** The refusal of a POST that its headers alone decide, before the body is read. */
  const refusalOfBody = (headers: Headers, { accepts }: ServedPath): HttpRefusal | undefined => {
    const types = accepts(headers)
    if (types !== undefined) return Refusal.notAcceptable(types)
    // Node removes the last coding, which must be chunked, and leaves the others to us.
    const coding = headers["transfer-encoding"]
    if (coding !== undefined && coding.trim().toLowerCase() !== "chunked") return Refusal.unsupportedTransferCoding
    if (!MediaType.isJson(headers)) return Refusal.unsupportedMediaType
    return Number(headers["content-length"] ?? 0) > maxBodyBytes ? Refusal.tooLarge(maxBodyBytes) : undefined
  }

  return {
    handle: (exchange) => {
      const { headers, method, url } = exchange
      exchange.slowReaders = context
      const refusal = guard.check(headers)
      if (refusal !== undefined) return Refusal.send(exchange, refusal)
      if (headers.origin !== undefined) exchange.added = guard.cors(headers)
      if (closing) return Refusal.send(exchange, Refusal.closing)
      const target = find(url)
      if (target === undefined) return Refusal.send(exchange, Refusal.notFound(pathOf(url)))
      const { allow } = target
      if (method === "OPTIONS") return exchange.reply(204, guard.preflight(headers, allow), "")
      if (!isAllowed(allow, method)) return Refusal.send(exchange, Refusal.methodNotAllowed(method, allow))
      if (authenticate === undefined) return serve(exchange, target, undefined)
      // Which of them identifies the client would be a guess. A single one may have a comma, too.
      if (headers.authorization?.includes(",") === true && isRepeated(exchange, "authorization")) {
        return Refusal.send(exchange, Refusal.repeatedHeader("Authorization"))
      }
      const { services } = exchange
      const found = Effect.suspend(() => authenticate({ method, url, headers }))
      const authenticating = services === undefined
        ? found
        : Effect.mapInputContext(found, (own: Context.Context<never>) => Context.merge(own, services))
      Runtime.runFork(context.runtime, Effect.tapErrorCause(authenticating, logDefect)).addObserver((exit) => {
        if (exit._tag === "Success") return serve(exchange, target, exit.value)
        const refusal = Option.getOrElse(Cause.failureOption(exit.cause), () => Refusal.failed)
        const sent = Either.try(() => Refusal.send(exchange, refusal))
        if (Either.isRight(sent)) return
        Runtime.runFork(context.runtime, Effect.logError(UNSENDABLE, sent.left))
        Refusal.send(exchange, Refusal.failed)
      })
    },
    close: Effect.suspend(() => {
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

const LATE = "Closing the HTTP endpoint does not wait longer for its sessions: a handler or the release of a session " +
  "layer has not ended within closeTimeout"

const UNSENDABLE =
  "authenticate has refused a request with a status or a header that HTTP does not allow; the client got " +
  "500. A status is from 200 to 599, and a header has no line break and no character beyond Latin-1"

const refusalOfFault = ({ fault }: BodyFault, maxBodyBytes: number): HttpRefusal =>
  fault === "size" ? Refusal.tooLarge(maxBodyBytes) : fault === "encoding" ? Refusal.notUtf8 : Refusal.unreadable

const isRepeated = ({ rawHeaders }: HttpExchange, name: string): boolean =>
  rawHeaders !== undefined && repeated(rawHeaders)?.[name] !== undefined

/** "/mcp/" is the same path as "/mcp": some clients add a slash to the URL that they are given. */
const withoutSlash = (path: string): string => path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path

const isAllowed = (allow: string, method: string): boolean =>
  (method === "POST" || method === "GET" || method === "DELETE") && allow.includes(method)

const logDefect = (cause: Cause.Cause<HttpRefusal>): Effect.Effect<void> =>
  Option.isSome(Cause.failureOption(cause)) || Cause.isInterruptedOnly(cause)
    ? Effect.void
    : Effect.logError("authenticate died", cause)

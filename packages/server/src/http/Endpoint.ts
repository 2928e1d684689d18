import type * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { Dispatcher } from "../Dispatcher.js"
import type { HttpOptions } from "../HttpOptions.js"
import { Http } from "../legacy/Http.js"
import { SseEndpoint } from "../legacy/Sse.js"
import { Stateless } from "../legacy/Stateless.js"
import type { Principal } from "../Principal.js"
import * as EndpointContext from "./EndpointContext.js"
import * as Guard from "./Guard.js"
import type { HttpExchange } from "./HttpExchange.js"
import * as MediaType from "./MediaType.js"
import * as Refusal from "./Refusal.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Endpoint {
  /** Answers a request: now, or when there is an answer. */
  readonly handle: (exchange: HttpExchange) => void
  /**
   * Ends it before its scope does: streams end, what is in flight is stopped and answered with -32000, whatever comes is
   * turned away with 503. Waits until the sessions have ended. Safe to run twice.
   */
  readonly close: Effect.Effect<void>
  /** How many sessions there are, and how many conversations of 2024-11-05. */
  readonly sessions: () => number
}

/**
 * An endpoint that feeds the dispatcher until the scope closes. With an `EventStore` in the context, streams can be resumed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <R = never>(
  options: HttpOptions<R> = {}
): Effect.Effect<Endpoint, never, Dispatcher | Scope.Scope | R> =>
  Effect.acquireRelease(
    Effect.map(EndpointContext.make(options), (site) => new Desk(site, Guard.make(options))),
    (desk) => desk.close
  )

class Desk implements Endpoint {
  private readonly http: Http | undefined
  private readonly stateless: Stateless | undefined
  private readonly sse: SseEndpoint | undefined
  private readonly allow: string
  private closing = false

  constructor(private readonly site: EndpointContext.EndpointContext, private readonly guard: Guard.Guard) {
    const { sessions, ssePath } = site.options
    this.http = sessions ? new Http(site) : undefined
    this.stateless = sessions ? undefined : new Stateless(site)
    this.sse = ssePath === undefined ? undefined : new SseEndpoint(site)
    this.allow = sessions ? "GET, POST, DELETE, OPTIONS" : "POST, OPTIONS"
  }

  readonly sessions = (): number => (this.http?.size ?? 0) + (this.sse?.size ?? 0)

  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.closing = true
    this.stateless?.close()
    return Effect.all([this.http?.close ?? Effect.void, this.sse?.close ?? Effect.void], {
      concurrency: "unbounded",
      discard: true
    })
  })

  readonly handle = (exchange: HttpExchange): void => {
    const { headers } = exchange
    const refusal = this.guard.check(headers)
    if (refusal !== undefined) return Refusal.send(exchange, refusal)
    if (headers.origin !== undefined) exchange.added = this.guard.cors(headers)
    if (this.closing) return Refusal.send(exchange, Refusal.closing)
    const place = this.placeOf(exchange.url)
    if (place === undefined) return Refusal.send(exchange, Refusal.notFound(pathOf(exchange.url)))
    const allow = place === "sse" ? "GET, POST, OPTIONS" : this.allow
    if (exchange.method === "OPTIONS") return exchange.reply(204, this.guard.preflight(headers, allow), "")
    if (!isAllowed(allow, exchange.method)) {
      return Refusal.send(exchange, Refusal.methodNotAllowed(exchange.method, allow))
    }
    const { authenticate } = this.site.options
    if (authenticate === undefined) return this.admit(exchange, place, undefined)
    const { method, url } = exchange
    this.identify(exchange, Effect.suspend(() => authenticate({ method, url, headers })), place)
  }

  private identify(
    exchange: HttpExchange,
    authenticating: Effect.Effect<Principal | undefined, Refusal.Refusal>,
    place: Place
  ): void {
    Runtime.runFork(this.site.runtime, Effect.tapErrorCause(authenticating, logged)).addObserver((exit) => {
      if (exit._tag === "Success") return this.admit(exchange, place, exit.value)
      Refusal.send(exchange, Option.getOrElse(Cause.failureOption(exit.cause), () => Refusal.failed))
    })
  }

  private admit(exchange: HttpExchange, place: Place, principal: Principal | undefined): void {
    // It may have begun while somebody was found out about.
    if (this.closing) return Refusal.send(exchange, Refusal.closing)
    switch (exchange.method) {
      case "GET":
        return place === "sse" ? this.sse!.get(exchange, principal) : this.http!.get(exchange, principal)
      case "DELETE":
        return this.http!.delete(exchange, principal)
    }
    this.read(exchange, place, (incoming) => {
      if (this.closing) return Refusal.send(exchange, Refusal.closing)
      if (place === "sse") return this.sse!.post(exchange, incoming, principal)
      if (this.http === undefined) return this.stateless!.post(exchange, incoming, principal)
      this.http.post(exchange, incoming, principal)
    })
  }

  private read(exchange: HttpExchange, place: Place, then: (incoming: Message.Incoming) => void): void {
    const { headers } = exchange
    const { maxBodyBytes, maxDepth, responses } = this.site.options
    if (place === "endpoint") {
      const { events, json } = MediaType.accepted(headers.accept)
      if (!json || (!events && responses !== "json")) {
        return Refusal.send(
          exchange,
          Refusal.notAcceptable(responses === "json" ? "application/json" : "application/json and text/event-stream")
        )
      }
    }
    if (!MediaType.isJson(headers)) return Refusal.send(exchange, Refusal.unsupportedMediaType)
    if (Number(headers["content-length"] ?? 0) > maxBodyBytes) {
      return Refusal.send(exchange, Refusal.tooLarge(maxBodyBytes))
    }
    exchange.body(maxBodyBytes, (body) => {
      if (typeof body === "string") return then(MessageText.parse(body, maxDepth))
      Refusal.send(
        exchange,
        body.fault === "size"
          ? Refusal.tooLarge(maxBodyBytes)
          : body.fault === "encoding"
          ? Refusal.notUtf8
          : Refusal.unreadable
      )
    })
  }

  private placeOf(url: string): Place | undefined {
    const { path, ssePath } = this.site.options
    if (url === path) return "endpoint"
    const at = pathOf(url)
    if (at === ssePath) return "sse"
    return path === undefined || at === path ? "endpoint" : undefined
  }
}

type Place = "endpoint" | "sse"

const pathOf = (url: string): string => {
  const query = url.indexOf("?")
  return query === -1 ? url : url.slice(0, query)
}

const isAllowed = (allow: string, method: string): boolean =>
  method === "POST" || method === "GET" || method === "DELETE" ? allow.includes(method) : false

const logged = (cause: Cause.Cause<Refusal.Refusal>): Effect.Effect<void> =>
  Option.isSome(Cause.failureOption(cause)) || Cause.isInterruptedOnly(cause)
    ? Effect.void
    : Effect.logError("authenticate died", cause)

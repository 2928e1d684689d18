/**
 * Spans and metrics of a server, made with Effect's `Tracer` and `Metric`. An application exports them together with its own spans and
 * metrics. A server makes spans, and metrics of single messages, only with the layer `layer` of this module. Their names follow the
 * conventions of OpenTelemetry. Every server has the metrics in `runtime` (`telemetry/Metrics`), also without the layer. `dispatch/Tracing`
 * connects the layer with the server.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import * as EffectInternals from "../kit/EffectInternals.js"
import * as Baggage from "../protocol/Baggage.js"
import { ExtendedResult } from "../protocol/Extension.js"
import { coreMethods } from "../protocol/extension/ExtensionTable.js"
import { keys } from "../protocol/Meta.js"
import * as Telemetry from "../protocol/telemetry/Telemetry.js"
import * as TraceContext from "../protocol/telemetry/TraceContext.js"
import * as Version from "../protocol/Version.js"
import type { Principal } from "./Authenticator.js"
import { Tracing, type TracingService } from "./dispatch/Tracing.js"
import type { Headers, HttpExchange, Reader, SlowReaders, Writer } from "./http/HttpExchange.js"
import * as Middleware from "./Middleware.js"
import { RequestContext } from "./RequestContext.js"
import type { HandlerContext } from "./runtime/HandlerContext.js"
import type { RequestOrigin } from "./runtime/RequestOrigin.js"
import * as Metrics from "./telemetry/Metrics.js"

/**
 * The metric of how long requests and notifications take, in seconds, by method and kind of error.
 *
 * @category constants
 */
export const operationDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.serverOperation,
  "How long the server takes for a request or a notification, in seconds"
)

/**
 * The metric of how long sessions last, in seconds.
 *
 * @category constants
 */
export const sessionDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.serverSession,
  "How long the session of a client lasts, in seconds"
)

/**
 * The metrics of a running server. Every server has these metrics, with and without `layer`. The value of a gauge is the sum over all
 * servers of the process at the moment when the application reads the gauge. Counters count rare events.
 *
 * @category constants
 */
export const runtime: {
  /** `mcp.runtime.sessions.active`: the open sessions of HTTP clients of revision 2025-11-25 or earlier. */
  readonly sessions: Metric.Metric.Gauge<number>
  /** `mcp.runtime.requests.inflight`: the requests that have no response yet, on every transport. This includes open subscriptions. */
  readonly requests: Metric.Metric.Gauge<number>
  /** `mcp.runtime.streams.open`: event streams that clients read. */
  readonly streams: Metric.Metric.Gauge<number>
  /**
   * `mcp.runtime.subscriptions.active`: the subscriptions to resources with revision 2025-11-25 or earlier, and the open
   * `subscriptions/listen` of later revisions.
   */
  readonly subscriptions: Metric.Metric.Gauge<number>
  /** `mcp.runtime.forwarded`: how often this node passed a request on to another node. */
  readonly forwarded: Metric.Metric.Counter<number>
  /** `mcp.runtime.takeovers`: sessions that this node took over from another node. */
  readonly takeovers: Metric.Metric.Counter<number>
  /**
   * `mcp.runtime.lease.lost`: how often this node lost its lease while it was running. A node without a lease is not a member of the
   * server's nodes.
   */
  readonly leaseLost: Metric.Metric.Counter<number>
  /** `mcp.runtime.resume.replayed`: how many stored events clients got when they resumed a stream. */
  readonly replayed: Metric.Metric.Counter<number>
  /** `mcp.runtime.slow_consumer.cut`: how many connections the server closed because the client read too slowly. */
  readonly slowReaders: Metric.Metric.Counter<number>
  /** `mcp.runtime.frames.rejected`: how many HTTP requests and messages the server refused, with the tag `reason`. */
  readonly rejected: Metric.Metric.Counter<number>
  /** `mcp.runtime.drain.seconds`: how long the shutdown of HTTP endpoints took, in seconds. */
  readonly shutdown: Metric.Metric.Histogram<number>
} = {
  sessions: Metrics.sessions.metric,
  requests: Metrics.requests.metric,
  streams: Metrics.streams.metric,
  subscriptions: Metrics.subscriptions.metric,
  forwarded: Metrics.forwarded,
  takeovers: Metrics.takeovers,
  leaseLost: Metrics.leaseLost,
  replayed: Metrics.replayed,
  slowReaders: Metrics.slowReaders,
  rejected: Metrics.rejected,
  shutdown: Metrics.shutdown
}

const record = Telemetry.recorder(operationDuration)

/** @category models */
export interface Options {
  /**
   * Decides which messages begin a new trace. A new trace has a link to the trace of the caller, but does not continue the caller's trace.
   * It also ignores `tracestate` and `baggage` of the caller. Use new traces for callers that you do not trust: in a continued trace, a
   * caller can add spans to the trace of another program, can decide whether the trace is sampled, and can send baggage.
   *
   * - "anonymous": HTTP requests for which the authenticator has found no user.
   * - "always": all HTTP requests.
   * - "never": no HTTP request.
   *
   * Messages on other transports, such as standard streams, always continue the trace of their caller. Default: "anonymous".
   */
  readonly newTrace?: "anonymous" | "always" | "never" | undefined
}

/**
 * Makes a layer that adds telemetry to servers. Provide the layer to the layers of the servers. A server with this layer makes a span for
 * each message, and records durations. It also makes a span for each POST, unless the application's HTTP server already makes this span. A
 * span contains no arguments and no results.
 *
 * When `_meta` of a message contains a span, this span is the parent of the message's span, and the message's span has a link to the span
 * of the HTTP request. When `_meta` contains no span, the span of the HTTP request is the parent. Inside the handler, the span of the
 * message is the current span, and `protocol/Baggage` gives the baggage of the message.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as ServerTelemetry from "@effect-mcp/core/ServerTelemetry"
 * import { Layer } from "effect"
 *
 * export const Server = McpServer.layer({ name: "seen", version: "1.0.0" }, Layer.empty).pipe(
 *   Layer.provide(ServerTelemetry.layer())
 * )
 * ```
 * @category layers
 */
export const layer = ({ newTrace = "anonymous" }: Options = {}): Layer.Layer<never> => {
  const isNew = (sender: Principal | undefined): boolean =>
    newTrace === "always" || newTrace === "anonymous" && sender === undefined
  const messages = ofMessages(isNew)
  const tracing: TracingService = {
    around: (middleware) => middleware === undefined ? messages : Middleware.compose(messages, middleware),
    exchanges: (hasUsers) => exchanges(isNew, hasUsers && newTrace === "anonymous"),
    session
  }
  // The server finds this service in its context, in the same way as a tracer. The type of the layer does not contain the service.
  return Layer.succeed(Tracing, tracing) as unknown as Layer.Layer<never>
}

/** Whether an HTTP message of this sender begins a new trace. */
type IsNew = (sender: Principal | undefined) => boolean

/** Makes the middleware that records each message. */
const ofMessages = (isNew: IsNew): Middleware.Middleware<never, never> =>
  Middleware.make((call, next) =>
    Effect.flatMap(Effect.zip(Effect.clock, RequestContext), ([clock, context]) => {
      const handler = context as HandlerContext
      const { origin, version } = handler
      const started = EffectInternals.millis(clock)
      const meta = call.params?._meta
      const { isOwn, links, parent } = placeOf(meta, origin, isNew)
      const baggage = isOwn
        ? undefined
        : Baggage.parse(Predicate.hasProperty(meta, keys.baggage) ? meta.baggage : undefined)
      const era = Version.isModern(version) ? "modern" : "legacy"
      return Effect.useSpan(
        Telemetry.spanName(call, coreMethods),
        {
          kind: "server",
          captureStackTrace: false,
          attributes: {
            ...Telemetry.spanAttributes(call, version, coreMethods),
            ...(origin.listener === undefined ? undefined : Telemetry.overHttp)
          },
          parent,
          root: parent === undefined,
          links: links.map(EffectInternals.spanLink)
        },
        (span) =>
          Effect.onExit(inside(next, span, baggage), (exit) => {
            const { code, error } = endOf(exit, era, handler)
            if (error !== undefined) span.attribute(Telemetry.attributes.error, error)
            if (code !== undefined) span.attribute(Telemetry.attributes.status, String(code))
            return record(
              Telemetry.methodName(call.method, coreMethods),
              error,
              (EffectInternals.millis(clock) - started) / 1000
            )
          })
      )
    })
  )

const inside = (
  next: Effect.Effect<unknown, unknown>,
  span: Tracer.Span,
  baggage: ReadonlyMap<string, string> | undefined
): Effect.Effect<unknown, unknown> => {
  const below = Effect.provideService(next, Tracer.ParentSpan, span)
  return baggage === undefined ? below : Effect.provideService(below, Baggage.Baggage, baggage)
}

/** The relations of a message's span to other spans. */
interface Place {
  readonly parent: Tracer.AnySpan | undefined
  /** At most two. */
  readonly links: ReadonlyArray<Tracer.AnySpan>
  /** Whether the span does not continue the trace of the caller. */
  readonly isOwn: boolean
}

const placeOf = (meta: unknown, { listener, principal, span }: RequestOrigin, isNew: IsNew): Place => {
  const caller = Option.getOrUndefined(TraceContext.parent(meta))
  if (listener !== undefined && isNew(principal)) {
    // A span that the application's HTTP server has made may continue the trace of the caller.
    const parent = span !== undefined && !isOfCaller(span) ? span : undefined
    return {
      parent,
      links: [caller, parent === undefined ? span : undefined].filter(Predicate.isNotUndefined),
      isOwn: true
    }
  }
  return caller === undefined
    ? { parent: span, links: [], isOwn: false }
    : { parent: caller, links: span === undefined ? [] : [span], isOwn: false }
}

/** How many ancestors of a span this module checks. */
const MAX_ANCESTORS = 1024

/** Whether another process has begun the trace of this span. */
const isOfCaller = (span: Tracer.AnySpan): boolean => {
  let above = span
  for (let i = 0; i < MAX_ANCESTORS; i++) {
    if (above._tag === "ExternalSpan") return true
    if (Option.isNone(above.parent)) return false
    above = above.parent.value
  }
  return true
}

/** Whether this span, or one of its ancestors, is the span of a request. A span for the whole run of a program does not count. */
const isOfRequest = (span: Tracer.AnySpan): boolean => {
  let above = span
  for (let i = 0; i < MAX_ANCESTORS && above._tag === "Span"; i++) {
    if (above.kind === "server") return true
    if (Option.isNone(above.parent)) return false
    above = above.parent.value
  }
  return false
}

/**
 * Makes a span for each POST. `isLate` is true when the trace of the span depends on the sender. This module then makes the span only after
 * the authenticator has found the sender.
 */
const exchanges = (isNew: IsNew, isLate: boolean): Effect.Effect<(exchange: HttpExchange) => HttpExchange> =>
  Effect.zipWith(
    EffectInternals.services,
    Effect.clock,
    (services, clock) => (exchange) =>
      exchange.method === "POST" ? new TracedExchange(exchange, isNew, isLate, services, clock) : exchange
  )

/**
 * A POST with a span. Mutable fields: `own` is the span, and is `undefined` before this module has made the span. `hasEnded` turns true
 * when the span has ended.
 */
class TracedExchange implements HttpExchange {
  readonly method: string
  readonly url: string
  readonly path: string
  readonly headers: Headers
  readonly rawHeaders: HttpExchange["rawHeaders"]
  readonly services: HttpExchange["services"]
  readonly values: HttpExchange["values"]
  private readonly given: Tracer.AnySpan | undefined
  private own: Tracer.Span | undefined
  private hasEnded = false

  constructor(
    private readonly exchange: HttpExchange,
    private readonly isNew: IsNew,
    isLate: boolean,
    private readonly runtime: EffectInternals.Services,
    private readonly clock: Clock.Clock
  ) {
    const { headers, method, path, rawHeaders, services, span, url, values } = exchange
    this.method = method
    this.url = url
    this.path = path
    this.headers = headers
    this.rawHeaders = rawHeaders
    this.services = services
    this.values = values
    const ofApplication = span ??
      (services && Option.getOrUndefined(Context.getOption(services as Context.Context<any>, Tracer.ParentSpan)))
    this.given = ofApplication !== undefined && isOfRequest(ofApplication) ? ofApplication : undefined
    if (this.given !== undefined) return
    if (!isLate) this.begin(undefined)
    exchange.onGone(() => this.end())
  }

  readonly spanOf = (sender: Principal | undefined): Tracer.AnySpan | undefined => this.given ?? this.begin(sender)

  get isGone(): boolean {
    return this.exchange.isGone
  }

  get remoteAddress(): string | undefined {
    return this.exchange.remoteAddress
  }

  get encrypted(): boolean | undefined {
    return this.exchange.encrypted
  }

  get isLocal(): boolean | undefined {
    return this.exchange.isLocal
  }

  readonly body: HttpExchange["body"] = (into, then) => this.exchange.body(into, then)

  reply(status: number, headers: Headers, body: string, slowReaders?: SlowReaders): void {
    this.exchange.reply(status, headers, body, slowReaders)
    this.end(status)
  }

  stream(status: number, headers: Headers, reader: Reader, slowReaders?: SlowReaders): Writer {
    const gone = () => {
      this.end(status)
      reader.gone()
    }
    const writer = this.exchange.stream(status, headers, { drained: () => reader.drained(), gone }, slowReaders)
    return {
      write: (text) => writer.write(text),
      end: () => {
        writer.end()
        this.end(status)
      },
      cut: () => {
        writer.cut()
        this.end(status)
      }
    }
  }

  onGone(listener: () => void): void {
    this.exchange.onGone(() => {
      this.end()
      listener()
    })
  }

  private begin(sender: Principal | undefined): Tracer.Span | undefined {
    if (this.own !== undefined || this.hasEnded) return this.own
    const caller = Option.getOrUndefined(TraceContext.parent(this.headers))
    const isNew = this.isNew(sender)
    const made = EffectInternals.exitOf(EffectInternals.runFork(
      this.runtime,
      Effect.makeSpan(`http.server ${this.method}`, {
        kind: "server",
        captureStackTrace: false,
        attributes: { [Telemetry.http.method]: this.method, [Telemetry.http.path]: this.path },
        parent: isNew ? undefined : caller,
        root: isNew || caller === undefined,
        links: isNew && caller !== undefined ? [EffectInternals.spanLink(caller)] : []
      })
    ))
    return this.own = made !== undefined && Exit.isSuccess(made) ? made.value : undefined
  }

  private end(status?: number): void {
    if (this.given !== undefined || this.hasEnded) return
    const span = this.begin(undefined)
    this.hasEnded = true
    if (span === undefined) return
    if (status === undefined) span.attribute(Telemetry.attributes.error, "cancelled")
    else span.attribute(Telemetry.http.status, status)
    if (status !== undefined && status >= 500) span.attribute(Telemetry.attributes.error, String(status))
    span.end(EffectInternals.nanos(this.clock), Exit.void)
  }
}

/** Records how long a session lasts. */
const session: TracingService["session"] = Effect.map(Effect.clock, (clock) => {
  const started = EffectInternals.millis(clock)
  return Effect.suspend(() => Metric.update(sessionDuration, (EffectInternals.millis(clock) - started) / 1000))
})

/** Gives the kind of error with which a message ended, and the code of the error in the response. */
const endOf = (
  exit: Exit.Exit<unknown, unknown>,
  era: Version.Era,
  { asker }: HandlerContext
): { readonly error: string | undefined; readonly code?: number | undefined } => {
  if (exit._tag === "Success") return { error: Telemetry.errorOfResult(exit.value) }
  if (Cause.isInterruptedOnly(exit.cause)) return { error: asker.endsRequest ? undefined : "cancelled" }
  const failure = Cause.failureOption(exit.cause)
  if (Option.isNone(failure)) return { error: Telemetry.OTHER }
  // An `ExtendedResult` is not an error.
  if (failure.value instanceof ExtendedResult) return { error: undefined }
  const code = Telemetry.codeOf(failure.value, era)
  return { error: Telemetry.errorOfCode(code), code }
}

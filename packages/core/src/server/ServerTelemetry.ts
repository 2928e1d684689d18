/**
 * Spans and metrics of a server, through Effect's `Tracer` and `Metric`, so that an application exports them with its
 * others. A server has those of single messages only with this middleware; their names follow the conventions of
 * OpenTelemetry.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import * as EffectInternals from "../kit/EffectInternals.js"
import { ExtendedResult } from "../protocol/Extension.js"
import { coreMethods } from "../protocol/extension/ExtensionTable.js"
import * as Telemetry from "../protocol/telemetry/Telemetry.js"
import * as Middleware from "./Middleware.js"
import { RequestContext } from "./RequestContext.js"
import * as Metrics from "./telemetry/Metrics.js"

/**
 * How long requests and notifications take, in seconds, by method and kind of error.
 *
 * @category constants
 */
export const operationDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.serverOperation,
  "How long the server takes for a request or a notification, in seconds"
)

/**
 * How long sessions last, in seconds.
 *
 * @category constants
 */
export const sessionDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.serverSession,
  "How long the session of a client lasts, in seconds"
)

/**
 * The metrics of a server at work, which every server has, with and without the middleware: gauges of what is open in all
 * servers of the process, which are counted when they are read, and counters of what is rare.
 *
 * @category constants
 */
export const runtime: {
  /** `mcp.runtime.sessions.active`: sessions of HTTP clients up to 2025-11-25. */
  readonly sessions: Metric.Metric.Gauge<number>
  /** `mcp.runtime.requests.inflight`: requests without a response, on every transport; open subscriptions among them. */
  readonly requests: Metric.Metric.Gauge<number>
  /** `mcp.runtime.streams.open`: event streams that clients read. */
  readonly streams: Metric.Metric.Gauge<number>
  /** `mcp.runtime.subscriptions.active`: subscriptions to resources up to 2025-11-25, and open `subscriptions/listen` later. */
  readonly subscriptions: Metric.Metric.Gauge<number>
  /** `mcp.runtime.forwarded`: how often this node passed a request on to another one. */
  readonly forwarded: Metric.Metric.Counter<number>
  /** `mcp.runtime.takeovers`: sessions that this node went on with, after another one. */
  readonly takeovers: Metric.Metric.Counter<number>
  /** `mcp.runtime.lease.lost`: how often this node was no member of the nodes any more, although it ran. */
  readonly leaseLost: Metric.Metric.Counter<number>
  /** `mcp.runtime.resume.replayed`: stored events that clients got when they read on. */
  readonly replayed: Metric.Metric.Counter<number>
  /** `mcp.runtime.slow_consumer.cut`: connections that were cut because the client read too slowly. */
  readonly slowReaders: Metric.Metric.Counter<number>
  /** `mcp.runtime.frames.rejected`: HTTP requests and messages that were refused, with the tag `reason`. */
  readonly rejected: Metric.Metric.Counter<number>
  /** `mcp.runtime.drain.seconds`: how long HTTP endpoints took to end, from the beginning of their shutdown. */
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

/**
 * Makes a span for each message, and records its duration. The parent of the span is the one that `_meta` names, if it
 * names one; inside the handler it is the current span. It contains no arguments and no results.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as ServerTelemetry from "@effect-mcp/core/ServerTelemetry"
 * import { Layer } from "effect"
 *
 * export const Server = McpServer.layer({ name: "seen", version: "1.0.0" }, Layer.empty, {
 *   middleware: ServerTelemetry.middleware,
 *   session: ServerTelemetry.session
 * })
 * ```
 * @category combinators
 */
export const middleware: Middleware.Middleware<never, never> = Middleware.make((call, next) =>
  Effect.flatMap(Effect.zip(Effect.clock, RequestContext), ([clock, { version }]) => {
    const started = EffectInternals.millis(clock)
    return Effect.useSpan(
      Telemetry.spanName(call, coreMethods),
      {
        kind: "server",
        captureStackTrace: false,
        attributes: Telemetry.spanAttributes(call, version, coreMethods),
        parent: Option.getOrUndefined(Telemetry.parent(call.params?._meta))
      },
      (span) =>
        Effect.onExit(Effect.provideService(next, Tracer.ParentSpan, span), (exit) => {
          const error = errorOf(exit)
          if (error !== undefined) span.attribute(Telemetry.attributes.error, error)
          return record(
            Telemetry.methodName(call.method, coreMethods),
            error,
            (EffectInternals.millis(clock) - started) / 1000
          )
        })
    )
  })
)

/**
 * A session layer that records how long the session lasts. Merge it with the application's own session layer.
 *
 * @category utils
 */
export const session: Layer.Layer<never> = Layer.scopedDiscard(
  Effect.flatMap(Effect.clock, (clock) => {
    const started = EffectInternals.millis(clock)
    return Effect.addFinalizer(() => Metric.update(sessionDuration, (EffectInternals.millis(clock) - started) / 1000))
  })
)

const errorOf = (exit: Exit.Exit<unknown, unknown>): string | undefined => {
  if (exit._tag === "Success") return Telemetry.errorOfResult(exit.value)
  if (Cause.isInterruptedOnly(exit.cause)) return "cancelled"
  return Option.match(Cause.failureOption(exit.cause), {
    onNone: () => Telemetry.OTHER,
    // It answers the request.
    onSome: (failure) => failure instanceof ExtendedResult ? undefined : Telemetry.errorOfFailure(failure)
  })
}

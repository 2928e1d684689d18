/**
 * Spans and metrics of a client, through Effect's own `Tracer` and `Metric`. A client has neither unless its `telemetry`
 * option says so; then the server is told of each call's span, in `_meta`.
 *
 * Names are in `@effect-mcp/protocol/Telemetry`.
 *
 * @since 0.1.0
 */
import { JsonRpcError } from "@effect-mcp/jsonrpc/JsonRpcError"
import type { CallError, Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Telemetry from "@effect-mcp/protocol/Telemetry"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Option from "effect/Option"

/**
 * How long calls take, in seconds, by method and kind of error.
 *
 * @since 0.1.0
 * @category metrics
 */
export const operationDuration: Metric.Metric.Histogram<number> = Metric.histogram(
  Telemetry.metrics.clientOperation,
  MetricBoundaries.fromIterable(Telemetry.boundaries),
  "How long a call takes, in seconds"
)

/**
 * The same way to speak, with a span around every request. `version` is the revision that was agreed on.
 *
 * @since 0.1.0
 * @category combinators
 */
export const traced = (outbound: Outbound, version: () => string): Outbound => ({
  notify: outbound.notify,
  request: (method, params, options) =>
    Effect.flatMap(Effect.clock, (clock) => {
      const operation = { id: undefined, method, params }
      const started = clock.unsafeCurrentTimeMillis()
      return Effect.useSpan(
        Telemetry.spanName(operation, Methods.table),
        {
          kind: "client",
          captureStackTrace: false,
          attributes: Telemetry.spanAttributes(operation, version(), Methods.table)
        },
        (span) =>
          Effect.onExit(
            outbound.request(
              method,
              { ...params, _meta: { ...(params?._meta as JsonObject | undefined), ...Telemetry.inject(span) } },
              options
            ),
            (exit) => {
              const error = errorOf(exit)
              if (error !== undefined) span.attribute(Telemetry.attributes.error, error)
              return Metric.update(
                duration(Telemetry.methodName(method, Methods.table), error),
                (clock.unsafeCurrentTimeMillis() - started) / 1000
              )
            }
          )
      )
    })
})

const errorOf = (exit: Exit.Exit<JsonObject, CallError>): string | undefined => {
  if (exit._tag === "Success") return Telemetry.errorOfResult(exit.value)
  if (Cause.isInterruptedOnly(exit.cause)) return "cancelled"
  return Option.match(Cause.failureOption(exit.cause), {
    onNone: () => Telemetry.OTHER,
    onSome: (error) => error instanceof JsonRpcError ? McpError.fromWire(error)._tag : error._tag
  })
}

// Methods are few, and so are kinds of errors: what a peer makes up has a name of its own among neither.
const durations = new Map<string, Metric.Metric.Histogram<number>>()

const duration = (method: string, error: string | undefined): Metric.Metric.Histogram<number> => {
  const key = `${method} ${error ?? ""}`
  let tagged = durations.get(key)
  if (tagged === undefined) {
    tagged = Metric.tagged(operationDuration, Telemetry.attributes.method, method)
    if (error !== undefined) tagged = Metric.tagged(tagged, Telemetry.attributes.error, error)
    durations.set(key, tagged)
  }
  return tagged
}

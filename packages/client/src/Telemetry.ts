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
import * as Telemetry from "@effect-mcp/protocol/unstable/Telemetry"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"

/**
 * How long calls take, in seconds, by method and kind of error.
 *
 * @since 0.1.0
 * @category metrics
 */
export const operationDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.clientOperation,
  "How long a call takes, in seconds"
)

/**
 * How long sessions last, in seconds.
 *
 * @since 0.1.0
 * @category metrics
 */
export const sessionDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.clientSession,
  "How long the session with a server lasts, in seconds"
)

/**
 * Says how long the session lasted, when the scope closes.
 *
 * @since 0.1.0
 * @category metrics
 */
export const session: Effect.Effect<void, never, Scope.Scope> = Effect.flatMap(Effect.clock, (clock) => {
  const started = clock.unsafeCurrentTimeMillis()
  return Effect.addFinalizer(() => Metric.update(sessionDuration, (clock.unsafeCurrentTimeMillis() - started) / 1000))
})

const record = Telemetry.recorder(operationDuration)

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
              return record(
                Telemetry.methodName(method, Methods.table),
                error,
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

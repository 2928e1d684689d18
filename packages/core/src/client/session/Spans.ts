/**
 * Records the calls and the length of a session, as spans and in the metrics of `Telemetry`, and sends the span of each
 * call to the server in `_meta`. Used only by clients whose `telemetry` option is on.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { JsonRpcError } from "../../jsonrpc/JsonRpcError.js"
import type { CallError, Outbound } from "../../jsonrpc/Outbound.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { ExtensionTable } from "../../protocol/extension/ExtensionTable.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as McpError from "../../protocol/McpError.js"
import * as Telemetry from "../../protocol/telemetry/Telemetry.js"
import * as ClientTelemetry from "../ClientTelemetry.js"

/** Records how long the session lasted, when the scope closes. */
export const session: Effect.Effect<void, never, Scope.Scope> = Effect.flatMap(Effect.clock, (clock) => {
  const started = EffectInternals.millis(clock)
  return Effect.addFinalizer(() =>
    Metric.update(ClientTelemetry.sessionDuration, (EffectInternals.millis(clock) - started) / 1000)
  )
})

const record = Telemetry.recorder(ClientTelemetry.operationDuration)

/**
 * The same `Outbound`, with a span around every request. `version` gives the agreed revision; `methods` are those of the
 * era, whose names spans and metrics may contain.
 */
export const traced = (outbound: Outbound, version: () => string, methods: Telemetry.Table): Outbound => ({
  notify: outbound.notify,
  request: (method, params, options) =>
    Effect.flatMap(Effect.clock, (clock) => {
      const operation = { id: undefined, method, params }
      const started = EffectInternals.millis(clock)
      return Effect.useSpan(
        Telemetry.spanName(operation, methods),
        {
          kind: "client",
          captureStackTrace: false,
          attributes: Telemetry.spanAttributes(operation, version(), methods)
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
                Telemetry.methodName(method, methods),
                error,
                (EffectInternals.millis(clock) - started) / 1000
              )
            }
          )
      )
    })
})

/** The methods of an era and of the extensions that the client was given. */
export const methodsOf = (era: Telemetry.Table, { methods }: ExtensionTable): Telemetry.Table => ({
  has: (method) => era.has(method) || methods.has(method)
})

const errorOf = (exit: Exit.Exit<JsonObject, CallError>): string | undefined => {
  if (exit._tag === "Success") return Telemetry.errorOfResult(exit.value)
  if (Cause.isInterruptedOnly(exit.cause)) return "cancelled"
  return Option.match(Cause.failureOption(exit.cause), {
    onNone: () => Telemetry.OTHER,
    onSome: (error) => error instanceof JsonRpcError ? McpError.fromWire(error)._tag : error._tag
  })
}

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
import * as Names from "../../protocol/telemetry/Telemetry.js"
import * as ClientTelemetry from "../ClientTelemetry.js"

/** Records how long the session lasted, when the scope closes. */
export const session: Effect.Effect<void, never, Scope.Scope> = Effect.flatMap(Effect.clock, (clock) => {
  const started = EffectInternals.millis(clock)
  return Effect.addFinalizer(() =>
    Metric.update(ClientTelemetry.sessionDuration, (EffectInternals.millis(clock) - started) / 1000)
  )
})

const record = Names.recorder(ClientTelemetry.operationDuration)

/**
 * The same `Outbound`, with a span around every request. `version` gives the agreed revision; `methods` are those of the
 * era, whose names spans and metrics may contain.
 */
export const traced = (outbound: Outbound, version: () => string, methods: Names.Table): Outbound => ({
  notify: outbound.notify,
  request: (method, params, options) =>
    Effect.flatMap(Effect.clock, (clock) => {
      const operation = { id: undefined, method, params }
      const started = EffectInternals.millis(clock)
      return Effect.useSpan(
        Names.spanName(operation, methods),
        {
          kind: "client",
          captureStackTrace: false,
          attributes: Names.spanAttributes(operation, version(), methods)
        },
        (span) =>
          Effect.onExit(
            outbound.request(
              method,
              { ...params, _meta: { ...(params?._meta as JsonObject | undefined), ...Names.inject(span) } },
              options
            ),
            (exit) => {
              const error = errorOf(exit)
              if (error !== undefined) span.attribute(Names.attributes.error, error)
              return record(
                Names.methodName(method, methods),
                error,
                (EffectInternals.millis(clock) - started) / 1000
              )
            }
          )
      )
    })
})

/** The methods of an era and of the extensions that the client was given. */
export const methodsOf = (era: Names.Table, { methods }: ExtensionTable): Names.Table => ({
  has: (method) => era.has(method) || methods.has(method)
})

const errorOf = (exit: Exit.Exit<JsonObject, CallError>): string | undefined => {
  if (exit._tag === "Success") return Names.errorOfResult(exit.value)
  if (Cause.isInterruptedOnly(exit.cause)) return "cancelled"
  return Option.match(Cause.failureOption(exit.cause), {
    onNone: () => Names.OTHER,
    onSome: (error) => error instanceof JsonRpcError ? McpError.fromWire(error)._tag : error._tag
  })
}

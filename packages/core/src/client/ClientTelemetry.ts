/**
 * Spans and metrics of a client, made with Effect's `Tracer` and `Metric`, under the names of the OpenTelemetry conventions for MCP. A
 * client makes them only when `layer` is provided. Then the client also sends the span of each call to the server in `_meta`. Over HTTP,
 * the spans of the `HttpClient` are children of the span of their call. `session/Tracing` is the service with which the client finds the
 * layer.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { JsonRpcError } from "../jsonrpc/JsonRpcError.js"
import type { CallError, Outbound } from "../jsonrpc/Outbound.js"
import * as EffectInternals from "../kit/EffectInternals.js"
import * as Baggage from "../protocol/Baggage.js"
import type { JsonObject } from "../protocol/Json.js"
import { keys } from "../protocol/Meta.js"
import * as Telemetry from "../protocol/telemetry/Telemetry.js"
import * as TraceContext from "../protocol/telemetry/TraceContext.js"
import * as PlatformClient from "./http/PlatformClient.js"
import { Surrounding } from "./http/Surrounding.js"
import { type ClientTracing, Tracing } from "./session/Tracing.js"

/**
 * The histogram of the durations of calls, in seconds, by method and kind of error.
 *
 * @category constants
 */
export const operationDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.clientOperation,
  "How long a call takes, in seconds"
)

/**
 * The histogram of the durations of sessions, in seconds.
 *
 * @category constants
 */
export const sessionDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.clientSession,
  "How long the session with a server lasts, in seconds"
)

/**
 * Which entries are sent to which servers. With `keys` alone, these entries are sent to every server. With `servers` alone, every entry is
 * sent to these servers. With `keys` and `servers`, these entries are sent to these servers.
 *
 * @category models
 */
export interface Sent {
  /** The keys of the entries. */
  readonly keys?: ReadonlyArray<string> | undefined
  /** The `name` or the `origin` of the connectors of the servers. For `Remote`, this is the URL or its origin. */
  readonly servers?: ReadonlyArray<string> | undefined
}

/** @category models */
export interface Options {
  /** Which entries of `protocol/Baggage` are sent to the server. Default: none. */
  readonly baggage?: Sent | undefined
  /** Which members of the `tracestate` of the trace are sent to the server. Default: none. */
  readonly tracestate?: Sent | undefined
}

/**
 * A layer with which clients record their calls. It makes a span for each call and each notification of the clients that are built with
 * it, and records how long calls and sessions last. The server gets the span as `traceparent`, which replaces a `traceparent` that the
 * application has put into `_meta`. `tracestate` and `baggage` are sent only if the options allow it. A span contains no arguments and no
 * results.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/core/Client"
 * import * as ClientTelemetry from "@effect-mcp/core/ClientTelemetry"
 * import * as Remote from "@effect-mcp/core/Remote"
 * import { Layer } from "effect"
 *
 * export const Notes = Client.layer(Remote.connector("https://example.com/mcp")).pipe(
 *   Layer.provide(ClientTelemetry.layer({ baggage: { keys: ["tenant"], servers: ["https://example.com"] } }))
 * )
 * ```
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<never> => {
  const tracing: typeof Tracing.Service = ({ name, origin }) => {
    const isServer = (server: string): boolean => server === name || server === origin
    return {
      session,
      traced: traced({ baggage: isSent(options.baggage, isServer), tracestate: isSent(options.tracestate, isServer) })
    }
  }
  // Like the layer of a tracer, this layer does not name its service in its type. Every client looks for the service in its context.
  return Layer.succeed(Tracing, tracing) as unknown as Layer.Layer<never>
}

/** A function that says whether the entry with this key is sent; `undefined` when no entry is sent. */
type IsSent = ((key: string) => boolean) | undefined

const isSent = ({ keys, servers }: Sent = {}, isServer: (server: string) => boolean): IsSent => {
  if (keys === undefined && servers === undefined) return undefined
  if (servers !== undefined && !servers.some(isServer)) return undefined
  return keys === undefined ? () => true : (key) => keys.includes(key)
}

const session: ClientTracing["session"] = Effect.flatMap(Effect.clock, (clock) => {
  const started = EffectInternals.millis(clock)
  return Effect.addFinalizer(() => Metric.update(sessionDuration, (EffectInternals.millis(clock) - started) / 1000))
})

const record = Telemetry.recorder(operationDuration)

interface Leaving {
  readonly baggage: IsSent
  readonly tracestate: IsSent
}

const traced = (leaving: Leaving): ClientTracing["traced"] => (outbound, version, table, { methods }): Outbound => {
  const known: Telemetry.Table = { has: (method) => table.has(method) || methods.has(method) }
  return {
    notify: (method, params) =>
      spanned(
        method,
        params,
        version(),
        known,
        (span) =>
          Effect.flatMap(
            Effect.zip(withContext(params, span, leaving), Effect.tracer),
            ([params, tracer]) =>
              Effect.provideService(outbound.notify(method, params), Surrounding, PlatformClient.below(span, tracer))
          )
      ),
    request: (method, params, options) =>
      Effect.flatMap(Effect.clock, (clock) => {
        const started = EffectInternals.millis(clock)
        return spanned(method, params, version(), known, (span) =>
          Effect.flatMap(Effect.zip(withContext(params, span, leaving), Effect.tracer), ([params, tracer]) =>
            Effect.onExit(
              outbound.request(method, params, {
                ...options,
                onId: (id) => {
                  span.attribute(Telemetry.attributes.requestId, String(id))
                  options?.onId?.(id)
                },
                around: PlatformClient.below(span, tracer)
              }),
              (exit) => {
                const { code, error } = endOf(exit)
                if (error !== undefined) {
                  span.attribute(Telemetry.attributes.error, error)
                }
                if (code !== undefined) {
                  span.attribute(Telemetry.attributes.status, String(code))
                }
                return record(
                  Telemetry.methodName(method, known),
                  error,
                  (EffectInternals.millis(clock) - started) / 1000
                )
              }
            )))
      })
  }
}

const spanned = <A, E>(
  method: string,
  params: JsonObject | undefined,
  version: string,
  known: Telemetry.Table,
  use: (span: Tracer.Span) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const operation = { id: undefined, method, params }
  return Effect.useSpan(Telemetry.spanName(operation, known), {
    kind: "client",
    captureStackTrace: false,
    attributes: Telemetry.spanAttributes(operation, version, known)
  }, use)
}

/** Returns the parameters with the span, and with the parts of `tracestate` and `baggage` that may be sent. */
const withContext = (
  params: JsonObject | undefined,
  span: Tracer.Span,
  { baggage, tracestate }: Leaving
): Effect.Effect<JsonObject> =>
  Effect.map(Baggage.Baggage, (entries) => {
    const state = tracestate && TraceContext.stateOf(span, tracestate)
    const text = baggage && Baggage.format(entries, baggage)
    return {
      ...params,
      _meta: {
        ...(params?._meta as JsonObject | undefined),
        ...TraceContext.inject(span),
        ...(state === undefined ? undefined : { [keys.tracestate]: state }),
        ...(text === undefined ? undefined : { [keys.baggage]: text })
      }
    }
  })

/**
 * Returns the kind of error of a call, and the code of the error with which the server answered. `error` is `undefined` when the call
 * succeeded.
 */
const endOf = (
  exit: Exit.Exit<JsonObject, CallError>
): { readonly error: string | undefined; readonly code?: number | undefined } => {
  if (exit._tag === "Success") return { error: Telemetry.errorOfResult(exit.value) }
  if (Cause.isInterruptedOnly(exit.cause)) return { error: "cancelled" }
  return Option.match(Cause.failureOption(exit.cause), {
    onNone: () => ({ error: Telemetry.OTHER }),
    onSome: (error) =>
      error instanceof JsonRpcError
        ? { error: Telemetry.errorOfCode(error.code), code: error.code }
        : { error: error._tag }
  })
}

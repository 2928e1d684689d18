/**
 * The names of spans, attributes and metrics from the OpenTelemetry conventions for MCP, and W3C Trace Context in
 * `_meta`. The conventions still change, so no other module contains these names. Of the content of a request only the
 * names of tools and prompts are recorded.
 * @see https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import type { JsonObject } from "../Json.js"
import * as McpError from "../McpError.js"
import { keys } from "../Meta.js"

/** Histograms, in seconds. */
export const metrics = {
  clientOperation: "mcp.client.operation.duration",
  serverOperation: "mcp.server.operation.duration",
  clientSession: "mcp.client.session.duration",
  serverSession: "mcp.server.session.duration"
} as const

/** The bucket boundaries of these histograms, in seconds. */
export const boundaries: ReadonlyArray<number> = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** One of these histograms. */
export const histogram = (name: string, description: string): Metric.Metric.Histogram<number> =>
  Metric.histogram(name, MetricBoundaries.fromIterable(boundaries), description)

/**
 * Records how long operations take, by method and kind of error. Callers pass `methodName` and an error of the
 * functions below, so that a peer cannot create metrics.
 */
export const recorder = (
  duration: Metric.Metric.Histogram<number>
): (method: string, error: string | undefined, seconds: number) => Effect.Effect<void> => {
  const durations = new Map<string, Metric.Metric.Histogram<number>>()
  return (method, error, seconds) => {
    const key = `${method} ${error ?? ""}`
    let tagged = durations.get(key)
    if (tagged === undefined) {
      tagged = Metric.tagged(duration, attributes.method, method)
      if (error !== undefined) tagged = Metric.tagged(tagged, attributes.error, error)
      durations.set(key, tagged)
    }
    return Metric.update(tagged, seconds)
  }
}

export const attributes = {
  method: "mcp.method.name",
  version: "mcp.protocol.version",
  requestId: "jsonrpc.request.id",
  tool: "gen_ai.tool.name",
  prompt: "gen_ai.prompt.name",
  operation: "gen_ai.operation.name",
  status: "rpc.response.status_code",
  error: "error.type"
} as const

/** Replaces every method and error that the specification does not define. */
export const OTHER = "_OTHER"

/** The name of a method in a metric. */
export const methodName = (method: string, table: Table): string => table.has(method) ? method : OTHER

/** The defined methods. */
export interface Table {
  readonly has: (method: string) => boolean
}

/** A message that is received or sent. */
export interface Operation {
  readonly id: string | number | undefined
  readonly method: string
  readonly params: JsonObject | undefined
}

/** The method, and the tool or prompt that it names. */
export const spanName = ({ method, params }: Operation, table: Table): string => {
  const target = targetOf(method, params)
  return target === undefined ? methodName(method, table) : `${method} ${target}`
}

/** The attributes that are known when the span starts. */
export const spanAttributes = (
  { id, method, params }: Operation,
  version: string,
  table: Table
): Record<string, unknown> => {
  const target = targetOf(method, params)
  return {
    [attributes.method]: methodName(method, table),
    [attributes.version]: version,
    ...(id === undefined ? undefined : { [attributes.requestId]: String(id) }),
    ...(target === undefined
      ? undefined
      : method === CALL_TOOL
      ? { [attributes.tool]: target, [attributes.operation]: "execute_tool" }
      : { [attributes.prompt]: target })
  }
}

const CALL_TOOL = "tools/call"
const GET_PROMPT = "prompts/get"
const MAX_TARGET = 128

const targetOf = (method: string, params: JsonObject | undefined): string | undefined =>
  (method === CALL_TOOL || method === GET_PROMPT) && typeof params?.name === "string"
    ? params.name.slice(0, MAX_TARGET)
    : undefined

/** The kind of error in a result; `undefined` when it reports none. */
export const errorOfResult = (result: unknown): string | undefined =>
  Predicate.hasProperty(result, "isError") && result.isError === true ? "tool_error" : undefined

/** The kind of a failure: the tag of an `McpError`, else `OTHER`. */
export const errorOfFailure = (failure: unknown): string => McpError.isMcpError(failure) ? failure._tag : OTHER

/**
 * The sender's span that `_meta` names; none when the value is not valid.
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export const parent = (meta: unknown): Option.Option<Tracer.ExternalSpan> => {
  const text = Predicate.hasProperty(meta, keys.traceparent) ? meta[keys.traceparent] : undefined
  const found = typeof text === "string" && text.length <= MAX_TRACEPARENT ? traceparent.exec(text) : null
  if (found === null) return Option.none()
  const [, version, traceId, spanId, flags, rest] = found
  return version === "ff" || (version === "00" && rest !== undefined) || zeros.test(traceId!) || zeros.test(spanId!)
    ? Option.none()
    : Option.some(Tracer.externalSpan({
      traceId: traceId!,
      spanId: spanId!,
      sampled: (Number.parseInt(flags!, 16) & 1) === 1,
      context: Context.empty()
    }))
}

const MAX_TRACEPARENT = 128
const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const zeros = /^0+$/

/** The `_meta` members that name a span to the receiver. */
export const inject = (span: Tracer.AnySpan): JsonObject => ({
  [keys.traceparent]: `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`
})

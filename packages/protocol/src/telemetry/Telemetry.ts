/**
 * The names that operators know MCP by: spans, attributes and metrics of the OpenTelemetry conventions, and W3C Trace
 * Context in `_meta`. The conventions are still moving, so all of their names are here and nowhere else.
 *
 * What is in a request is never told, but for the names of tools and prompts.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md
 * @since 0.1.0
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

/**
 * Histograms, in seconds.
 *
 * @since 0.1.0
 * @category names
 */
export const metrics = {
  clientOperation: "mcp.client.operation.duration",
  serverOperation: "mcp.server.operation.duration",
  clientSession: "mcp.client.session.duration",
  serverSession: "mcp.server.session.duration"
} as const

/**
 * The boundaries of those histograms.
 *
 * @since 0.1.0
 * @category names
 */
export const boundaries: ReadonlyArray<number> = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/**
 * One of them.
 *
 * @since 0.1.0
 * @category metrics
 */
export const histogram = (name: string, description: string): Metric.Metric.Histogram<number> =>
  Metric.histogram(name, MetricBoundaries.fromIterable(boundaries), description)

/**
 * Says how long operations take, by method and kind of error. Both are few, so that a peer who makes up others makes no
 * metric of its own.
 *
 * @since 0.1.0
 * @category metrics
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

/**
 * @since 0.1.0
 * @category names
 */
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

/**
 * What is said of every method that the specification does not have: a peer may make up any number of them.
 *
 * @since 0.1.0
 * @category names
 */
export const OTHER = "_OTHER"

/**
 * A method, as a metric may name it: those of a table by their name.
 *
 * @since 0.1.0
 * @category getters
 */
export const methodName = (method: string, table: Table): string => table.has(method) ? method : OTHER

/**
 * The methods that have a name of their own.
 *
 * @since 0.1.0
 * @category models
 */
export interface Table {
  readonly has: (method: string) => boolean
}

/**
 * A message that is served, or sent, for its span.
 *
 * @since 0.1.0
 * @category models
 */
export interface Operation {
  readonly id: string | number | undefined
  readonly method: string
  readonly params: JsonObject | undefined
}

/**
 * What a span of it is called: the method, and the tool or prompt that it is about.
 *
 * @since 0.1.0
 * @category getters
 */
export const spanName = ({ method, params }: Operation, table: Table): string => {
  const target = targetOf(method, params)
  return target === undefined ? methodName(method, table) : `${method} ${target}`
}

/**
 * What is known of it from the beginning.
 *
 * @since 0.1.0
 * @category getters
 */
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

/**
 * How it failed, in a word of few; `undefined` when it did not. That a tool failed is `tool_error`.
 *
 * @since 0.1.0
 * @category getters
 */
export const errorOfResult = (result: unknown): string | undefined =>
  Predicate.hasProperty(result, "isError") && result.isError === true ? "tool_error" : undefined

/**
 * The same for a failure: the tag of an error that is one of the protocol's, and `OTHER` for any other.
 *
 * @since 0.1.0
 * @category getters
 */
export const errorOfFailure = (failure: unknown): string => McpError.isMcpError(failure) ? failure._tag : OTHER

/**
 * The span of the sender that `_meta` names, if it names one as the standard wants it; anything else is no reason to fail.
 *
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 * @since 0.1.0
 * @category propagation
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

/**
 * What `_meta` says of this span, for the receiver.
 *
 * @since 0.1.0
 * @category propagation
 */
export const inject = (span: Tracer.AnySpan): JsonObject => ({
  [keys.traceparent]: `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`
})

/**
 * The names of spans, attributes and metrics from version 1.41.1 of the OpenTelemetry conventions for MCP. `ClientTelemetry` and
 * `ServerTelemetry` make spans and metrics with these names, and `server/telemetry/Metrics` makes metrics. Only this module contains these
 * names, because the conventions still change. Spans and metrics record the names of tools and prompts and the URIs of resources, and no
 * other content of a request.
 *
 * @see https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/mcp.md
 */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Predicate from "effect/Predicate"
import { codes } from "../ErrorCodes.js"
import type { JsonObject } from "../Json.js"
import * as McpError from "../McpError.js"
import type { Era } from "../Version.js"

/** The names of the histograms. Their values are in seconds. */
export const metrics = {
  clientOperation: "mcp.client.operation.duration",
  serverOperation: "mcp.server.operation.duration",
  clientSession: "mcp.client.session.duration",
  serverSession: "mcp.server.session.duration"
} as const

/** The boundaries of the buckets of these histograms, in seconds. */
export const boundaries: ReadonlyArray<number> = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** Makes a histogram with these boundaries. `name` is a value of `metrics`. */
export const histogram = (name: string, description: string): Metric.Metric.Histogram<number> =>
  Metric.histogram(name, MetricBoundaries.fromIterable(boundaries), description)

/**
 * Makes a function that records how long an operation takes, by method and kind of error. Callers pass the result of `methodName`, and the
 * result of `errorOfResult` or `errorOfCode`, so that a peer cannot create new metrics.
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
  resource: "mcp.resource.uri",
  operation: "gen_ai.operation.name",
  status: "rpc.response.status_code",
  error: "error.type",
  transport: "network.transport",
  protocol: "network.protocol.name"
} as const

/** The attributes of a span whose message is sent over HTTP. */
export const overHttp = { [attributes.transport]: "tcp", [attributes.protocol]: "http" } as const

/** The attributes of a span of an HTTP request, as the conventions for HTTP name them. */
export const http = {
  method: "http.request.method",
  status: "http.response.status_code",
  path: "url.path"
} as const

/** The name that replaces every method and error that neither the specification nor this library defines. */
export const OTHER = "_OTHER"

/** Returns the name of a method in a metric: `OTHER` when the method is not in `table`. */
export const methodName = (method: string, table: Table): string => table.has(method) ? method : OTHER

/** The methods that are defined. */
export interface Table {
  readonly has: (method: string) => boolean
}

/** A message that is received or sent. */
export interface Operation {
  readonly id: string | number | undefined
  readonly method: string
  readonly params: JsonObject | undefined
}

/** Returns the name of a span: the method, and the tool or prompt that the message names. */
export const spanName = ({ method, params }: Operation, table: Table): string => {
  const target = targetOf(method, params)
  return target === undefined ? methodName(method, table) : `${method} ${target}`
}

/** Returns the attributes of a span that are known when the span starts. */
export const spanAttributes = (
  { id, method, params }: Operation,
  version: string,
  table: Table
): Record<string, unknown> => {
  const target = targetOf(method, params)
  const uri = ofResources.has(method) && typeof params?.uri === "string" ? params.uri : undefined
  return {
    [attributes.method]: methodName(method, table),
    [attributes.version]: version,
    ...(id === undefined ? undefined : { [attributes.requestId]: String(id).slice(0, MAX_TARGET) }),
    ...(uri === undefined ? undefined : { [attributes.resource]: uri.slice(0, MAX_URI) }),
    ...(target === undefined
      ? undefined
      : method === CALL_TOOL
      ? { [attributes.tool]: target, [attributes.operation]: "execute_tool" }
      : { [attributes.prompt]: target })
  }
}

const CALL_TOOL = "tools/call"
const GET_PROMPT = "prompts/get"
const ofResources = new Set(["resources/read", "resources/subscribe", "resources/unsubscribe"])
const MAX_TARGET = 128
const MAX_URI = 1024

const targetOf = (method: string, params: JsonObject | undefined): string | undefined =>
  (method === CALL_TOOL || method === GET_PROMPT) && typeof params?.name === "string"
    ? params.name.slice(0, MAX_TARGET)
    : undefined

/** Returns the kind of error that a result reports; `undefined` when the result reports no error. */
export const errorOfResult = (result: unknown): string | undefined =>
  Predicate.hasProperty(result, "isError") && result.isError === true ? "tool_error" : undefined

/**
 * Returns the kind of an error that answers a request. The kind is the code of the error if the specification or this library defines the
 * code, otherwise `OTHER`.
 */
export const errorOfCode = (code: number | undefined): string =>
  code !== undefined && defined.has(code) ? String(code) : OTHER

const defined: ReadonlySet<number> = new Set([
  ...Object.values(codes.legacy),
  ...Object.values(codes.modern)
])

/** Returns the code of the JSON-RPC error that a failure becomes in an era; `undefined` for a failure that is not an `McpError`. */
export const codeOf = (failure: unknown, era: Era): number | undefined =>
  McpError.isMcpError(failure) ? McpError.toWire(failure, era).code : undefined

/**
 * Makes the layer that registers the tools of a document with a server, for `OpenApi` and `HttpApiTools`. `OpenApi` makes the tools from
 * the document. The argument `call` makes the handler of each tool. For each operation that cannot become a tool, this module logs a
 * warning.
 */
import type * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { Registry } from "@effect-mcp/core/Registry"
import type * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

interface Made<T> {
  readonly tools: ReadonlyArray<T>
  readonly skipped: ReadonlyArray<{
    readonly operation: { readonly path: string; readonly method?: string | undefined }
    readonly reason: string
  }>
}

export const make = <
  T extends { readonly definition: Tool.Tool<string, JsonObject, JsonObject, unknown, never> },
  E,
  R
>(
  made: Effect.Effect<Made<T>, E>,
  call: (tool: T) => (args: JsonObject) => Effect.Effect<unknown, never, R>
): Layer.Layer<never, E, Registry | Exclude<R, Feature.RequestServices>> =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const { skipped, tools } = yield* made
    for (const { operation, reason } of skipped) {
      const { method, path } = operation
      const what = method === undefined ? `The path "${path}"` : `The operation "${method} ${path}"`
      yield* Effect.logWarning(`${what} is left out: it ${reason}`)
    }
    return tools.map((tool) => McpServer.tool(tool.definition, call(tool)))
      .reduce((all, one) => Layer.merge(all, one), Layer.empty as Feature.Feature<any>)
  }))

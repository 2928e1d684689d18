/**
 * Serves a toolkit of `@effect/ai` as tools of an MCP server. So MCP clients can call the tools that an application has for its own model.
 * The layer of `toolkit.toLayer` provides the handlers. When a tool fails with a failure that it declares, the client gets a result with
 * `isError`.
 *
 * @since 0.1.0
 */
import * as AiTool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import type * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { ToolAnnotations } from "@effect-mcp/core/protocol/Tools"
import * as Tool from "@effect-mcp/core/Tool"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as RemoteDescription from "./toolkit/RemoteDescription.js"

/** The services that the schemas of a tool require. */
type SchemaServices<T> = T extends AiTool.Tool<any, infer Config, any> ?
    | Schema.Schema.Context<Config["parameters"]>
    | Schema.Schema.Context<Config["success"]>
    | Schema.Schema.Context<Config["failure"]>
  : never

/**
 * Checks that the schemas of a toolkit require no services. The type is `unknown` for such a toolkit. For any other toolkit the type is a
 * sentence, which the compiler shows as the error. The server decodes and encodes values outside of the application's layers, so the
 * schemas cannot get services.
 *
 * @category models
 */
export type Served<Tools extends Record<string, AiTool.Any>> = [SchemaServices<Tools[keyof Tools]>] extends [never]
  ? unknown
  : "A schema of this toolkit requires services, which the server does not have: use schemas without requirements"

/**
 * The services that the tools of a toolkit declare as `dependencies`, except the services that a server provides for each request. `layer`
 * requires these services together with the handlers.
 *
 * @category models
 */
export type Requirements<Tools extends Record<string, AiTool.Any>> = Exclude<
  AiTool.Requirements<Tools[keyof Tools]>,
  Feature.RequestServices
>

/**
 * Registers the tools of a toolkit as features of a server. The layer requires the handlers of the toolkit, which `toolkit.toLayer`
 * provides. A tool may have `ServerSession` or `RequestContext` among its `dependencies`. Then it gets these services from each request.
 *
 * The layer skips tools that the provider of a model runs itself. It dies when the server already has a tool of the same name. The function
 * throws when a schema of the toolkit cannot be written as a JSON Schema.
 *
 * @example
 * ```ts
 * import * as ServerToolkit from "@effect-mcp/ai/ServerToolkit"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect/ai/Tool"
 * import * as Toolkit from "@effect/ai/Toolkit"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Dice = Toolkit.make(Tool.make("roll", { parameters: { sides: Schema.Int }, success: Schema.Int }))
 * const DiceLive = Dice.toLayer({ roll: ({ sides }) => Effect.succeed(sides) })
 *
 * export const Server = McpServer.layer(
 *   { name: "dice", version: "1.0.0" },
 *   ServerToolkit.layer(Dice).pipe(Layer.provide(DiceLive))
 * )
 * ```
 * @category layers
 */
export const layer = <Tools extends Record<string, AiTool.Any>>(
  toolkit: Toolkit.Toolkit<Tools> & Served<Tools>
): Feature.Feature<AiTool.HandlersFor<Tools> | Requirements<Tools>> =>
  Object.values(toolkit.tools as Record<string, AiTool.Any>)
    .filter((tool) => !AiTool.isProviderDefined(tool) || tool.requiresHandler)
    .map(feature)
    .reduce((all, one) => Layer.merge(all, one), Layer.empty as Feature.Feature<any>)

const feature = (tool: AiTool.Any): Feature.Feature<any> => {
  const implementation = Context.GenericTag<AiTool.Handler<string>>(tool.id)
  return McpServer.tool(definitionOf(tool), (parameters) =>
    Effect.flatMap(implementation, ({ context, handler }) =>
      // When the handler's layer and the request provide the same service, the handler gets the service of the request.
      Effect.mapInputContext(
        handler(parameters) as Effect.Effect<any, never>,
        (request: Context.Context<never>) => Context.merge(context, request)
      )))
}

const definitionOf = (tool: AiTool.Any): Tool.Tool<string, any, any, any, never> => {
  const { annotations } = tool
  const { parametersSchema } = tool as { readonly parametersSchema: Schema.Schema<any, any> }
  const description = AiTool.getDescription(tool as never)
  return Tool.make(tool.name, {
    ...(description === undefined ? undefined : { description }),
    ...Option.match(Context.getOption(annotations, AiTool.Title), {
      onNone: () => undefined,
      onSome: (title) => ({ title })
    }),
    ...((parametersSchema as unknown) === AiTool.EmptyParams ? undefined : { parameters: parametersSchema }),
    success: tool.successSchema as Schema.Schema<any, any>,
    failure: tool.failureSchema as Schema.Schema<any, any>,
    annotations: hints(annotations)
  }) as Tool.Tool<string, any, any, any, never>
}

/**
 * Returns the hints that the tool sets; `undefined` when the tool sets no hint. `@effect/ai` and MCP have the same defaults for hints that
 * the tool does not set.
 */
const hints = (annotations: Context.Context<never>): ToolAnnotations | undefined => {
  const entries = RemoteDescription.hints
    .filter(([tag]) => has(annotations, tag))
    .map(([tag, hint]) => [hint, Context.get(annotations, tag as typeof AiTool.Readonly)])
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

const has = (annotations: Context.Context<never>, tag: { readonly key: string }): boolean =>
  Predicate.isNotUndefined(EffectInternals.entries(annotations).get(tag.key))

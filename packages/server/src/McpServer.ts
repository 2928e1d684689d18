/**
 * The front desk: a server out of who it is and what it offers, and features out of definitions and handlers.
 *
 * A server is furnished before its door opens: features are an argument of its layer, and nothing is answered before all
 * of them are there.
 *
 * @since 0.1.0
 */
import type * as Definition from "@effect-mcp/definition/Definition"
import type * as Tool from "@effect-mcp/definition/Tool"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { McpError } from "@effect-mcp/protocol/McpError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Dispatcher from "./Dispatcher.js"
import * as ToolsFeature from "./features/Tools.js"
import * as Page from "./Page.js"
import * as Registry from "./Registry.js"
import type { RequestContext } from "./RequestContext.js"
import * as Router from "./Router.js"
import type { ServerSession } from "./ServerSession.js"

/**
 * Services that every request brings along: a handler may use them, its layer does not have to provide them.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestServices = RequestContext | ServerSession | Scope.Scope

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends Dispatcher.Options {
  /** How to use the server, for the model. */
  readonly instructions?: string | undefined
  /** Whether what handlers `log` reaches clients, and `logging` is advertised. Default: true. */
  readonly logging?: boolean | undefined
  /** How many entries a page of a list holds. Default: 1000. */
  readonly pageSize?: number | undefined
}

/**
 * A server that offers these features to every transport that is put on top of it.
 *
 * The features are built with a memo map of their own, so one feature layer given to two servers serves both. What they
 * need and do not provide themselves stays in the requirements of the layer, for ordinary `Layer.provide`.
 *
 * @example
 * ```ts
 * import * as Tool from "@effect-mcp/definition/Tool"
 * import * as McpServer from "@effect-mcp/server/McpServer"
 * import { Effect, Schema } from "effect"
 *
 * const Greet = Tool.make("greet", { parameters: { name: Schema.String } })
 * const GreetLive = McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`))
 *
 * export const Server = McpServer.layer({ name: "greeter", version: "1.0.0" }, GreetLive)
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <E = never, R = never>(
  info: Implementation,
  features: Layer.Layer<never, E, R>,
  options: Options = {}
): Layer.Layer<Dispatcher.Dispatcher, E, Exclude<R, Registry.Registry>> =>
  Layer.scoped(
    Dispatcher.Dispatcher,
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const logging = options.logging !== false
      yield* Layer.buildWithMemoMap(
        Layer.provide(features, Layer.succeed(Registry.Registry, registry)),
        yield* Layer.makeMemoMap,
        yield* Effect.scope
      )
      return yield* Dispatcher.make(
        {
          info,
          instructions: options.instructions,
          logging,
          capabilities: () => capabilities(registry, logging),
          router: Router.make(registry, { pageSize: options.pageSize ?? Page.SIZE })
        },
        registry,
        options
      )
    })
  )

const capabilities = (registry: Registry.RegistryService, logging: boolean): ServerCapabilities => ({
  ...(logging ? { logging: {} } : undefined),
  ...(registry.offers("tools") ? { tools: { listChanged: true } } : undefined)
})

/**
 * Keeps a tool: the feature that a definition and a handler make.
 *
 * The handler runs on a fiber of its own for each call, which a cancel interrupts; what it acquires in its scope is
 * released before the answer leaves. It gives the tool's success, richer content with `ToolResult`, or fails: with the
 * tool's declared failure, which the model reads, or with an `McpError`, which the calling program gets. What it needs
 * stays in the requirements of the layer and is captured when the layer is built.
 *
 * Building the layer dies when the server has a tool of this name already. When the layer's scope closes, the tool is gone
 * and clients are told.
 *
 * @since 0.1.0
 * @category features
 */
export const tool = <const Name extends string, Parameters, Arguments, Success, Failure, R = never>(
  definition: Tool.Tool<Name, Parameters, Arguments, Success, Failure>,
  handler: (
    parameters: NoInfer<Parameters>
  ) => Effect.Effect<Tool.Returns<NoInfer<Success>>, NoInfer<Failure> | McpError, R>
): Layer.Layer<never, never, Registry.Registry | Exclude<R, RequestServices>> =>
  Layer.scopedDiscard(
    Effect.gen(function*() {
      const registry = yield* Registry.Registry
      const context = yield* Effect.context<Exclude<R, RequestServices>>()
      yield* registry.registerTool({
        advertised: definition.advertised,
        context: Context.omit(Scope.Scope)(context as Context.Context<any>) as Context.Context<never>,
        call: ToolsFeature.call(definition, handler)
      })
    })
  )

type Handlers<D extends Definition.Definition.Any> = {
  readonly [T in Definition.Definition.Tools<D> as T["name"]]: (
    parameters: Tool.Tool.Parameters<T>
  ) => Effect.Effect<Tool.Returns<Tool.Tool.Success<T>>, Tool.Tool.Failure<T> | McpError, any>
}

type HandlersContext<H> = {
  readonly [K in keyof H]: H[K] extends (parameters: any) => Effect.Effect<any, any, infer R> ? R : never
}[keyof H]

/**
 * Keeps a whole definition at once: one handler for each of its tools, by name. A missing one does not compile.
 *
 * @since 0.1.0
 * @category features
 */
export const implement = <D extends Definition.Definition.Any, const H extends Handlers<D>>(
  definition: D,
  handlers: H
): Layer.Layer<never, never, Registry.Registry | Exclude<HandlersContext<H>, RequestServices>> => {
  const layers = [...definition.tools.values()].map((promised) =>
    tool(promised, (handlers as Record<string, (parameters: any) => Effect.Effect<any, any, any>>)[promised.name]!)
  )
  return layers.reduce((all, one) => Layer.merge(all, one), Layer.empty as Layer.Layer<never, never, any>)
}

/**
 * Makes a toolkit of `@effect/ai` from the tools of MCP servers, so that a language model can call these tools. `fromList` takes a
 * `ToolList`, whose tools are known only at run time. `make`, `layer` and `of` take a `Definition`, whose tools have typed parameters and
 * results.
 *
 * The model gets a failure of a tool as a result (`failureMode: "return"`), so that the model can react and the conversation goes on.
 * Programs that call the API of a model themselves use `ToolList` without this module.
 *
 * @since 0.1.0
 */
import * as AiTool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Client from "@effect-mcp/core/Client"
import type { CallToolOptions, ClientSessionService } from "@effect-mcp/core/ClientSession"
import type * as Definition from "@effect-mcp/core/Definition"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import type * as Tool from "@effect-mcp/core/Tool"
import * as Apps from "@effect-mcp/extensions/Apps"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Failures from "./list/Failures.js"
import * as ModelSchema from "./ModelSchema.js"
import * as ModelName from "./text/ModelName.js"
import * as RemoteDescription from "./toolkit/RemoteDescription.js"
import type * as ToolList from "./ToolList.js"
import * as ToolOutput from "./ToolOutput.js"

/**
 * The error of a tool that has failed, or that could not be called. Every tool in a toolkit of this module can fail with this error. A tool
 * of a definition can also fail with the failures that the definition declares. The model reads the message.
 *
 * @category errors
 */
export class ToolFailure extends Schema.TaggedError<ToolFailure>("@effect-mcp/ai/ToolFailure")("ToolFailure", {
  tool: Schema.String,
  message: Schema.String
}) {}

/**
 * The type of a schema for the parameters of a tool. `@effect/ai` requires the members of this type.
 *
 * @category models
 */
export interface ParametersSchema<A> extends Schema.Schema<A, any> {
  readonly fields: Schema.Struct.Fields
  readonly make: any
}

/**
 * A tool of a `ToolList` as a tool of `@effect/ai`. The server checks the arguments. The success value is the JSON value of the output's
 * text, or the text itself, as `ToolOutput.value` returns it.
 *
 * @category models
 */
export interface RemoteTool extends
  AiTool.Tool<string, {
    readonly parameters: ParametersSchema<JsonObject>
    readonly success: Schema.Schema<unknown>
    readonly failure: typeof ToolFailure
    readonly failureMode: "return"
  }>
{}

/**
 * The tools of a `ToolList`, by name.
 *
 * @category models
 */
export interface RemoteTools extends Record<string, RemoteTool> {}

/**
 * The options of `fromList`. `DefinitionOptions` and the options of `layer` also have them.
 *
 * @category models
 */
export interface Options {
  /**
   * Returns the options for the calls of a tool, such as the timeout and the handler of progress. `name` is the name of the tool. Default:
   * the calls have no options.
   */
  readonly call?: ((name: string) => CallToolOptions) | undefined
}

/**
 * Makes a toolkit from a `ToolList`, with handlers. The toolkit does not change. For a list of `ToolList.follow`, make a new toolkit before
 * each request to the model: `Effect.flatMap(following.current, ClientToolkit.fromList)`.
 *
 * In `@effect/ai` the result of a tool is a JSON value, so a tool cannot return an image. In place of an image the model gets a short text.
 * If the model must see images, use `ToolList` without this module.
 *
 * @category constructors
 */
export const fromList = (
  list: ToolList.ToolList,
  options: Options = {}
): Effect.Effect<Toolkit.WithHandler<RemoteTools>> => {
  const tools = list.tools.map(remoteTool)
  const toolkit = Toolkit.make(...tools) as unknown as Toolkit.Toolkit<RemoteTools>
  const handlers = Object.fromEntries(tools.map(({ name }) => [
    name,
    (args: JsonObject) =>
      Effect.flatMap(
        list.call(name, args, options.call?.(name)),
        (output) => output.isError ? fail(name, output.text) : Effect.succeed(ToolOutput.value(output))
      )
  ]))
  return Effect.flatMap(toolkit.toContext(handlers as never), (context) => Effect.provide(toolkit, context))
}

const remoteTool = ({ description, inputSchema, name, tool }: ToolList.ModelTool): RemoteTool =>
  AiTool.make(name, {
    description: description === "" ? name : description,
    success: Schema.Unknown,
    failure: ToolFailure,
    failureMode: "return"
  })
    .setParameters(RemoteDescription.parameters(inputSchema))
    .annotateContext(RemoteDescription.annotations(tool)) as unknown as RemoteTool

const fail = (tool: string, message: string) => Effect.fail(new ToolFailure({ tool, message }))

/**
 * The type of the success value of a tool of a definition. For a tool that declares no success, this type is `string`, and the value is the
 * text of the result.
 *
 * @category models
 */
export type SuccessOf<T> = [Tool.Tool.Success<T>] extends [void] ? string : Tool.Tool.Success<T>

/**
 * A tool of a definition as a tool of `@effect/ai`.
 *
 * @category models
 */
export interface TypedTool<T extends Tool.Tool.Any> extends
  AiTool.Tool<T["name"], {
    readonly parameters: ParametersSchema<Tool.Tool.Parameters<T>>
    readonly success: Schema.Schema<SuccessOf<T>, any>
    readonly failure: Schema.Schema<Tool.Tool.Failure<T> | ToolFailure, any>
    readonly failureMode: "return"
  }>
{}

/**
 * The tools of a definition, by name, as tools of `@effect/ai`.
 *
 * @category models
 */
export type TypedTools<D extends Definition.Definition.Any> = {
  readonly [T in Definition.Definition.Tools<D> as T["name"]]: TypedTool<T>
}

/**
 * The options of `make` and `of`.
 *
 * @category models
 */
export interface DefinitionOptions extends Options {
  /**
   * The subset of JSON Schema that the model accepts. Default: `json-schema`. The OpenAI provider of `@effect/ai` needs
   * `openai-strict`, unless its configuration has `strict: false`.
   */
  readonly dialect?: ModelSchema.Dialect | undefined
}

/**
 * Makes a toolkit of the tools of a definition, without handlers. `layer` provides the handlers. Throws when the dialect cannot describe
 * the arguments of a tool, or when a tool is only for views of MCP Apps (`AppView.meta`). Also throws when models do not accept the name of
 * a tool. Models accept names of at most 64 characters, which are letters, digits, "_" and "-".
 *
 * @category constructors
 */
export const make = <D extends Definition.Definition.Any>(
  definition: D,
  { dialect = "json-schema" }: Pick<DefinitionOptions, "dialect"> = {}
): Toolkit.Toolkit<TypedTools<D>> =>
  Toolkit.make(...[...definition.tools.values()].map((tool) => typedTool(tool, dialect))) as unknown as Toolkit.Toolkit<
    TypedTools<D>
  >

const typedTool = (
  { advertised, failure, name, parameters, success }: Tool.Tool.Any,
  dialect: ModelSchema.Dialect
): AiTool.Any => {
  if (ModelName.legal(name) !== name) {
    throw new Error(
      `Tool ${
        JSON.stringify(name)
      }: models do not accept this name: rename the tool, or make the toolkit of a ToolList, ` +
        "which gives the tool another name"
    )
  }
  if (!Apps.isForModel(advertised)) {
    throw new Error(
      `Tool ${
        JSON.stringify(name)
      } is only for the user interface of its server (MCP Apps), not for a model: remove the tool from this definition`
    )
  }
  const { inputSchema } = advertised
  const { isStrict, schema } = Either.getOrThrowWith(
    ModelSchema.make(inputSchema, dialect),
    (reason) => new Error(`Tool ${JSON.stringify(name)} ${reason}`)
  )
  const described = RemoteDescription.described(
    parameters as Schema.Schema<any, any>,
    schema,
    isStrict ? (args) => ModelSchema.withoutNulls(args, inputSchema) : undefined
  )
  return AiTool.make(name, {
    description: advertised.description ?? advertised.title ?? name,
    success: success as Schema.Schema.Any ?? Schema.String,
    failure: Schema.Union(failure as Schema.Schema.Any, ToolFailure),
    failureMode: "return"
  })
    .setParameters(described as ParametersSchema<any>)
    .annotateContext(RemoteDescription.annotations(advertised)) as unknown as AiTool.Any
}

/**
 * Provides the handlers of the toolkit `make(definition)`. The handlers call the server of the `Client` in the context.
 *
 * @category layers
 */
export const layer = <D extends Definition.Definition.Any>(
  definition: D,
  options: Options & ToolOutput.Options = {}
): Layer.Layer<AiTool.HandlersFor<TypedTools<D>>, never, Client.Client> =>
  Layer.unwrapEffect(
    Effect.map(Client.Client, (session) => make(definition).toLayer(handlers(session, definition, options) as never))
  )

/**
 * Makes a toolkit of the tools of a definition, with handlers. The handlers call the server of the `Client` in the context.
 *
 * @example
 * ```ts
 * import * as ClientToolkit from "@effect-mcp/ai/ClientToolkit"
 * import * as Definition from "@effect-mcp/core/Definition"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { Effect, Schema } from "effect"
 *
 * const Forecast = Tool.make("forecast", { parameters: { city: Schema.String }, success: Schema.Struct({ celsius: Schema.Int }) })
 *
 * export const program = Effect.gen(function*() {
 *   const toolkit = yield* ClientToolkit.of(Definition.make(Forecast))
 *   const response = yield* LanguageModel.generateText({ prompt: "How warm is Oslo?", toolkit })
 *   for (const { result } of response.toolResults) yield* Effect.log(result) // { celsius: number } or a ToolFailure
 * })
 * ```
 * @category constructors
 */
export const of = <D extends Definition.Definition.Any>(
  definition: D,
  options: DefinitionOptions & ToolOutput.Options = {}
): Effect.Effect<Toolkit.WithHandler<TypedTools<D>>, never, Client.Client> =>
  Effect.flatMap(Client.Client, (session) => {
    const toolkit = make(definition, options)
    return Effect.flatMap(
      toolkit.toContext(handlers(session, definition, options) as never),
      (context) => Effect.provide(toolkit, context)
    )
  })

const handlers = (
  session: ClientSessionService,
  definition: Definition.Definition.Any,
  options: Options & ToolOutput.Options
): Readonly<Record<string, (args: unknown) => Effect.Effect<unknown, unknown>>> => {
  const calls = Client.of(session, definition) as Readonly<Record<string, Client.Call<Tool.Tool.Any>>>
  return Object.fromEntries([...definition.tools.values()].map((tool) => [
    tool.name,
    (args: unknown) =>
      Effect.map(
        Effect.catchAll(calls[tool.name]!(args, options.call?.(tool.name)), (error) => failure(tool, error, options)),
        (success) =>
          tool.success === undefined ? ToolOutput.make(success as Tools.CallToolResult, options).text : success
      )
  ]))
}

/** Fails with a failure that the tool declares, or with a `ToolFailure` for any other error. */
const failure = (tool: Tool.Tool.Any, error: unknown, options: ToolOutput.Options): Effect.Effect<never, unknown> =>
  Effect.flatMap(
    Failures.text(tool.name, error, options),
    (text) => text === undefined ? Effect.fail(error) : fail(tool.name, text)
  )

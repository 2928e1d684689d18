/**
 * The tools, resources and prompts of a definition as functions that call the server. Arguments are encoded, results and
 * declared failures decoded, by the schemas of the definition, which client and server share.
 *
 * @since 0.1.0
 */
import type * as Definition from "@effect-mcp/definition/Definition"
import type * as Prompt from "@effect-mcp/definition/Prompt"
import type * as Resource from "@effect-mcp/definition/Resource"
import type * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import type * as Tool from "@effect-mcp/definition/Tool"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { CallOptions } from "./CallOptions.js"
import type { ClientError, ToolError } from "./ClientError.js"
import type { ClientSessionService } from "./ClientSession.js"
import * as TypedTool from "./session/TypedTool.js"

/**
 * What a call to a tool succeeds with: its decoded success, or the whole result of a tool that declares none.
 *
 * @category models
 */
export type Success<T> = [Tool.Tool.Success<T>] extends [void] ? Tools.CallToolResult : Tool.Tool.Success<T>

/**
 * A tool as a function. It fails with the tool's declared failure, with `ToolError` when the tool failed in another way, and
 * with the errors of any call.
 *
 * @category models
 */
export type Call<T> = {} extends Tool.Tool.Arguments<T> ? (
    args?: Tool.Tool.Arguments<T>,
    options?: CallOptions
  ) => Effect.Effect<Success<T>, Tool.Tool.Failure<T> | ToolError | ClientError>
  : (
    args: Tool.Tool.Arguments<T>,
    options?: CallOptions
  ) => Effect.Effect<Success<T>, Tool.Tool.Failure<T> | ToolError | ClientError>

type Unless<Empty, A> = [Empty] extends [never] ? {} : A

/**
 * A definition as functions: the tools under their names, and `resources`, `templates` and `prompts` where the definition
 * has any.
 *
 * @category models
 */
export type Typed<D extends Definition.Definition.Any> = Schema.Simplify<
  & { readonly [T in Definition.Definition.Tools<D> as T["name"]]: Call<T> }
  & Unless<Definition.Definition.Resources<D>, {
    readonly resources: {
      readonly [R in Definition.Definition.Resources<D> as R["name"]]: (
        options?: CallOptions
      ) => Effect.Effect<Resources.ReadResourceResult, ClientError>
    }
  }>
  & Unless<Definition.Definition.Templates<D>, {
    readonly templates: {
      readonly [T in Definition.Definition.Templates<D> as T["name"]]: (
        parameters: ResourceTemplate.ResourceTemplate.Parameters<T>,
        options?: CallOptions
      ) => Effect.Effect<Resources.ReadResourceResult, ClientError>
    }
  }>
  & Unless<Definition.Definition.Prompts<D>, {
    readonly prompts: { readonly [P in Definition.Definition.Prompts<D> as P["name"]]: GetPrompt<P> }
  }>
>

/**
 * A prompt as a function of its arguments.
 *
 * @category models
 */
export type GetPrompt<P> = {} extends Prompt.Prompt.Arguments<P> ? (
    args?: Prompt.Prompt.Arguments<P>,
    options?: CallOptions
  ) => Effect.Effect<Prompts.GetPromptResult, ClientError>
  : (args: Prompt.Prompt.Arguments<P>, options?: CallOptions) => Effect.Effect<Prompts.GetPromptResult, ClientError>

/**
 * The functions of a definition, for a client as a value. `Client.of` takes the client from the context.
 *
 * @category constructors
 */
export const make = <D extends Definition.Definition.Any>(session: ClientSessionService, definition: D): Typed<D> => {
  const each = <A, F>(definitions: ReadonlyMap<string, A>, f: (definition: A) => F): Readonly<Record<string, F>> =>
    Object.fromEntries([...definitions].map(([name, definition]) => [name, f(definition)]))
  const { prompts, resources, templates, tools } = definition
  return {
    ...(resources.size === 0 ? undefined : { resources: each(resources, (resource) => read(session, resource)) }),
    ...(templates.size === 0
      ? undefined
      : { templates: each(templates, (template) => readTemplate(session, template)) }),
    ...(prompts.size === 0 ? undefined : { prompts: each(prompts, (prompt) => get(session, prompt)) }),
    ...each(tools, (tool) => call(session, tool))
  } as unknown as Typed<D>
}

const read = (session: ClientSessionService, { uri }: Resource.Resource.Any) => (options?: CallOptions) =>
  session.readResource(uri, options)

const readTemplate =
  (session: ClientSessionService, { codec, name }: ResourceTemplate.ResourceTemplate.Any) =>
  (parameters: unknown, options?: CallOptions) =>
    Effect.flatMap(
      Effect.mapError(codec.encode(parameters), TypedTool.invalidArguments(`resource template "${name}"`)),
      (uri) => session.readResource(uri, options)
    )

const get =
  (session: ClientSessionService, { codec, name }: Prompt.Prompt.Any) => (args: unknown, options?: CallOptions) =>
    Effect.flatMap(
      Effect.mapError(codec.encode(args ?? {}), TypedTool.invalidArguments(`prompt "${name}"`)),
      (encoded) => session.getPrompt(name, Object.keys(encoded).length === 0 ? undefined : encoded, options)
    )

const call = (session: ClientSessionService, tool: Tool.Tool.Any) => (args: unknown, options?: CallOptions) =>
  Effect.flatMap(
    TypedTool.encode(tool, args),
    // The definition's schema checks the result, so the server's output schema is not needed.
    (encoded) =>
      Effect.flatMap(
        session.callTool(tool.name, encoded, { ...options, checkOutput: false }),
        TypedTool.reader(tool)
      )
  )

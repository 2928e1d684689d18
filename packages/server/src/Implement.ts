/**
 * The types of the handlers that implement a definition, computed from the definition. `McpServer.implement` takes them, and
 * its result requires the services that they require.
 *
 * @since 0.1.0
 */
import type * as Definition from "@effect-mcp/definition/Definition"
import type * as Prompt from "@effect-mcp/definition/Prompt"
import type * as Resource from "@effect-mcp/definition/Resource"
import type * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import type * as Tool from "@effect-mcp/definition/Tool"
import type * as Effect from "effect/Effect"
import type * as Completer from "./Completer.js"
import type * as Feature from "./Feature.js"

type Tools<D extends Definition.Definition.Any> = {
  readonly [T in Definition.Definition.Tools<D> as T["name"]]: (
    parameters: Tool.Tool.Parameters<T>
  ) => Effect.Effect<Tool.Returns<Tool.Tool.Success<T>>, Tool.Tool.Failure<T> | Feature.Fails, any>
}

type Resources<D extends Definition.Definition.Any> = {
  readonly [R in Definition.Definition.Resources<D> as R["name"]]: Effect.Effect<Resource.Contents, Feature.Fails, any>
}

type Read<T> = (
  parameters: ResourceTemplate.ResourceTemplate.Parameters<T>,
  uri: string
) => Effect.Effect<Resource.Contents, Feature.Fails, any>

type Templates<D extends Definition.Definition.Any> = {
  readonly [T in Definition.Definition.Templates<D> as T["name"]]: Read<T> | {
    readonly read: Read<T>
    readonly complete?: Completer.Completers<keyof ResourceTemplate.ResourceTemplate.Parameters<T>>
    readonly list?: Effect.Effect<ReadonlyArray<Resource.Resource.Any>, Feature.Fails, any>
  }
}

type Get<P> = (parameters: Prompt.Prompt.Parameters<P>) => Effect.Effect<Prompt.Messages, Feature.Fails, any>

type Prompts<D extends Definition.Definition.Any> = {
  readonly [P in Definition.Definition.Prompts<D> as P["name"]]: Get<P> | {
    readonly get: Get<P>
    readonly complete?: Completer.Completers<keyof Prompt.Prompt.Parameters<P>>
  }
}

type Unless<Empty, A> = [Empty] extends [never] ? {} : A

/**
 * The handlers of a definition: tools by their names, and beside them those of `resources`, `templates` and `prompts`.
 */
export type Handlers<D extends Definition.Definition.Any> =
  & Tools<D>
  & Unless<Definition.Definition.Resources<D>, { readonly resources: Resources<D> }>
  & Unless<Definition.Definition.Templates<D>, { readonly templates: Templates<D> }>
  & Unless<Definition.Definition.Prompts<D>, { readonly prompts: Prompts<D> }>

/** The services that these handlers require. */
export type Context<H> = H extends Effect.Effect<any, any, infer R> ? R
  : H extends (...args: any) => never ? never
  : H extends (...args: any) => Effect.Effect<any, any, infer R> ? R
  : { readonly [K in keyof H]: Context<H[K]> }[keyof H]

/**
 * The types of the handlers that implement a definition. The compiler computes these types from the definition. `McpServer.implement` takes
 * the handlers, and makes a feature that requires the services of the handlers.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Definition from "../definition/Definition.js"
import type * as Prompt from "../definition/Prompt.js"
import type * as Resource from "../definition/Resource.js"
import type * as ResourceTemplate from "../definition/ResourceTemplate.js"
import type * as Tool from "../definition/Tool.js"
import type * as Completer from "./Completer.js"
import type * as Feature from "./Feature.js"

// Here handlers may fail with anything. `Checked` refuses the failures that are not declared.
type Tools<D extends Definition.Definition.Any> = {
  readonly [T in Definition.Definition.Tools<D> as T["name"]]: (
    parameters: Tool.Tool.Parameters<T>
  ) => Effect.Effect<Tool.Returns<Tool.Tool.Success<T>>, any, any>
}

type Resources<D extends Definition.Definition.Any> = {
  readonly [R in Definition.Definition.Resources<D> as R["name"]]: Effect.Effect<Resource.Contents, any, any>
}

type Read<T> = (
  parameters: ResourceTemplate.ResourceTemplate.Parameters<T>,
  uri: string
) => Effect.Effect<Resource.Contents, any, any>

type Templates<D extends Definition.Definition.Any> = {
  readonly [T in Definition.Definition.Templates<D> as T["name"]]: Read<T> | {
    readonly read: Read<T>
    readonly complete?: Completer.Completers<keyof ResourceTemplate.ResourceTemplate.Parameters<T>>
    readonly list?: Effect.Effect<ReadonlyArray<Resource.Resource.Any>, any, any>
  }
}

type Get<P> = (parameters: Prompt.Prompt.Parameters<P>) => Effect.Effect<Prompt.Messages, any, any>

type Prompts<D extends Definition.Definition.Any> = {
  readonly [P in Definition.Definition.Prompts<D> as P["name"]]: Get<P> | {
    readonly get: Get<P>
    readonly complete?: Completer.Completers<keyof Prompt.Prompt.Parameters<P>>
  }
}

type Unless<Empty, A> = [Empty] extends [never] ? {} : A

/**
 * The handlers of a definition. Each tool has a member with its name. The members `resources`, `templates` and `prompts` contain the
 * handlers of these kinds.
 *
 * @category models
 */
export type Handlers<D extends Definition.Definition.Any> =
  & Tools<D>
  & Unless<Definition.Definition.Resources<D>, { readonly resources: Resources<D> }>
  & Unless<Definition.Definition.Templates<D>, { readonly templates: Templates<D> }>
  & Unless<Definition.Definition.Prompts<D>, { readonly prompts: Prompts<D> }>

/**
 * Checks the types of handlers. A handler must belong to an entry of the definition, and may fail only with failures that the entry
 * declares. For any other handler this type is a sentence, which the compiler shows as an error.
 *
 * @category models
 */
export type Checked<D extends Definition.Definition.Any, H> = {
  readonly [K in keyof H]: K extends Definition.Definition.Tools<D>["name"]
    ? Handler<H[K], Tool.Tool.Failure<Extract<Definition.Definition.Tools<D>, { readonly name: K }>>>
    : K extends keyof Handlers<D>
      ? { readonly [N in keyof H[K]]: N extends keyof Handlers<D>[K] ? Entry<H[K][N]> : Extra<N> }
    : Extra<K>
}

// When the compiler cannot infer the type of the handlers, it uses the type `Handlers`, whose failure is `any`.
type Failing<E, Failure> = 0 extends 1 & E ? unknown : Feature.Declared<E, Failure>

type Handler<H, Failure = never> = H extends Effect.Effect<any, infer E, any> ? Failing<E, Failure>
  : H extends (...args: any) => never ? unknown
  : H extends (...args: any) => Effect.Effect<any, infer E, any> ? Failing<E, Failure>
  : unknown

type Entry<E> = E extends Effect.Effect<any, any, any> | ((...args: any) => any) ? Handler<E> : {
  readonly [K in keyof E]: K extends "complete" ? Completer.Checked<E[K]>
    : E[K] extends Effect.Effect<any, infer Failure, any> ? Feature.Allowed<Failure>
    : Handler<E[K]>
}

type Extra<Name> = `The definition has no "${Name & string}": remove this handler, or correct its name`

/**
 * The services that these handlers require.
 *
 * @category models
 */
export type Context<H> = H extends Effect.Effect<any, any, infer R> ? R
  : H extends (...args: any) => never ? never
  : H extends (...args: any) => Effect.Effect<any, any, infer R> ? R
  : { readonly [K in keyof H]: Context<H[K]> }[keyof H]

/**
 * Resources of one kind as a value: the template of their addresses, with parameters that have schemas. Written as a tagged
 * template, or as a plain string of RFC 6570.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-templates
 * @since 0.1.0
 */
import type * as Resources from "@effect-mcp/protocol/Resources"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Resource from "./Resource.js"
import * as EnumValues from "./schema/EnumValues.js"
import * as UriTemplate from "./UriTemplate.js"

/**
 * @since 0.1.0
 * @category type ids
 */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/definition/ResourceTemplate")

/**
 * @since 0.1.0
 * @category type ids
 */
export type TypeId = typeof TypeId

/**
 * @since 0.1.0
 * @category models
 */
export interface ResourceTemplate<Name extends string, Parameters> {
  readonly [TypeId]: TypeId
  readonly _tag: "ResourceTemplate"
  readonly name: Name
  readonly template: UriTemplate.UriTemplate
  /** What `resources/templates/list` says of it. */
  readonly advertised: Resources.ResourceTemplate
  /** The names of the parameters, in the order in which they stand. */
  readonly parameters: ReadonlyArray<keyof Parameters & string>
  /** What each parameter may be that can only be one of some strings. */
  readonly choices: EnumValues.EnumValues
  /** @internal */
  readonly codec: Codec<Parameters>
}

/**
 * Between parameters and the variables of an address.
 *
 * @since 0.1.0
 * @category models
 */
export interface Codec<Parameters> {
  decode(found: UriTemplate.Found): Effect.Effect<Parameters, ParseResult.ParseIssue>
  /** The address with these parameters. */
  encode(parameters: Parameters): Effect.Effect<string, ParseResult.ParseIssue>
}

/**
 * Helper types of templates.
 *
 * @since 0.1.0
 */
export declare namespace ResourceTemplate {
  /**
   * @since 0.1.0
   * @category models
   */
  export type Any = ResourceTemplate<string, any>

  /**
   * @since 0.1.0
   * @category models
   */
  export type Parameters<T> = T extends ResourceTemplate<any, infer P> ? P : never
}

/**
 * A parameter of a tagged template: its name, and the schema of its value, which is a string in the address.
 *
 * @since 0.1.0
 * @category models
 */
export interface Param<Name extends string, A> {
  readonly name: Name
  readonly schema: Schema.Schema<A, any>
  /** How it stands in the template: `{name}`, or `{+name}` for one that may hold slashes. */
  readonly operator: "" | "+"
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const param: {
  <const Name extends string>(name: Name): Param<Name, string>
  <const Name extends string, A, I extends string>(name: Name, schema: Schema.Schema<A, I>): Param<Name, A>
} = <A>(name: string, schema?: Schema.Schema<A, any>): Param<any, any> => ({
  name,
  schema: schema ?? Schema.String,
  operator: ""
})

/**
 * A parameter that may hold slashes: a path.
 *
 * @since 0.1.0
 * @category constructors
 */
export const path = <const Name extends string>(name: Name): Param<Name, string> => ({
  name,
  schema: Schema.String,
  operator: "+"
})

type ParametersOf<P extends ReadonlyArray<Param<string, any>>> = {
  readonly [N in P[number] as N["name"]]: N extends Param<string, infer A> ? A : never
}

/**
 * Declares a template: its name, then the address as a tagged template.
 *
 * Throws when it has no name, when the address is no template, when what it becomes would be no absolute URI, or when a
 * match could not be told: two parameters with nothing in between, or one that stands twice.
 *
 * @example
 * ```ts
 * import { ResourceTemplate } from "@effect-mcp/definition"
 * import { Schema } from "effect"
 *
 * const id = ResourceTemplate.param("id", Schema.NumberFromString)
 *
 * export const Note = ResourceTemplate.make("note", { mimeType: "text/markdown" })`note:///${id}`
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make =
  <const Name extends string>(name: Name, description: Resource.Description = {}) =>
  <const P extends ReadonlyArray<Param<string, any>>>(
    strings: TemplateStringsArray,
    ...params: P
  ): ResourceTemplate<Name, ParametersOf<P>> => {
    const template = strings.reduce((before, text, i) => {
      const { name, operator } = params[i - 1]!
      return `${before}{${operator}${name}}${text}`
    })
    return fromString(name, template, {
      ...description,
      parameters: Object.fromEntries(params.map(({ name, schema }) => [name, schema]))
    }) as unknown as ResourceTemplate<Name, ParametersOf<P>>
  }

/**
 * Declares a template of a plain RFC 6570 string. A variable without a schema is a string, and a list where it is written
 * `{name*}`; one of a query need not be there. A variable with a schema is what the schema says: one of a query that need
 * not be there has an optional one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromString = <const Name extends string, Fields extends Schema.Struct.Fields = {}>(
  name: Name,
  template: string,
  options: Resource.Description & { readonly parameters?: Fields | undefined } = {}
): ResourceTemplate<Name, Schema.Struct.Type<Fields> & { readonly [variable: string]: unknown }> => {
  if (name.trim() === "") throw new Error(`Resource template: the one of "${template}" needs a name`)
  const parsed = Either.getOrThrowWith(
    UriTemplate.parse(template),
    (problem) => new Error(`Resource template "${name}": "${template}" is not a URI template: ${problem}`)
  )
  if (parsed.ambiguity !== undefined) {
    throw new Error(`Resource template "${name}": "${template}" matches no address for sure: ${parsed.ambiguity}`)
  }
  const [first = ""] = parsed.parts
  if (typeof first === "string" && !beginsWithScheme.test(first)) {
    throw new Error(
      `Resource template "${name}": "${template}" makes no absolute URI: begin with a scheme, as in "file:///{+path}"`
    )
  }
  if (parsed.variables.some((variable) => variable.name === "__proto__")) {
    throw new Error(`Resource template "${name}": a parameter cannot be named "__proto__"`)
  }
  const given = (options.parameters ?? {}) as Schema.Struct.Fields
  const unknown = Object.keys(given).filter((key) => parsed.variables.every((variable) => variable.name !== key))
  if (unknown.length > 0) {
    throw new Error(`Resource template "${name}": "${template}" has no variable named ${unknown.join(", ")}`)
  }
  const schema = Schema.Struct(Object.fromEntries(parsed.variables.map((variable) => {
    const value = variable.isList ? Schema.Array(Schema.String) : Schema.String
    return [variable.name, given[variable.name] ?? (variable.isOptional ? Schema.optional(value) : value)]
  }))) as unknown as Schema.Schema<any, any>
  const encode = ParseResult.encodeUnknown(schema)
  return {
    [TypeId]: TypeId,
    _tag: "ResourceTemplate",
    name,
    template: parsed,
    advertised: { name, uriTemplate: template, ...Resource.advertise(options) },
    parameters: parsed.variables.map((variable) => variable.name),
    choices: EnumValues.make(schema),
    codec: {
      decode: ParseResult.decodeUnknown(schema),
      encode: (parameters) =>
        Effect.map(encode(parameters), (values) => UriTemplate.expand(parsed, values as Record<string, string>))
    }
  }
}

/**
 * @since 0.1.0
 * @category guards
 */
export const isResourceTemplate = (u: unknown): u is ResourceTemplate.Any => Predicate.hasProperty(u, TypeId)

// A variable may stand within the scheme, after its beginning.
const beginsWithScheme = /^[A-Za-z][A-Za-z0-9+.-]*(:|$)/

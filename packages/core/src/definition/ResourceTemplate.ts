/**
 * A resource template as a value: many resources with one URI template, whose variables have schemas. `make` takes the URI template as a
 * tagged template literal, `fromString` takes it as an RFC 6570 string.
 *
 * `UriTemplate` parses and matches the URI. `McpServer.resourceTemplate` takes the resource template, and the function that reads the
 * resources.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-templates
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { ParseIssue } from "../protocol/McpError.js"
import type * as Resources from "../protocol/Resources.js"
import * as Resource from "./Resource.js"
import * as SchemaParser from "./schema/SchemaParser.js"
import * as SchemaShape from "./schema/SchemaShape.js"
import { quoted } from "./text/Quoted.js"
import * as UriTemplate from "./UriTemplate.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/ResourceTemplate")

/** @category models */
export type TypeId = typeof TypeId

/** @category models */
export interface ResourceTemplate<Name extends string, Parameters> {
  readonly [TypeId]: TypeId
  readonly _tag: "ResourceTemplate"
  readonly name: Name
  readonly template: UriTemplate.UriTemplate
  /** The entry of `resources/templates/list`. */
  readonly advertised: Resources.ResourceTemplate
  /** The names of the parameters, in the order in which the template names them. */
  readonly parameters: ReadonlyArray<keyof Parameters & string>
  /**
   * The allowed strings of a parameter, by the name of the parameter. The map has only the parameters whose schema allows only certain
   * strings.
   */
  readonly enumValues: ReadonlyMap<string, ReadonlyArray<string>>
  readonly codec: Codec<Parameters>
  /** The scopes that a user needs for each use. The user needs all of them. Clients do not get the scopes. */
  readonly requires?: ReadonlyArray<string> | undefined
}

/**
 * Converts between typed parameters and the strings in a URI.
 *
 * @category models
 */
export interface Codec<Parameters> {
  /** Decodes the parameters of a URI that has matched the template. */
  decode(match: UriTemplate.Match): Effect.Effect<Parameters, ParseIssue>
  /** Makes the URI with these parameters. */
  encode(parameters: Parameters): Effect.Effect<string, ParseIssue>
}

/** @category constants */
export declare namespace ResourceTemplate {
  export type Any = ResourceTemplate<string, any>

  export type Parameters<T> = T extends ResourceTemplate<any, infer P> ? P : never
}

/**
 * A parameter of a tagged template: its name, and the schema of its value, which is a string in the URI.
 *
 * @category models
 */
export interface Param<Name extends string, A> {
  readonly name: Name
  readonly schema: Schema.Schema<A, any>
  /** `{name}`, or `{+name}` for a value that may contain slashes. */
  readonly operator: "" | "+"
}

/**
 * Makes a parameter whose value has no slashes. Default of `schema`: `Schema.String`.
 *
 * @category utils
 */
export const param: {
  <const Name extends string>(name: Name): Param<Name, string>
  <const Name extends string, A, I>(
    name: Name,
    schema: Schema.Schema<A, I> & AString<NoInfer<I>, Name>
  ): Param<Name, A>
} = <A>(name: string, schema?: Schema.Schema<A, any>): Param<any, any> => ({
  name,
  schema: schema ?? Schema.String,
  operator: ""
})

/** Accepts a schema that encodes to a string. For any other schema, the type is a sentence that the compiler shows as the error. */
type AString<Encoded, Name extends string> = [Encoded] extends [string] ? unknown
  : `The parameter "${Name}" must be encoded as a string: use a schema such as Schema.NumberFromString`

/**
 * Makes a parameter whose value may contain slashes, such as a file path.
 *
 * @category utils
 */
export const path = <const Name extends string>(name: Name): Param<Name, string> => ({
  name,
  schema: Schema.String,
  operator: "+"
})

type ParametersOf<P extends ReadonlyArray<Param<string, any>>> = Schema.Simplify<
  { readonly [N in P[number] as N["name"]]: N extends Param<string, infer A> ? A : never }
>

/**
 * Declares a resource template: first its name, then its URI as a tagged template literal.
 *
 * Throws when the name is empty, and when the URI template is not valid or cannot make an absolute URI. Also throws when a URI could be
 * read in more than one way: when there is no delimiter between two parameters, or when the same parameter appears twice.
 *
 * @example
 * ```ts
 * import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
 * import { Schema } from "effect"
 *
 * const id = ResourceTemplate.param("id", Schema.NumberFromString)
 *
 * export const Note = ResourceTemplate.make("note", { mimeType: "text/markdown" })`note:///${id}`
 * ```
 * @category constructors
 */
export const make =
  <const Name extends string>(name: Name, description: Resource.Description = {}) =>
  <const P extends ReadonlyArray<Param<string, any>>>(
    strings: TemplateStringsArray,
    ...params: P
  ): ResourceTemplate<Name, ParametersOf<P>> => {
    const template = strings.reduce((before, literal, i) => {
      const { name, operator } = params[i - 1]!
      return `${before}{${operator}${name}}${literal}`
    })
    // The fields are the schemas of `params`.
    return fromString(name, template, {
      ...description,
      parameters: Object.fromEntries(params.map(({ name, schema }) => [name, schema]))
    }) as unknown as ResourceTemplate<Name, ParametersOf<P>>
  }

/**
 * Accepts fields whose values in a URI are strings or lists of strings. For any other field, the type is a sentence that the compiler shows
 * as the error.
 *
 * @category models
 */
export type UriFields<Fields extends Schema.Struct.Fields> = {
  readonly [Name in keyof Fields]: Schema.Struct.Encoded<{ readonly field: Fields[Name] }> extends
    { readonly [key: string]: string | ReadonlyArray<string> | undefined } ? Fields[Name]
    : AString<false, Name & string>
}

/**
 * Declares a resource template from an RFC 6570 string. Throws as `make` does, and also when `parameters` has a name that is not a variable
 * of the template.
 *
 * A variable without a schema is a string, or an array of strings if the template has `{name*}`. If a variable without a schema is in the
 * query or in `;` parameters, the variable is optional. A variable with a schema has the type of the schema: give an optional schema to a
 * variable that may be absent.
 *
 * @category constructors
 */
export const fromString = <const Name extends string, Fields extends Schema.Struct.Fields = {}>(
  name: Name,
  template: string,
  options: Resource.Description & { readonly parameters?: (Fields & UriFields<Fields>) | undefined } = {}
): ResourceTemplate<Name, Schema.Struct.Type<Fields> & { readonly [variable: string]: unknown }> => {
  const parsed = parse(name, template)
  const schema = schemaOf(name, parsed, (options.parameters ?? {}) as Schema.Struct.Fields)
  const encode = SchemaParser.encodeUnknown(schema)
  return {
    [TypeId]: TypeId,
    _tag: "ResourceTemplate",
    name,
    template: parsed,
    advertised: { name, uriTemplate: template, ...Resource.advertise(options) },
    parameters: parsed.variables.map((variable) => variable.name),
    enumValues: SchemaShape.enumValues(schema),
    requires: options.requires,
    codec: {
      decode: SchemaParser.decodeUnknown(schema),
      encode: (parameters) =>
        Effect.map(encode(parameters), (values) => UriTemplate.expand(parsed, values as UriTemplate.Values))
    }
  }
}

/** Parses the URI template. Throws when it cannot be matched, or does not make absolute URIs. */
const parse = (name: string, template: string): UriTemplate.UriTemplate => {
  const refuse = (problem: string): never => {
    throw new Error(`Resource template ${quoted(name)}: ${quoted(template)} ${problem}`)
  }
  if (name.trim() === "") throw new Error(`Resource template: give ${quoted(template)} a name that is not empty`)
  const parsed = Either.getOrElse(UriTemplate.parse(template), (problem) => refuse(`is not a URI template: ${problem}`))
  if (parsed.ambiguity !== undefined) return refuse(`cannot be matched with certainty: ${parsed.ambiguity}`)
  if (!template.startsWith("{") && !beginsWithScheme.test(template)) {
    return refuse(`makes no absolute URI: begin it with a scheme, as in "file:///{+path}"`)
  }
  if (parsed.variables.some((variable) => variable.name === "__proto__")) {
    return refuse(`has a variable named "__proto__": rename it`)
  }
  return parsed
}

// After its first character, the scheme may contain a variable.
const beginsWithScheme = /^[A-Za-z][A-Za-z0-9+.-]*(:|\{|$)/

const schemaOf = (
  name: string,
  { template, variables }: UriTemplate.UriTemplate,
  given: Schema.Struct.Fields
): Schema.Schema<any, any> => {
  const unknown = Object.keys(given).filter((key) => variables.every((variable) => variable.name !== key))
  if (unknown.length > 0) {
    throw new Error(
      `Resource template ${quoted(name)}: ${quoted(template)} has no variable named ${quoted(unknown.join(", "))}: ` +
        "add it to the template, or remove it from `parameters`"
    )
  }
  const fields = variables.map((variable) => {
    const value = variable.isList ? Schema.Array(Schema.String) : Schema.String
    return [variable.name, given[variable.name] ?? (variable.isOptional ? Schema.optional(value) : value)] as const
  })
  // The types of these fields are not known here.
  return Schema.Struct(Object.fromEntries(fields)) as unknown as Schema.Schema<any, any>
}

/** @category guards */
export const isResourceTemplate = (u: unknown): u is ResourceTemplate.Any => Predicate.hasProperty(u, TypeId)

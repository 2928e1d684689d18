/**
 * The tree (AST) of an Effect schema: a view of the `ast` of version 4. This module replaces `SchemaTree` for version 4. In the view, a
 * check is a refinement of a type, and an encoding is a transformation. Each part of an `ast` gets only one view. Only this module imports
 * `effect/SchemaAST`.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as V4 from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"

export type Issue = SchemaIssue.Issue

export interface Annotations {
  readonly [key: string | symbol]: unknown
}

interface Node {
  readonly annotations: Annotations
  readonly v4: V4.AST
}

export type LiteralValue = string | number | boolean | bigint | null
export type ParseOptions = V4.ParseOptions

export interface Keyword extends Node {
  readonly _tag:
    | "StringKeyword"
    | "NumberKeyword"
    | "BooleanKeyword"
    | "UnknownKeyword"
    | "AnyKeyword"
    | "UndefinedKeyword"
    | "VoidKeyword"
    | "NeverKeyword"
    | "ObjectKeyword"
    | "SymbolKeyword"
    | "BigIntKeyword"
    | "UniqueSymbol"
    | "TemplateLiteral"
    | "Declaration"
}

export interface Literal extends Node {
  readonly _tag: "Literal"
  readonly literal: LiteralValue
}

export interface Enums extends Node {
  readonly _tag: "Enums"
  readonly enums: ReadonlyArray<readonly [string, string | number]>
}

export interface PropertySignature {
  readonly name: PropertyKey
  readonly type: AST
  readonly isOptional: boolean
  readonly isReadonly: boolean
  readonly annotations: Annotations
}

export interface IndexSignature {
  readonly parameter: AST
  readonly type: AST
  readonly isReadonly: boolean
}

export interface TypeLiteral extends Node {
  readonly _tag: "TypeLiteral"
  readonly propertySignatures: ReadonlyArray<PropertySignature>
  readonly indexSignatures: ReadonlyArray<IndexSignature>
}

export interface TupleType extends Node {
  readonly _tag: "TupleType"
  readonly elements: ReadonlyArray<{ readonly type: AST; readonly isOptional: boolean }>
  readonly rest: ReadonlyArray<{ readonly type: AST }>
}

export interface Union extends Node {
  readonly _tag: "Union"
  readonly types: ReadonlyArray<AST>
}

export interface Suspend extends Node {
  readonly _tag: "Suspend"
  readonly f: () => AST
}

export interface Refinement extends Node {
  readonly _tag: "Refinement"
  readonly from: AST
  readonly issueOf: (u: unknown) => Issue | undefined
}

export interface Transformation extends Node {
  readonly _tag: "Transformation"
  readonly from: AST
  readonly to: AST
}

export type AST =
  | Keyword
  | Literal
  | Enums
  | TypeLiteral
  | TupleType
  | Union
  | Suspend
  | Refinement
  | Transformation

const views = new WeakMap<V4.AST, AST>()

export const view = (ast: V4.AST): AST => {
  let found = views.get(ast)
  if (found === undefined) views.set(ast, found = Object.assign(Object.create(texts) as object, make(ast)))
  return found
}

/** The text with which an error names a type. */
const texts = {
  toString(this: AST): string {
    const { expected } = this.annotations
    return this._tag === "Literal"
      ? JSON.stringify(this.literal)
      : this._tag === "Declaration" && typeof expected === "string"
      ? expected
      : this._tag.replace("Keyword", "").toLowerCase()
  }
}

/** The tree of a schema. */
export const of = (schema: { readonly ast: V4.AST }): AST => view(schema.ast)

/** The schema of a part of a tree. The caller must know its types. */
export const schemaOf = <A, I = A>(ast: AST): Schema.Codec<A, I> => Schema.make(ast.v4) as unknown as Schema.Codec<A, I>

const changed = (ast: V4.AST, members: Partial<V4.AST>): V4.AST =>
  Object.assign(Object.create(Object.getPrototypeOf(ast)), ast, members)

const NO_ANNOTATIONS: Annotations = {}

/** The annotations of a refinement. Its description is what version 4 calls `expected`, unless it has a description. */
const described = (given: object | undefined): Annotations => {
  const annotations = given as Annotations | undefined
  return annotations === undefined
    ? NO_ANNOTATIONS
    : annotations.expected === undefined || annotations.description !== undefined
    ? annotations
    : { ...annotations, description: annotations.expected }
}

const make = (v4: V4.AST): AST => {
  const { checks, encoding } = v4
  if (encoding !== undefined) {
    const to = view(changed(v4, { encoding: undefined }))
    return {
      _tag: "Transformation",
      v4,
      from: view(encoding[encoding.length - 1]!.to),
      to,
      annotations: NO_ANNOTATIONS
    }
  }
  if (checks !== undefined) {
    const last = checks[checks.length - 1]!
    const before = checks.slice(0, -1) as unknown as V4.Checks
    return {
      _tag: "Refinement",
      v4,
      from: view(changed(v4, { checks: before.length === 0 ? undefined : before })),
      annotations: described(last.annotations),
      issueOf: (u) => issueOf(last, u, v4, {})
    }
  }
  const annotations = (v4.annotations ?? NO_ANNOTATIONS) as Annotations
  switch (v4._tag) {
    case "Null":
      return { _tag: "Literal", v4, annotations, literal: null }
    case "Literal":
      return { _tag: "Literal", v4, annotations, literal: v4.literal }
    case "Enum":
      return { _tag: "Enums", v4, annotations, enums: v4.enums }
    case "Suspend":
      return { _tag: "Suspend", v4, annotations, f: () => view(v4.thunk()) }
    case "Union":
      return { _tag: "Union", v4, annotations, types: v4.types.map(view) }
    case "Arrays":
      return {
        _tag: "TupleType",
        v4,
        annotations,
        elements: v4.elements.map((type) => ({ type: view(type), isOptional: type.context?.isOptional === true })),
        rest: v4.rest.map((type) => ({ type: view(type) }))
      }
    case "Objects":
      return {
        _tag: "TypeLiteral",
        v4,
        annotations,
        propertySignatures: v4.propertySignatures.map(({ name, type }) => ({
          name,
          type: view(type),
          isOptional: type.context?.isOptional === true,
          isReadonly: type.context?.isMutable !== true,
          annotations: { ...V4.resolve(type), ...type.context?.annotations }
        })),
        indexSignatures: v4.indexSignatures.map(({ parameter, type }) => ({
          parameter: view(parameter),
          type: view(type),
          isReadonly: type.context?.isMutable !== true
        }))
      }
    case "Declaration":
    case "TemplateLiteral":
    case "UniqueSymbol":
    case "ObjectKeyword":
      return { _tag: v4._tag, v4, annotations }
    default:
      return { _tag: `${v4._tag}Keyword`, v4, annotations }
  }
}

/** A check without its type, for the words with which an error names the check. */
export const ofCheck = (check: V4.Check<any>): Refinement => ({
  _tag: "Refinement",
  v4: Schema.Unknown.ast,
  from: of(Schema.Unknown),
  annotations: described(check.annotations),
  issueOf: (u) => issueOf(check, u, Schema.Unknown.ast, {})
})

const issueOf = (check: V4.Check<any>, u: unknown, ast: V4.AST, options: ParseOptions): Issue | undefined => {
  if (check._tag === "Filter") return check.run(u, ast, options)
  for (const one of check.checks) {
    const found = issueOf(one, u, ast, options)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether a member that is missing and not optional is decoded as `undefined`, as in version 3. */
export const missingIsUndefined: boolean = false

const is = <Tag extends AST["_tag"]>(tag: Tag) => (ast: AST): ast is Extract<AST, { readonly _tag: Tag }> =>
  ast._tag === tag

export const isLiteral = is("Literal")
export const isRefinement = is("Refinement")
export const isTransformation = is("Transformation")
export const isTypeLiteral = is("TypeLiteral")
export const isUnion = is("Union")
export const isSuspend = is("Suspend")
export const isUndefinedKeyword = (ast: AST): boolean => ast._tag === "UndefinedKeyword"
export const isUnknownKeyword = (ast: AST): boolean => ast._tag === "UnknownKeyword"
export const isVoidKeyword = (ast: AST): boolean => ast._tag === "VoidKeyword"
export const isNeverKeyword = (ast: AST): boolean => ast._tag === "NeverKeyword"

/** The tree of the encoded side. Version 4 keeps the filters that do not need the decoded type. */
export const encoded = (ast: AST): AST => view(V4.toEncoded(ast.v4))

export const encodedBound: typeof encoded = encoded

/** The fields of a struct. The struct may be refined, named, or made with `Schema.suspend`. */
export const fields = (ast: AST): ReadonlyArray<PropertySignature> => {
  switch (ast._tag) {
    case "TypeLiteral":
      return ast.propertySignatures
    case "Refinement":
      return fields(ast.from)
    case "Suspend":
      return fields(ast.f())
    default:
      return []
  }
}

/** Whether a value passes the filter. The value must conform to the type that the filter refines. */
export const passes = (ast: Refinement, u: unknown): boolean => ast.issueOf(u) === undefined

/** The regular expression that a filter checks, where the filter is `Schema.isPattern`. */
export const patternOf = ({ annotations }: AST): RegExp | undefined => {
  const { id, payload } = (annotations.representation ?? {}) as {
    readonly id?: string
    readonly payload?: { readonly source: string; readonly flags: string }
  }
  return id === "effect/schema/isPattern" && payload !== undefined
    ? new RegExp(payload.source, payload.flags)
    : undefined
}

const textAt = (key: string) => (ast: AST): Option.Option<string> =>
  Option.fromNullishOr(ast.annotations[key] as string | undefined)

export const getDescription = textAt("description")
export const getIdentifier = textAt("identifier")
export const getTitle = textAt("title")

/**
 * Whether an annotation changes how Effect parses a value: which errors it reports, or which value replaces a value that does not decode.
 */
export const changesParsing = ({ annotations }: AST): boolean =>
  annotations.decodingFallback !== undefined || annotations.parseOptions !== undefined

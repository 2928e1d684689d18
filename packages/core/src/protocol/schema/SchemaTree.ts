/**
 * The tree (AST) of an Effect schema: the types of the nodes that this library reads, and functions that examine a node. Only this module
 * and `EffectParser` import `effect/SchemaAST`. Every other module that examines a schema (`SchemaCheck`, `Mend`, `Projection`,
 * `SchemaShape`, `SchemaParser`, `SchemaAnnotations`) gets the tree from `of`. Version 4 of Effect has other trees. `SchemaTree.v4.ts` has
 * the same exports and replaces this module for version 4.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

export type AST = SchemaAST.AST
export type IndexSignature = SchemaAST.IndexSignature
export type Literal = SchemaAST.Literal
export type LiteralValue = SchemaAST.LiteralValue
export type ParseOptions = SchemaAST.ParseOptions
export type PropertySignature = SchemaAST.PropertySignature
export type PropertySignatureTransformation = SchemaAST.PropertySignatureTransformation
export type Refinement = SchemaAST.Refinement
export type Suspend = SchemaAST.Suspend
export type Transformation = SchemaAST.Transformation
export type TupleType = SchemaAST.TupleType
export type TypeLiteral = SchemaAST.TypeLiteral
export type Union = SchemaAST.Union

/** Returns the tree of a schema. */
export const of = (schema: { readonly ast: AST }): AST => schema.ast

/** Makes a schema of a part of a tree. The caller must give the right types. */
export const schemaOf: <A, I = A>(ast: AST) => Schema.Schema<A, I> = Schema.make

/** Whether the decoder reads a missing required member as `undefined`. */
export const missingIsUndefined: boolean = true

export const isLiteral: (ast: AST) => ast is Literal = SchemaAST.isLiteral
export const isNeverKeyword: (ast: AST) => boolean = SchemaAST.isNeverKeyword
export const isRefinement: (ast: AST) => ast is Refinement = SchemaAST.isRefinement
export const isSuspend: (ast: AST) => ast is Suspend = SchemaAST.isSuspend
export const isTransformation: (ast: AST) => ast is Transformation = SchemaAST.isTransformation
export const isTypeLiteral: (ast: AST) => ast is TypeLiteral = SchemaAST.isTypeLiteral
export const isUndefinedKeyword: (ast: AST) => boolean = SchemaAST.isUndefinedKeyword
export const isUnion: (ast: AST) => ast is Union = SchemaAST.isUnion
export const isUnknownKeyword: (ast: AST) => boolean = SchemaAST.isUnknownKeyword
export const isVoidKeyword: (ast: AST) => boolean = SchemaAST.isVoidKeyword

/** Returns the tree of the encoded side, with the filters of its parts. */
export const encodedBound: (ast: AST) => AST = SchemaAST.encodedBoundAST

/** Returns the tree of the encoded side, without filters that check the decoded type. */
export const encoded: (ast: AST) => AST = SchemaAST.encodedAST

/** Returns the fields of a struct. The struct may have filters, a name, or be made with `Schema.suspend`. */
export const fields: (ast: AST) => ReadonlyArray<PropertySignature> = SchemaAST.getPropertySignatures

/** Whether a value passes the filter. The value must conform to the type that the filter refines. */
export const passes = (ast: Refinement, u: unknown): boolean =>
  Option.isNone(ast.filter(u, SchemaAST.defaultParseOption, ast))

/** Returns the regular expression of a filter that `Schema.pattern` has made; `undefined` for any other filter. */
export const patternOf = ({ annotations }: AST): RegExp | undefined =>
  (annotations[Schema.PatternSchemaId] as { readonly regex: RegExp } | undefined)?.regex

/** Returns a copy of a part of a tree with additional annotations. */
export const annotated: (ast: AST, annotations: { readonly [id: symbol]: unknown }) => AST = SchemaAST.annotations

export const getDescription: (ast: AST) => Option.Option<string> = SchemaAST.getDescriptionAnnotation
export const getIdentifier: (ast: AST) => Option.Option<string> = SchemaAST.getIdentifierAnnotation
export const getTitle: (ast: AST) => Option.Option<string> = SchemaAST.getTitleAnnotation

/**
 * Whether an annotation changes how Effect parses a value: which errors it reports, or which value replaces a value that does not decode.
 */
export const changesParsing = ({ annotations }: AST): boolean =>
  annotations[SchemaAST.DecodingFallbackAnnotationId] !== undefined ||
  annotations[SchemaAST.ParseOptionsAnnotationId] !== undefined

/** The ids of the annotations for which JSON Schema has keywords. */
export const annotationIds: {
  readonly title: symbol
  readonly description: symbol
  readonly examples: symbol
  readonly default: symbol
  readonly jsonSchema: symbol
} = {
  title: SchemaAST.TitleAnnotationId,
  description: SchemaAST.DescriptionAnnotationId,
  examples: SchemaAST.ExamplesAnnotationId,
  default: SchemaAST.DefaultAnnotationId,
  jsonSchema: SchemaAST.JSONSchemaAnnotationId
}

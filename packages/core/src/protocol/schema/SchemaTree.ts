/**
 * The tree of a schema, as far as this library reads trees: the types of its nodes, and functions that examine a node. Only this module and
 * `EffectParser` read `effect/SchemaAST`. Every other module that examines a schema (`SchemaCheck`, `Mend`, `Projection`, `SchemaShape`,
 * `SchemaParser`, `SchemaAnnotations`) gets the tree from `of`. Version 4 of Effect has other trees; `SchemaTree.v4.ts` replaces this
 * module for version 4, with the same names.
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

/** The tree of a schema. */
export const of = (schema: { readonly ast: AST }): AST => schema.ast

/** The schema of a part of a tree. The caller must know its types. */
export const schemaOf: <A, I = A>(ast: AST) => Schema.Schema<A, I> = Schema.make

/** Whether a member that is missing and not optional is decoded as `undefined`. */
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

/** The tree of the encoded side, with the filters of its parts. */
export const encodedBound: (ast: AST) => AST = SchemaAST.encodedBoundAST

/** The tree of the encoded side, without filters that check the decoded type. */
export const encoded: (ast: AST) => AST = SchemaAST.encodedAST

/** The fields of a struct. The struct may be refined, named, or made with `Schema.suspend`. */
export const fields: (ast: AST) => ReadonlyArray<PropertySignature> = SchemaAST.getPropertySignatures

/** Whether a value passes the filter. The value must conform to the type that the filter refines. */
export const passes = (ast: Refinement, u: unknown): boolean =>
  Option.isNone(ast.filter(u, SchemaAST.defaultParseOption, ast))

/** The regular expression of a filter that `Schema.pattern` has made; `undefined` for any other filter. */
export const patternOf = ({ annotations }: AST): RegExp | undefined =>
  (annotations[Schema.PatternSchemaId] as { readonly regex: RegExp } | undefined)?.regex

/** The same part of a tree, with more annotations. */
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

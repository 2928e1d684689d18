/**
 * Compiles a schema of the protocol to a predicate, which is many times faster than a decoder of Effect. A predicate is sufficient because
 * the schemas of the protocol have no transformations and keep unknown members. `Method`, `Mend`, `Projection` and other modules check
 * values with these predicates. Effect's decoder runs only after a failed check, to find where the value is wrong. `compile` throws for a
 * schema with a transformation.
 */
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import * as Issue from "../Issue.js"
import * as EffectParser from "./EffectParser.js"
import * as SchemaTree from "./SchemaTree.js"

export type SchemaCheck = (u: unknown) => boolean

const compiled = new WeakMap<SchemaTree.AST, SchemaCheck>()

/** Makes the predicate of a schema. A schema that was made with `Schema.suspend` is resolved at once. */
export const compile = <A>(schema: Schema.Schema<A>): (u: unknown) => u is A => {
  const ast = SchemaTree.of(schema)
  return compileAst(SchemaTree.isSuspend(ast) ? ast.f() : ast) as (u: unknown) => u is A
}

/** The error for a value that does not conform. The message is short, whatever the value is. */
class CheckError extends EffectParser.ParseError {
  override toString(): string {
    return Issue.sentence(this.issue)
  }
}

/**
 * Makes a decoder. The decoder returns the value itself on the right, or the error of Effect's decoder on the left. The predicate is
 * compiled when the decoder first runs.
 */
export const decoder = <A>(schema: Schema.Schema<A>): (u: unknown) => Either.Either<A, EffectParser.ParseError> => {
  let conforms: ((u: unknown) => u is A) | undefined
  const refuse = refusal(schema)
  return (u) => (conforms ??= compile(schema))(u) ? Either.right(u) : Either.left(refuse(u))
}

/** Returns a function that makes the error of Effect's decoder for a value that does not conform. */
export const refusal = <A>(schema: Schema.Schema<A>): (u: unknown) => EffectParser.ParseError => {
  // Compiled for the first value that does not conform, because most schemas never get such a value.
  let decode: ReturnType<typeof EffectParser.decodeUnknownEither<A, A>> | undefined
  const generic = (u: unknown): EffectParser.ParseIssue =>
    EffectParser.refused(SchemaTree.of(schema), u, "does not conform")
  const explain = (u: unknown): EffectParser.ParseIssue =>
    // Effect's decoder throws when it cannot make a text of the member that discriminates a union. This member may be any object.
    Either.try({ try: () => (decode ??= EffectParser.decodeUnknownEither(schema))(u), catch: () => generic(u) }).pipe(
      Either.flatMap((decoded) => decoded),
      Either.match({ onLeft: (issue) => issue, onRight: () => generic(u) })
    )
  return (u) => new CheckError({ issue: explain(u) })
}

/** Makes the predicate of a part of a schema. */
export const compileAst = (ast: SchemaTree.AST): SchemaCheck => {
  const known = compiled.get(ast)
  if (known !== undefined) return known
  const made = make(ast)
  compiled.set(ast, made)
  return made
}

const make = (ast: SchemaTree.AST): SchemaCheck => {
  switch (ast._tag) {
    case "StringKeyword":
      return (u) => typeof u === "string"
    case "NumberKeyword":
      return (u) => typeof u === "number"
    case "BooleanKeyword":
      return (u) => typeof u === "boolean"
    case "UnknownKeyword":
    case "AnyKeyword":
      return () => true
    case "UndefinedKeyword":
      return (u) => u === undefined
    case "ObjectKeyword":
      return (u) => typeof u === "object" && u !== null
    case "Literal":
      return (u) => u === ast.literal
    case "Refinement":
      return refinement(ast)
    case "TupleType":
      return array(ast)
    case "TypeLiteral":
      return struct(ast)
    case "Union":
      return union(ast)
    case "Suspend": {
      let inner: SchemaCheck | undefined
      return (u) => (inner ??= compileAst(ast.f()))(u)
    }
    default:
      throw new Error(`Schemas of the protocol must not contain ${ast._tag}: ${ast}`)
  }
}

const refinement = (ast: SchemaTree.Refinement): SchemaCheck => {
  const from = compileAst(ast.from)
  return (u) => from(u) && SchemaTree.passes(ast, u)
}

const array = (ast: SchemaTree.TupleType): SchemaCheck => {
  if (ast.elements.length > 0 || ast.rest.length !== 1) {
    throw new Error(`Schemas of the protocol must not contain tuples: ${ast}`)
  }
  const item = compileAst(ast.rest[0]!.type)
  return (u) => {
    if (!Array.isArray(u)) return false
    for (let i = 0; i < u.length; i++) {
      if (!item(u[i])) return false
    }
    return true
  }
}

const struct = (ast: SchemaTree.TypeLiteral): SchemaCheck => {
  const required = ast.propertySignatures.filter((property) => !property.isOptional)
  const requiredNames = required.map((property) => String(property.name))
  const requiredChecks = required.map((property) => compileAst(property.type))
  const isRequired = new Set(requiredNames)
  const optional = new Map(
    ast.propertySignatures.flatMap((property) =>
      property.isOptional ? [[String(property.name), compileAst(present(property.type))] as const] : []
    )
  )
  const rest = ast.indexSignatures[0]
  const restCheck = rest === undefined || SchemaTree.isUnknownKeyword(rest.type) ? undefined : compileAst(rest.type)
  const isOpen = optional.size === 0 && restCheck === undefined
  return (u) => {
    if (typeof u !== "object" || u === null || Array.isArray(u)) return false
    const object = u as Record<string, unknown>
    for (let i = 0; i < requiredNames.length; i++) {
      if (!requiredChecks[i]!(object[requiredNames[i]!])) return false
    }
    if (isOpen) return true
    // Most values have only a few of the optional members. Therefore the loop goes over the members of the value, not over the members of
    // the schema.
    for (const key in object) {
      const check = optional.get(key)
      if (check !== undefined) {
        const value = object[key]
        if (value !== undefined && !check(value)) return false
      } else if (restCheck !== undefined && !isRequired.has(key) && !restCheck(object[key])) return false
    }
    return true
  }
}

/** Returns the type of the value of an optional field, without `undefined`. */
const present = (ast: SchemaTree.AST): SchemaTree.AST => {
  if (!SchemaTree.isUnion(ast)) return ast
  const types = ast.types.filter((type) => !SchemaTree.isUndefinedKeyword(type))
  return types.length === 1 ? types[0]! : ast
}

const union = (ast: SchemaTree.Union): SchemaCheck => {
  const members = ast.types.map(compileAst)
  const tagged = tag(ast)
  if (tagged !== undefined) {
    const byTag = new Map(tagged.values.map((value, i) => [value, members[i]!]))
    return (u) => {
      if (typeof u !== "object" || u === null) return false
      const member = byTag.get((u as Record<string, unknown>)[tagged.name] as SchemaTree.LiteralValue)
      return member !== undefined && member(u)
    }
  }
  const literals = ast.types.flatMap((type): Array<unknown> => SchemaTree.isLiteral(type) ? [type.literal] : [])
  if (literals.length === ast.types.length) {
    const all = new Set(literals)
    return (u) => all.has(u)
  }
  return (u) => {
    for (let i = 0; i < members.length; i++) {
      if (members[i]!(u)) return true
    }
    return false
  }
}

/**
 * Finds the field that discriminates the members of a union, and the value of the field in each member, in the order of the members.
 * Returns `undefined` when the union has no such field.
 */
export const tag = (
  ast: SchemaTree.Union
): { readonly name: string; readonly values: ReadonlyArray<SchemaTree.LiteralValue> } | undefined => {
  for (const name of ["type", "mode", "method"]) {
    const values = ast.types.map((type) => literalAt(type, name))
    if (values.every((value) => value !== undefined) && new Set(values).size === values.length) {
      return { name, values: values as ReadonlyArray<SchemaTree.LiteralValue> }
    }
  }
  return undefined
}

const literalAt = (ast: SchemaTree.AST, name: string): SchemaTree.LiteralValue | undefined => {
  if (!SchemaTree.isTypeLiteral(ast)) return undefined
  const property = ast.propertySignatures.find((signature) => signature.name === name && !signature.isOptional)
  return property !== undefined && SchemaTree.isLiteral(property.type) ? property.type.literal : undefined
}

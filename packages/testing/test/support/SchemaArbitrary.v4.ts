/**
 * Values of a schema, for property tests. Version 4 makes them itself, and knows no test data that a schema brings along for fast-check: the
 * parts of a schema with such data are put together here.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as FastCheck from "fast-check"
import { type AST, of, schemaOf } from "../../../core/src/protocol/schema/SchemaTree.js"

type Values = FastCheck.Arbitrary<any>

export const schemaArbitrary = <A>(schema: Schema.Codec<A, any, any, any>): FastCheck.Arbitrary<A> =>
  valuesOf(of(schema), 0) ?? FastCheck.constant(undefined as A)

/** How often a schema may contain itself. */
const DEPTH = 2

/** `undefined` where a schema contains itself too often. */
const valuesOf = (ast: AST, depth: number): Values | undefined => {
  const data = dataOf(ast)
  if (data !== undefined) return accepted(ast, data)
  if (!hasData(ast, new Set())) return made(ast)
  switch (ast._tag) {
    case "Refinement": {
      const from = valuesOf(ast.from, depth)
      return from && accepted(ast, from)
    }
    case "Transformation":
      return valuesOf(ast.to, depth)
    case "Suspend":
      return depth < DEPTH ? valuesOf(ast.f(), depth + 1) : undefined
    case "Union": {
      const members = ast.types.flatMap((type) => valuesOf(type, depth) ?? [])
      return members.length === 0 ? undefined : FastCheck.oneof(...members)
    }
    case "TupleType": {
      const elements = ast.elements.map(({ type }) => valuesOf(type, depth))
      if (elements.includes(undefined)) return undefined
      const [rest] = ast.rest.map(({ type }) => valuesOf(type, depth))
      const more: Values = rest === undefined ? FastCheck.constant([]) : FastCheck.array(rest, { maxLength: 5 })
      return FastCheck.tuple(FastCheck.tuple(...elements as Array<Values>), more).map(([first, then]) => [
        ...first,
        ...then
      ])
    }
    case "TypeLiteral": {
      const members = ast.propertySignatures.map(({ isOptional, name, type }) => ({
        isOptional,
        name: String(name),
        values: valuesOf(type, depth)
      }))
      if (members.some(({ isOptional, values }) => !isOptional && values === undefined)) return undefined
      const known = FastCheck.record(
        Object.fromEntries(members.flatMap(({ name, values }) => values === undefined ? [] : [[name, values]])),
        { requiredKeys: members.flatMap(({ isOptional, name }) => isOptional ? [] : [name]) }
      )
      const [others] = ast.indexSignatures.map(({ parameter, type }) => {
        const [key, value] = [valuesOf(parameter, depth), valuesOf(type, depth)]
        return key && value && FastCheck.dictionary(key, value, { maxKeys: 3 })
      })
      return others === undefined ? known : FastCheck.tuple(others, known).map(([more, own]) => ({ ...more, ...own }))
    }
    default:
      return made(ast)
  }
}

const accepted = (ast: AST, values: Values): Values =>
  ast._tag === "Refinement" ? values.filter((value) => ast.issueOf(value) === undefined) : values

/** What the schema brings along. */
const dataOf = ({ annotations }: AST): Values | undefined =>
  typeof annotations.arbitrary === "function" ? annotations.arbitrary()(FastCheck) : undefined

const hasData = (ast: AST, seen: Set<AST>): boolean => {
  if (dataOf(ast) !== undefined) return true
  if (seen.has(ast)) return false
  seen.add(ast)
  return partsOf(ast).some((part) => hasData(part, seen))
}

const partsOf = (ast: AST): ReadonlyArray<AST> => {
  switch (ast._tag) {
    case "Refinement":
      return [ast.from]
    case "Transformation":
      return [ast.to]
    case "Suspend":
      return [ast.f()]
    case "Union":
      return ast.types
    case "TupleType":
      return [...ast.elements, ...ast.rest].map(({ type }) => type)
    case "TypeLiteral":
      return [
        ...ast.propertySignatures.map(({ type }) => type),
        ...ast.indexSignatures.flatMap(({ parameter, type }) => [parameter, type])
      ]
    default:
      return []
  }
}

/** Values that version 4 makes, each by a seed of fast-check. */
const made = (ast: AST): Values => {
  const values = Arbitrary.schema(schemaOf(ast))
  return FastCheck.integer().map((seed) =>
    wellFormed(Effect.runSync(Arbitrary.sampleEffect(values, { count: 1, seed }))[0])
  )
}

/** A value that is the same after a way through UTF-8, as in version 3: version 4 makes halves of characters. */
const wellFormed = (value: unknown): unknown =>
  typeof value === "string"
    ? value.toWellFormed()
    : Array.isArray(value)
    ? value.map(wellFormed)
    : typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]))
    : value

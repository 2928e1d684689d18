/**
 * Says to a peer of an older revision only what that revision knows: newer fields are left out, newer kinds of content
 * become the nearest older one. Compiled once per schema and version; what needs no change is passed on untouched.
 *
 * It reads the annotations of `Since` and knows no type by name.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Guard from "../Guard.js"
import * as Since from "../Since.js"
import type { LegacyVersion } from "../Version.js"

/**
 * @since 0.1.0
 * @category models
 */
export type Narrow<in A> = (value: A) => unknown

type Projection = (value: any) => unknown

const compiled = new WeakMap<AST.AST, Map<string, Projection | undefined>>()

const identity: Projection = (value) => value

/**
 * What to do to a value of this schema before a peer of this version sees it.
 *
 * @since 0.1.0
 * @category compiling
 */
export const compile = <A, I>(schema: Schema.Schema<A, I>, version: LegacyVersion): Narrow<A> =>
  projection(schema.ast, version) ?? identity

/** `undefined` when every value is fine as it is. */
const projection = (ast: AST.AST, version: string): Projection | undefined => {
  let versions = compiled.get(ast)
  if (versions === undefined) compiled.set(ast, versions = new Map())
  if (versions.has(version)) return versions.get(version)
  // A type inside itself: known once it is made, and needed only when a value comes.
  versions.set(version, (value) => (compiled.get(ast)!.get(version) ?? identity)(value))
  const made = make(ast, version)
  versions.set(version, made)
  return made
}

const make = (ast: AST.AST, version: string): Projection | undefined => {
  switch (ast._tag) {
    case "TypeLiteral":
      return struct(ast, version)
    case "TupleType":
      return array(ast, version)
    case "Union":
      return union(ast, version)
    case "Refinement":
      return projection(ast.from, version)
    case "Suspend":
      return projection(ast.f(), version)
    default:
      return undefined
  }
}

const struct = (ast: AST.TypeLiteral, version: string): Projection | undefined => {
  const unknown: Array<string> = []
  const partly: Array<readonly [string, (value: unknown) => boolean]> = []
  const inner: Array<readonly [string, Projection]> = []
  for (const property of ast.propertySignatures) {
    const name = String(property.name)
    if (!Since.isKnown(property, version)) unknown.push(name)
    else {
      const known = Since.knownValues(property, version)
      if (known !== undefined) partly.push([name, known])
      const project = projection(property.type, version)
      if (project !== undefined) inner.push([name, project])
    }
  }
  if (unknown.length === 0 && partly.length === 0 && inner.length === 0) return undefined
  return (value) => {
    let copy: Record<string, unknown> | undefined
    for (const name of unknown) {
      if (value[name] !== undefined) delete (copy ??= { ...value })[name]
    }
    for (const [name, known] of partly) {
      if (value[name] !== undefined && !known(value[name])) delete (copy ??= { ...value })[name]
    }
    for (const [name, project] of inner) {
      const before = value[name]
      if (before === undefined) continue
      const after = project(before)
      if (after !== before) (copy ??= { ...value })[name] = after
    }
    return copy ?? value
  }
}

const array = (ast: AST.TupleType, version: string): Projection | undefined => {
  const project = ast.rest[0] === undefined ? undefined : projection(ast.rest[0].type, version)
  if (project === undefined) return undefined
  return (value) => {
    let copy: Array<unknown> | undefined
    for (let i = 0; i < value.length; i++) {
      const after = project(value[i])
      if (after !== value[i]) (copy ??= [...value])[i] = after
    }
    return copy ?? value
  }
}

const union = (ast: AST.Union, version: string): Projection | undefined => {
  const members = ast.types.map((type) => member(type, version))
  if (members.every((project) => project === undefined)) return undefined
  const tag = Guard.tag(ast)
  if (tag !== undefined) {
    const byTag = new Map<unknown, Projection | undefined>(tag.values.map((value, i) => [value, members[i]]))
    return (value) => (byTag.get(value[tag.name]) ?? identity)(value)
  }
  const guards = ast.types.map((type) => Guard.compileAst(type))
  return (value) => {
    const at = guards.findIndex((conforms) => conforms(value))
    return (members[at] ?? identity)(value)
  }
}

const member = (ast: AST.AST, version: string): Projection | undefined => {
  const inner = projection(ast, version)
  if (Since.isKnown(ast, version)) return inner
  return Option.getOrUndefined(Since.otherwise(ast)) ?? inner
}

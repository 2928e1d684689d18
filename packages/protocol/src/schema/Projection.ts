/**
 * A schema of the vocabulary and a revision as one function: what a peer of that revision is told of a value. Fields that
 * it does not know are left out, kinds of content that it does not know become the nearest it does, and what needs no
 * change is passed on untouched. Compiled once per schema and revision.
 *
 * It reads the annotations of `Since` and knows no type by name; `legacy/Narrow` and `modern/Narrow` are its two doors.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { Version } from "../Version.js"
import * as SchemaCheck from "./SchemaCheck.js"
import * as Since from "./Since.js"

/**
 * @since 0.1.0
 * @category models
 */
export type Projection<in A> = (value: A) => unknown

type Project = (value: any) => unknown

const compiled = new WeakMap<AST.AST, Map<string, Project | undefined>>()

const identity: Project = (value) => value

/**
 * What to do to a value of this schema before a peer of this revision sees it.
 *
 * @since 0.1.0
 * @category compiling
 */
export const compile = <A, I>(schema: Schema.Schema<A, I>, version: Version): Projection<A> =>
  projection(schema.ast, version) ?? identity

/** `undefined` when every value is fine as it is. */
const projection = (ast: AST.AST, version: string): Project | undefined => {
  const versions = compiled.get(ast)
  return versions?.has(version) === true ? versions.get(version) : first(ast, version)
}

const first = (ast: AST.AST, version: string): Project | undefined => {
  const versions = compiled.get(ast) ?? new Map<string, Project | undefined>()
  compiled.set(ast, versions)
  // A type inside itself: known once it is made, and needed only when a value comes.
  versions.set(version, (value) => (versions.get(version) ?? identity)(value))
  const made = make(ast, version)
  versions.set(version, made)
  return made
}

const make = (ast: AST.AST, version: string): Project | undefined => {
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

/** What becomes of one field: `undefined` leaves it out. */
const field = (property: AST.PropertySignature, version: string): Project | undefined => {
  if (!Since.isKnown(property, version)) return () => undefined
  const known = Since.knownValues(property, version)
  const rewrite = Since.rewriting(property, version)
  const inner = projection(property.type, version)
  if (known === undefined && rewrite === undefined) return inner
  return (value) => {
    if (known !== undefined && !known(value)) return undefined
    const told = rewrite === undefined ? value : rewrite(value)
    return told === undefined || inner === undefined ? told : inner(told)
  }
}

const struct = (ast: AST.TypeLiteral, version: string): Project | undefined => {
  const names: Array<string> = []
  const projects: Array<Project> = []
  for (const property of ast.propertySignatures) {
    const project = field(property, version)
    if (project !== undefined) {
      names.push(String(property.name))
      projects.push(project)
    }
  }
  const rest = ast.indexSignatures[0] === undefined ? undefined : projection(ast.indexSignatures[0].type, version)
  if (names.length === 0 && rest === undefined) return undefined
  const own = new Set(ast.propertySignatures.map((property) => String(property.name)))
  return (value) => {
    let copy: Record<string, unknown> | undefined
    for (let i = 0; i < names.length; i++) {
      copy = tell(value, copy, names[i]!, projects[i]!)
    }
    if (rest !== undefined) {
      for (const name of Object.keys(value)) {
        if (!own.has(name)) copy = tell(value, copy, name, rest)
      }
    }
    return copy ?? value
  }
}

/** The copy with one field told, made when the first field needs it. */
const tell = (
  value: Record<string, unknown>,
  copy: Record<string, unknown> | undefined,
  name: string,
  project: Project
): Record<string, unknown> | undefined => {
  const before = value[name]
  if (before === undefined) return copy
  const after = project(before)
  if (after === before) return copy
  const told = copy ?? { ...value }
  if (after === undefined) delete told[name]
  else told[name] = after
  return told
}

const array = (ast: AST.TupleType, version: string): Project | undefined => {
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

const union = (ast: AST.Union, version: string): Project | undefined => {
  // An optional field is a union with nothing, and nothing is never projected.
  const types = ast.types.filter((type) => !AST.isUndefinedKeyword(type))
  if (types.length === 1) return projection(types[0]!, version)
  const members = types.map((type) => member(type, version))
  if (members.every((told) => told.project === undefined && told.instead === undefined)) return undefined
  const find = which(ast, types)
  const known = (value: unknown): unknown => (members[find(value)]?.project ?? identity)(value)
  if (members.every(({ instead }) => instead === undefined)) return known
  return (value) => {
    const { instead, project = identity } = members[find(value)] ?? none
    // What is told instead is of another kind, which may have news of its own.
    return instead === undefined ? project(value) : known(instead(value))
  }
}

interface Member {
  readonly project: Project | undefined
  readonly instead: Project | undefined
}

const none: Member = { project: undefined, instead: undefined }

const member = (ast: AST.AST, version: string): Member => ({
  project: projection(ast, version),
  instead: Since.isKnown(ast, version) ? undefined : Option.getOrUndefined(Since.otherwise(ast))
})

const which = (ast: AST.Union, types: ReadonlyArray<AST.AST>): (value: any) => number => {
  const tag = types.length === ast.types.length ? SchemaCheck.tag(ast) : undefined
  if (tag !== undefined) {
    const byTag = new Map<unknown, number>(tag.values.map((value, i) => [value, i]))
    return (value) => byTag.get(value[tag.name]) ?? -1
  }
  const guards = types.map((type) => SchemaCheck.compileAst(type))
  return (value) => guards.findIndex((conforms) => conforms(value))
}

/**
 * Compiles a schema of the protocol and a revision to one function. The function converts a value to the form that a peer of that revision
 * may receive. The function leaves out fields and replaces kinds of content that the revision does not have. If a value needs no change,
 * the function returns this value and makes no copy. The annotations of `Since` say which fields and kinds of content a revision has.
 * `Method` converts parameters and results with this module. `client/legacy/InboundHandlers`, `client/modern/Connect` and
 * `server/legacy/Initialize` convert the declared capabilities.
 */
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { Version } from "../Version.js"
import * as SchemaCheck from "./SchemaCheck.js"
import * as SchemaTree from "./SchemaTree.js"
import * as Since from "./Since.js"

export type Projection<in A> = (value: A) => unknown

type Project = (value: any) => unknown

const compiled = new WeakMap<SchemaTree.AST, Map<string, Project | undefined>>()

/** Returns the function for a schema and a revision. Equal arguments give the same function. */
export const compile = <A, I>(schema: Schema.Schema<A, I>, version: Version): Projection<A> =>
  projection(SchemaTree.of(schema), version) ?? identity

/** Returns the function for a part of a schema; `undefined` when no value needs a change. */
const projection = (ast: SchemaTree.AST, version: string): Project | undefined => {
  const versions = compiled.get(ast)
  return versions?.has(version) === true ? versions.get(version) : first(ast, version)
}

const first = (ast: SchemaTree.AST, version: string): Project | undefined => {
  const versions = compiled.get(ast) ?? new Map<string, Project | undefined>()
  compiled.set(ast, versions)
  // A recursive type uses this function. The projection of the type is complete before the first value arrives.
  versions.set(version, (value) => (versions.get(version) ?? identity)(value))
  const made = make(ast, version)
  versions.set(version, made)
  return made
}

const make = (ast: SchemaTree.AST, version: string): Project | undefined => {
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

/** Returns the function for one field. When that function returns `undefined`, the field is left out. */
const field = (property: SchemaTree.PropertySignature, version: string): Project | undefined => {
  if (!Since.isKnown(property, version)) return () => undefined
  const known = Since.knownValuesFor(property, version)
  const rewrite = Since.rewriteFor(property, version)
  const inner = projection(property.type, version)
  if (known === undefined && rewrite === undefined) return inner
  return (value) => {
    if (known !== undefined && !known(value)) return undefined
    const rewritten = rewrite === undefined ? value : rewrite(value)
    return rewritten === undefined || inner === undefined ? rewritten : inner(rewritten)
  }
}

const struct = (ast: SchemaTree.TypeLiteral, version: string): Project | undefined => {
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
      copy = withField(value, copy, names[i]!, projects[i]!)
    }
    if (rest !== undefined) {
      for (const name of Object.keys(value)) {
        if (!own.has(name)) copy = withField(value, copy, name, rest)
      }
    }
    return copy ?? value
  }
}

/** Returns a copy in which one field is converted. The first field that changes makes the copy. */
const withField = (
  value: Record<string, unknown>,
  copy: Record<string, unknown> | undefined,
  name: string,
  project: Project
): Record<string, unknown> | undefined => {
  const before = value[name]
  if (before === undefined) return copy
  const after = project(before)
  if (after === before) return copy
  const changed = copy ?? { ...value }
  if (after === undefined) delete changed[name]
  else changed[name] = after
  return changed
}

const array = (ast: SchemaTree.TupleType, version: string): Project | undefined => {
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

const union = (ast: SchemaTree.Union, version: string): Project | undefined => {
  // The type of an optional field is a union with `undefined`, and `undefined` needs no projection.
  const types = ast.types.filter((type) => !SchemaTree.isUndefinedKeyword(type))
  if (types.length === 1) return projection(types[0]!, version)
  const members = types.map((type) => member(type, version))
  if (members.every((member) => member.project === undefined && member.replace === undefined)) return undefined
  const indexOf = discriminator(ast, types)
  const known = (value: unknown): unknown => (members[indexOf(value)]?.project ?? identity)(value)
  if (members.every(({ replace }) => replace === undefined)) return known
  return (value) => {
    const { project = identity, replace } = members[indexOf(value)] ?? none
    // The replacement is another member of the union, which may need a projection itself.
    return replace === undefined ? project(value) : known(replace(value))
  }
}

interface Member {
  readonly project: Project | undefined
  readonly replace: Project | undefined
}

const none: Member = { project: undefined, replace: undefined }

const member = (ast: SchemaTree.AST, version: string): Member => ({
  project: projection(ast, version),
  replace: Since.isKnown(ast, version) ? undefined : Option.getOrUndefined(Since.replacement(ast))
})

const discriminator = (ast: SchemaTree.Union, types: ReadonlyArray<SchemaTree.AST>): (value: any) => number => {
  const tag = types.length === ast.types.length ? SchemaCheck.tag(ast) : undefined
  if (tag !== undefined) {
    const byTag = new Map<unknown, number>(tag.values.map((value, i) => [value, i]))
    return (value) => byTag.get(value[tag.name]) ?? -1
  }
  const checks = types.map((type) => SchemaCheck.compileAst(type))
  return (value) => checks.findIndex((conforms) => conforms(value))
}

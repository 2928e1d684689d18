/**
 * Finds the arguments of a call that the schema of its tool does not name. For each such argument, finds the most similar name that the
 * schema has. Most tools ignore unknown arguments, so without this module nobody would notice a typing error in the name of an optional
 * argument. `server/features/ToolArguments`, and `ModelArguments` of package `ai`, use this module.
 */
import * as Predicate from "effect/Predicate"
import type { JsonObject } from "../../protocol/Json.js"
import * as SchemaPointer from "./SchemaPointer.js"

/**
 * `names`: how many unknown names are reported. `shown`: how many characters of a name are reported. `length`: the most characters of a
 * name for which a similar name is searched. `compared`: how many names of the schema are compared. `parts`: how many parts of a schema are
 * searched for names.
 */
export const limits = { names: 5, shown: 64, length: 32, compared: 100, parts: 1000 } as const

/** An argument that the schema does not name. */
export interface Unknown {
  /** The name, shortened, and written as a JSON string without characters that cannot be printed. */
  readonly name: string
  /** The name that was probably meant, written in the same way; `undefined` when no name of the schema is similar. */
  readonly nearest: string | undefined
}

/** How many arguments are unknown, and the first of these arguments. */
export interface Unknowns {
  readonly count: number
  readonly names: ReadonlyArray<Unknown>
}

/** Finds the arguments that the schema does not name; `undefined` when the schema names all of them. */
export type Find = (args: unknown) => Unknowns | undefined

/** Prepares the search for a schema. When the schema names no arguments, or allows other names, no argument counts as unknown. */
export const make = (schema: JsonObject): Find => {
  const known = namesOf(schema)
  if (known === undefined) return () => undefined
  return (args) => {
    if (!Predicate.isRecord(args)) return undefined
    for (const name in args) if (!known.has(name)) return unknownsOf(args, known)
    return undefined
  }
}

/** Makes a sentence with the unknown names, for a model or for a person. */
export const sentence = ({ count, names }: Unknowns): string => {
  const first = names.map(({ name, nearest }) =>
    nearest === undefined ? `${name} is unknown` : `${name} is unknown (did you mean ${nearest}?)`
  )
  return [...first, ...(count > names.length ? [`${count - names.length} more are unknown`] : [])].join("; ")
}

const unknownsOf = (args: object, known: ReadonlySet<string>): Unknowns => {
  const unknown = Object.keys(args).filter((name) => !known.has(name))
  return {
    count: unknown.length,
    names: unknown.slice(0, limits.names).map((name) => {
      const nearest = nearestOf(name, known)
      return { name: written(name), nearest: nearest && written(nearest) }
    })
  }
}

/** Returns the names that the schema has for the arguments, in all of its branches; `undefined` if the schema allows other names. */
const namesOf = (root: JsonObject): ReadonlySet<string> | undefined => {
  const names = new Set<string>()
  const visited = new Set<unknown>()
  const isClosed = (schema: unknown): boolean => {
    if (!Predicate.isRecord(schema) || visited.has(schema)) return true
    if (visited.add(schema).size > limits.parts) return false
    const part = schema as JsonObject
    if (OPEN.some((keyword) => keyword in part) || (part !== root && SchemaPointer.isResource(part))) return false
    if (REST.some((keyword) => (part[keyword] ?? false) !== false)) return false
    for (const name of Object.keys(part.properties ?? {})) names.add(name)
    const target = SchemaPointer.find(root, part.$ref)
    if (target === undefined && part.$ref !== undefined) return false
    const dependent = Object.values(part.dependentSchemas ?? {})
    return [target, ...dependent, ...BRANCHES.flatMap((keyword) => part[keyword])].every(isClosed)
  }
  return isClosed(root) && (names.size > 0 || root.additionalProperties === false) ? names : undefined
}

/** Keywords that may allow names which this module cannot find. */
const OPEN = ["patternProperties", "propertyNames", "dependencies", "$dynamicRef", "$recursiveRef"]

/** Keywords that allow other names if their value is not `false`. */
const REST = ["additionalProperties", "unevaluatedProperties"]

const BRANCHES = ["allOf", "anyOf", "oneOf", "if", "then", "else"]

const nearestOf = (given: string, known: ReadonlySet<string>): string | undefined => {
  if (given.length > limits.length) return undefined
  const name = plain(given)
  let nearest: string | undefined
  let least = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const one of Array.from(known).slice(0, limits.compared)) {
    const other = plain(one)
    if (one.length > limits.length || Math.abs(other.length - name.length) >= least) continue
    const edits = distance(name, other)
    if (edits < Math.min(least, other.length)) [nearest, least] = [one, edits]
  }
  return nearest
}

/** Returns the name in lower case, without "_" and "-". Names that differ only in case, "_" or "-" are the same name in another style. */
const plain = (name: string): string => name.toLowerCase().replace(/[_-]/g, "")

/** Counts how many characters have to be inserted, left out, replaced, or swapped with the next character, to make `a` from `b`. */
const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(Math.min(
        last[j]! + 1,
        row[j - 1]! + 1,
        last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwap ? before[j - 2]! + 1 : Infinity
      ))
    }
    ;[before, last] = [last, row]
  }
  return last[b.length]!
}

const written = (name: string): string =>
  JSON.stringify(name.length > limits.shown ? `${name.slice(0, limits.shown)}…` : name)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

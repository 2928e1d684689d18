/**
 * The arguments of a call that the schema of its tool does not name, each argument with the nearest name that the schema has: most tools
 * ignore what they do not know, so an optional argument with a typing error would be lost in silence. `server/features/ToolArguments` and
 * `ModelArguments` of package `ai` ask.
 */
import * as Predicate from "effect/Predicate"
import type { JsonObject } from "../../protocol/Json.js"
import * as SchemaPointer from "./SchemaPointer.js"

/**
 * How many unknown names are given, and how many characters of a name; the longest name for which a near one is searched, and among how
 * many names; and how many parts of a schema are searched for names.
 */
export const limits = { names: 5, shown: 64, length: 32, compared: 100, parts: 1000 } as const

/** An argument that the schema does not name. */
export interface Unknown {
  /** Shortened, and written as a JSON string without characters that are not printed. */
  readonly name: string
  /** The name that was meant, where a name of the schema is near; written likewise. */
  readonly nearest: string | undefined
}

/** How many arguments are unknown, and the first of them. */
export interface Unknowns {
  readonly count: number
  readonly names: ReadonlyArray<Unknown>
}

/** Finds the names of arguments that the schema does not know; `undefined` when it knows all names. */
export type Find = (args: unknown) => Unknowns | undefined

/** Prepares the search. For a schema that names no arguments, or allows other names, all names are known. */
export const make = (schema: JsonObject): Find => {
  const known = namesOf(schema)
  if (known === undefined) return () => undefined
  return (args) => {
    if (!Predicate.isRecord(args)) return undefined
    for (const name in args) if (!known.has(name)) return unknownsOf(args, known)
    return undefined
  }
}

/** The unknown names in words, for a model or for a person. */
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

/** The names that the schema has for the arguments, in any of its branches; `undefined` where other names are allowed. */
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

/** Keywords with names that are not known, or not searched. */
const OPEN = ["patternProperties", "propertyNames", "dependencies", "$dynamicRef", "$recursiveRef"]

/** Keywords that allow other names, unless they are false. */
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

/** Names that differ only in case, "_" and "-" are the same name in another style. */
const plain = (name: string): string => name.toLowerCase().replace(/[_-]/g, "")

/** How many characters have to be inserted, left out, replaced or swapped with the next one. */
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

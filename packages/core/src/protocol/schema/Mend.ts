/**
 * Compiles a schema of the protocol to a decoder that repairs some invalid values. The callers are `Method`, and two modules for results of
 * the modern era (`client/modern/InputRounds`, `client/modern/TaskExtension`). If a value is valid, the decoder returns this value and
 * makes no copy. For an invalid value, the decoder makes a repaired copy and checks whether the copy conforms.
 *
 * Clients and servers read `null` in an optional member as absent. Clients repair more values in messages of a server; the annotations of
 * `Mendable` mark these values. A loss is a place where a client left something out or filled something in, and the decoder reports each
 * loss. The decoder repairs nothing inside objects that may have any members, such as `arguments` or `_meta`.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Issue from "../Issue.js"
import type * as EffectParser from "./EffectParser.js"
import * as IssueText from "./IssueText.js"
import * as Mendable from "./Mendable.js"
import * as SchemaCheck from "./SchemaCheck.js"
import * as SchemaTree from "./SchemaTree.js"

/** The side that has received the value. */
export type Reader = "client" | "server"

/** The places where a client left something out or filled something in: their number, and the first ten places. */
export interface Losses {
  readonly count: number
  readonly places: ReadonlyArray<Issue.Place>
}

export type Decoder<A> = (u: unknown, onLoss?: (losses: Losses) => void) => Either.Either<A, EffectParser.ParseError>

/**
 * Makes the decoder of a schema. The schema is compiled when the decoder first runs. The decoder calls `onLoss` when it accepts a value
 * after losses.
 */
export const decoder = <A>(schema: Schema.Schema<A>, reader: Reader): Decoder<A> => {
  let conforms: ((u: unknown) => u is A) | undefined
  const refuse = SchemaCheck.refusal(schema)
  let mend: Mend | undefined
  return (u, onLoss) => {
    conforms ??= SchemaCheck.compile(schema)
    if (conforms(u)) return Either.right(u)
    const log = new Log()
    mend ??= mendOf(SchemaTree.of(schema), reader)
    const mended = mend(u, log, undefined)
    if (!log.fits) return Either.left(refuse(mended))
    if (log.count > 0 && onLoss !== undefined) onLoss({ count: log.count, places: log.places })
    return Either.right(mended as A)
  }
}

/**
 * Repairs what can be repaired in a value. Returns the same value when there is nothing to repair. Sets `log.fits` to `true` when the
 * returned value conforms to the schema, otherwise to `false`.
 */
type Mend = (value: unknown, log: Log, at: Path) => unknown

type Path = { readonly parent: Path; readonly key: string | number } | undefined

const MAX_PLACES = 10

/** How many members an object may have to be repaired. To copy a larger object would take longer than to parse it. */
const MAX_MEMBERS = 10_000

/**
 * Records the losses while the decoder repairs one value. `rewind` removes the losses that were added after `count` had the given value.
 * `fits` says whether the value that the last `Mend` returned conforms to its schema.
 */
class Log {
  count = 0
  fits = false
  readonly places: Array<Issue.Place> = []

  add(at: Path, message: () => string): void {
    if (++this.count <= MAX_PLACES) this.places.push({ path: IssueText.pathText(keysOf(at)), message: message() })
  }

  rewind(count: number): void {
    this.count = count
    this.places.length = Math.min(this.places.length, count)
  }

  /** Returns the value, and sets `fits`. */
  end(fits: boolean, value: unknown): unknown {
    this.fits = fits
    return value
  }
}

const keysOf = (at: Path): Array<string | number> => {
  const keys: Array<string | number> = []
  for (let one = at; one !== undefined; one = one.parent) keys.unshift(one.key)
  return keys
}

const compiled = { client: new WeakMap<SchemaTree.AST, Mend>(), server: new WeakMap<SchemaTree.AST, Mend>() }

const mendOf = (ast: SchemaTree.AST, reader: Reader): Mend => {
  const known = compiled[reader].get(ast)
  if (known !== undefined) return known
  const made = make(ast, reader)
  compiled[reader].set(ast, made)
  return made
}

const make = (ast: SchemaTree.AST, reader: Reader): Mend => {
  if (Mendable.isExact(ast)) return asItIs(ast)
  switch (ast._tag) {
    case "TypeLiteral":
      return struct(ast, reader)
    case "TupleType":
      return list(ast, reader)
    case "Union":
      return union(ast, reader)
    case "Refinement":
      return refinement(ast, reader)
    case "Suspend": {
      let inner: Mend | undefined
      return (value, log, at) => (inner ??= mendOf(ast.f(), reader))(value, log, at)
    }
    default:
      return asItIs(ast)
  }
}

/** Checks a value and repairs nothing. */
const asItIs = (ast: SchemaTree.AST): Mend => {
  const conforms = SchemaCheck.compileAst(ast)
  return (value, log) => log.end(conforms(value), value)
}

const refinement = (ast: SchemaTree.Refinement, reader: Reader): Mend => {
  const from = mendOf(ast.from, reader)
  return (value, log, at) => {
    const mended = from(value, log, at)
    return log.end(log.fits && SchemaTree.passes(ast, mended), mended)
  }
}

const struct = (ast: SchemaTree.TypeLiteral, reader: Reader): Mend => {
  const members = ast.propertySignatures.map((property) => member(property, reader))
  const rest = ast.indexSignatures[0]?.type
  const element = rest === undefined || SchemaTree.isUnknownKeyword(rest)
    ? undefined
    : elementOf(rest, reader, Mendable.isSieved(ast))
  const named = new Set(members.map(({ name }) => name))
  return (value, log, at) => {
    if (!Predicate.isRecord(value)) return log.end(false, value)
    const before = log.count
    let copy: Record<string, unknown> | undefined
    let fits = true
    // Replaces a member in the copy. Returns `false` when the object is too large to be copied.
    const set = (name: string, after: unknown): boolean => {
      if (after === value[name]) return true
      if (copy === undefined) {
        if (Object.keys(value).length > MAX_MEMBERS) return false
        copy = { ...value }
      }
      if (after === undefined) delete copy[name]
      else copy[name] = after
      return true
    }
    const unmended = () => {
      log.rewind(before)
      return log.end(false, value)
    }
    for (const { mend, name } of members) {
      const after = mend(value[name], log, { parent: at, key: name })
      fits &&= log.fits
      if (!set(name, after)) return unmended()
    }
    // After an invalid member that cannot be repaired, the decoder can skip the other members: they do not change the outcome or its
    // explanation.
    if (fits && element !== undefined) {
      for (const key of Object.keys(value)) {
        if (named.has(key)) continue
        const after = element(value[key], log, { parent: at, key })
        fits = log.fits
        if (!set(key, after)) return unmended()
        if (!fits) break
      }
    }
    return log.end(fits, copy ?? value)
  }
}

/** Repairs the value of one member. The result `undefined` removes the member. */
const member = (
  property: SchemaTree.PropertySignature,
  reader: Reader
): { readonly name: string; readonly mend: Mend } => {
  const { isOptional, type } = property
  const name = String(property.name)
  const whole = mendOf(type, reader)
  const inner: Mend = (value, log, at) =>
    value === undefined && isOptional ? log.end(true, value) : whole(value, log, at)
  /** A value that conforms stays, also when it is `null`. */
  const orAbsent: Mend = (value, log, at) => {
    const mended = inner(value, log, at)
    return !log.fits && value === null && isOptional ? log.end(true, undefined) : mended
  }
  if (reader === "server") return { name, mend: orAbsent }
  const { absent, isHarmless, read } = Mendable.leniencyOf(property)
  return {
    name,
    mend: (value, log, at) => {
      const before = log.count
      const mended = orAbsent(read === undefined ? value : read(value), log, at)
      if (log.fits) return mended
      if (absent !== undefined && (value === null || (value === undefined && absent.isForMissing))) {
        log.add(
          at,
          () => `${value === null ? "is null" : "is missing"}; the client reads it as ${describe(absent.value)}`
        )
        return log.end(true, absent.value)
      }
      if (!isHarmless) return mended
      log.rewind(before)
      log.add(at, () => `was left out: ${why(type, value)}`)
      return log.end(absent !== undefined || isOptional, absent?.value)
    }
  }
}

/** Repairs an element of a list. The result `undefined` removes the element. */
const elementOf = (type: SchemaTree.AST, reader: Reader, isSieved: boolean): Mend => {
  const inner = mendOf(type, reader)
  if (!isSieved || reader === "server") return inner
  return (value, log, at) => {
    const before = log.count
    const mended = inner(value, log, at)
    if (log.fits) return mended
    log.rewind(before)
    log.add(at, () => `was left out: ${why(type, mended)}`)
    return log.end(true, undefined)
  }
}

const list = (ast: SchemaTree.TupleType, reader: Reader): Mend => {
  const element = elementOf(ast.rest[0]!.type, reader, Mendable.isSieved(ast))
  return (value, log, at) => {
    if (!Array.isArray(value)) return log.end(false, value)
    let copy: Array<unknown> | undefined
    for (let i = 0; i < value.length; i++) {
      const before: unknown = value[i]
      const after = element(before, log, { parent: at, key: i })
      if (after !== before && copy === undefined) copy = value.slice(0, i)
      if (copy !== undefined && after !== undefined) copy.push(after)
      if (!log.fits) return log.end(false, copy === undefined ? value : copy.concat(value.slice(i + 1)))
    }
    return log.end(true, copy ?? value)
  }
}

const union = (ast: SchemaTree.Union, reader: Reader): Mend => {
  const types = ast.types.filter((type) => !SchemaTree.isUndefinedKeyword(type))
  if (types.length === ast.types.length) return tagged(ast, reader) ?? firstOf(types, reader)
  const present = types.length === 1 ? mendOf(types[0]!, reader) : firstOf(types, reader)
  return (value, log, at) => value === undefined ? log.end(true, value) : present(value, log, at)
}

const tagged = (ast: SchemaTree.Union, reader: Reader): Mend | undefined => {
  const tag = SchemaCheck.tag(ast)
  if (tag === undefined) return undefined
  const byTag = new Map<unknown, Mend>(tag.values.map((value, i) => [value, mendOf(ast.types[i]!, reader)]))
  return (value, log, at) => {
    const mend = Predicate.isRecord(value) ? byTag.get(value[tag.name]) : undefined
    return mend === undefined ? log.end(false, value) : mend(value, log, at)
  }
}

/** Returns the value itself if one of the types accepts the value. Otherwise returns the first repaired value that its type accepts. */
const firstOf = (types: ReadonlyArray<SchemaTree.AST>, reader: Reader): Mend => {
  const members = types.map((type) => mendOf(type, reader))
  return (value, log, at) => {
    const before = log.count
    let found: { readonly value: unknown } | undefined
    for (const mend of members) {
      const count = log.count
      const mended = mend(value, log, at)
      if (log.fits && mended === value) {
        log.rewind(before)
        return mended
      }
      if (log.fits && found === undefined) found = { value: mended }
      else log.rewind(count)
    }
    return log.end(found !== undefined, found === undefined ? value : found.value)
  }
}

/** Explains why a value does not conform. The text contains no part of the value. */
const why = (ast: SchemaTree.AST, value: unknown): string =>
  Issue.explain(refusalOf(ast)(value).issue, { quotes: false }).sentence

const refusals = new WeakMap<SchemaTree.AST, (value: unknown) => EffectParser.ParseError>()

const refusalOf = (ast: SchemaTree.AST) => {
  let found = refusals.get(ast)
  if (found === undefined) refusals.set(ast, found = SchemaCheck.refusal(SchemaTree.schemaOf(ast)))
  return found
}

const describe = (value: unknown): string => JSON.stringify(value)

/**
 * Compiles a schema of the vocabulary into a decoder that forgives. A value that passes its check is returned as it is,
 * for the cost of the check. Any other value is mended once, and checked again.
 *
 * Both sides read `null` in an optional member as its absence. A client mends more in what a server sent: the
 * annotations of `Mendable` say where. Everything that a client left out or filled in is a loss, which it can report.
 * Nothing is mended inside an open object, such as `arguments` or `_meta`.
 */
import * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Issue from "./Issue.js"
import * as Mendable from "./Mendable.js"
import * as SchemaCheck from "./SchemaCheck.js"

/** The side that received the value. */
export type Reader = "client" | "server"

/** What was mended: how many places, and the first ten of them. */
export interface Losses {
  readonly count: number
  readonly places: ReadonlyArray<Issue.Place>
}

export type Decoder<A> = (u: unknown, onLoss?: (losses: Losses) => void) => Either.Either<A, ParseResult.ParseError>

/** The decoder of a schema. It is given what was mended in a value that it accepts. */
export const decoder = <A>(schema: Schema.Schema<A>, reader: Reader): Decoder<A> => {
  const conforms = SchemaCheck.compile(schema)
  const decode = SchemaCheck.decoder(schema)
  let mend: Mend | undefined
  return (u, onLoss) => {
    if (conforms(u)) return Either.right(u)
    const log = new Log()
    mend ??= mendOf(schema.ast, reader)
    const decoded = decode(mend(u, log, undefined))
    if (log.count > 0 && onLoss !== undefined && Either.isRight(decoded)) onLoss(log)
    return decoded
  }
}

/** Returns the value with everything mended that can be, or the same value. */
type Mend = (value: unknown, log: Log, at: Path) => unknown

type Path = { readonly parent: Path; readonly key: string | number } | undefined

const MAX_PLACES = 10

/** Its fields grow while one value is mended; `rewind` forgets what was written since `count` had an earlier value. */
class Log implements Losses {
  count = 0
  readonly places: Array<Issue.Place> = []

  add(at: Path, message: () => string): void {
    if (++this.count <= MAX_PLACES) this.places.push({ path: Issue.pathText(keysOf(at)), message: message() })
  }

  rewind(count: number): void {
    this.count = count
    this.places.length = Math.min(this.places.length, count)
  }
}

const keysOf = (at: Path): Array<string | number> => {
  const keys: Array<string | number> = []
  for (let one = at; one !== undefined; one = one.parent) keys.unshift(one.key)
  return keys
}

const identity: Mend = (value) => value

const compiled = { client: new WeakMap<AST.AST, Mend>(), server: new WeakMap<AST.AST, Mend>() }

const mendOf = (ast: AST.AST, reader: Reader): Mend => {
  const known = compiled[reader].get(ast)
  if (known !== undefined) return known
  const made = make(ast, reader)
  compiled[reader].set(ast, made)
  return made
}

const make = (ast: AST.AST, reader: Reader): Mend => {
  if (Mendable.isExact(ast)) return identity
  switch (ast._tag) {
    case "TypeLiteral":
      return struct(ast, reader)
    case "TupleType":
      return list(ast, reader)
    case "Union":
      return union(ast, reader)
    case "Refinement":
      return mendOf(ast.from, reader)
    case "Suspend": {
      let inner: Mend | undefined
      return (value, log, at) => (inner ??= mendOf(ast.f(), reader))(value, log, at)
    }
    default:
      return identity
  }
}

const struct = (ast: AST.TypeLiteral, reader: Reader): Mend => {
  const members = ast.propertySignatures.map((property) => member(property, reader))
  const rest = ast.indexSignatures[0]?.type
  const element = rest === undefined || AST.isUnknownKeyword(rest)
    ? undefined
    : elementOf(rest, reader, Mendable.isSieved(ast))
  const mendsRest = element !== undefined && element !== identity
  if (members.length === 0 && !mendsRest) return identity
  const named = new Set(members.map(({ name }) => name))
  return (value, log, at) => {
    if (!isObject(value)) return value
    let copy: Record<string, unknown> | undefined
    const set = (name: string, after: unknown) => {
      if (after === value[name]) return
      copy ??= { ...value }
      if (after === undefined) delete copy[name]
      else copy[name] = after
    }
    for (const { mend, name } of members) set(name, mend(value[name], log, { parent: at, key: name }))
    if (mendsRest) {
      for (const key of Object.keys(value)) {
        if (!named.has(key)) set(key, element(value[key], log, { parent: at, key }))
      }
    }
    return copy ?? value
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Mends the value of one member; `undefined` leaves the member out. */
const member = (property: AST.PropertySignature, reader: Reader): { readonly name: string; readonly mend: Mend } => {
  const { isOptional, type } = property
  const conforms = SchemaCheck.compileAst(type)
  const inner = mendOf(type, reader)
  const name = String(property.name)
  const isIn = (value: unknown): boolean => value === undefined ? isOptional : conforms(value)
  if (reader === "server") {
    return {
      name,
      mend: (value, log, at) => isIn(value) ? value : value === null && isOptional ? undefined : inner(value, log, at)
    }
  }
  const { absent, isHarmless, read } = Mendable.leniencyOf(property)
  return {
    name,
    mend: (value, log, at) => {
      if (isIn(value)) return value
      if (value === null && isOptional) return undefined
      if (absent !== undefined && (value === null || (value === undefined && absent.isForMissing))) {
        log.add(
          at,
          () => `${value === null ? "is null" : "is missing"}; the client reads it as ${describe(absent.value)}`
        )
        return absent.value
      }
      const before = log.count
      const mended = inner(read === undefined ? value : read(value), log, at)
      // A value that is not changed does not fit now either.
      if (!isHarmless || (mended !== value && isIn(mended))) return mended
      log.rewind(before)
      log.add(at, () => `was left out: ${why(type, value)}`)
      return absent?.value
    }
  }
}

/** Mends an element of a list; `undefined` leaves it out. */
const elementOf = (type: AST.AST, reader: Reader, isSieved: boolean): Mend => {
  const conforms = SchemaCheck.compileAst(type)
  const inner = mendOf(type, reader)
  const mayDrop = isSieved && reader === "client"
  if (inner === identity && !mayDrop) return identity
  return (value, log, at) => {
    if (conforms(value)) return value
    const before = log.count
    const mended = inner(value, log, at)
    if (!mayDrop || (mended !== value && conforms(mended))) return mended
    log.rewind(before)
    log.add(at, () => `was left out: ${why(type, mended)}`)
    return undefined
  }
}

const list = (ast: AST.TupleType, reader: Reader): Mend => {
  const element = elementOf(ast.rest[0]!.type, reader, Mendable.isSieved(ast))
  if (element === identity) return identity
  return (value, log, at) => {
    if (!Array.isArray(value)) return value
    let copy: Array<unknown> | undefined
    for (let i = 0; i < value.length; i++) {
      const before: unknown = value[i]
      const after = element(before, log, { parent: at, key: i })
      if (after !== before && copy === undefined) copy = value.slice(0, i)
      if (copy !== undefined && after !== undefined) copy.push(after)
    }
    return copy ?? value
  }
}

const union = (ast: AST.Union, reader: Reader): Mend => {
  const types = ast.types.filter((type) => !AST.isUndefinedKeyword(type))
  if (types.length === 1) return mendOf(types[0]!, reader)
  const members = types.map((type) => ({ conforms: SchemaCheck.compileAst(type), mend: mendOf(type, reader) }))
  if (members.every(({ mend }) => mend === identity)) return identity
  const tagged = types.length === ast.types.length ? SchemaCheck.tag(ast) : undefined
  if (tagged !== undefined) {
    const byTag = new Map<unknown, Mend>(tagged.values.map((value, i) => [value, members[i]!.mend]))
    return (value, log, at) => isObject(value) ? (byTag.get(value[tagged.name]) ?? identity)(value, log, at) : value
  }
  return (value, log, at) => {
    const before = log.count
    for (const { conforms, mend } of members) {
      const mended = mend(value, log, at)
      if (mended !== value && conforms(mended)) return mended
      log.rewind(before)
    }
    return value
  }
}

/** Why a value does not conform, without anything of the value. */
const why = (ast: AST.AST, value: unknown): string => {
  const decoded = explainer(ast)(value)
  return Either.isRight(decoded)
    ? "does not conform"
    : Issue.explain(decoded.left.issue, { quotes: false }).sentence
}

const explainers = new WeakMap<AST.AST, (value: unknown) => Either.Either<unknown, ParseResult.ParseError>>()

const explainer = (ast: AST.AST) => {
  let found = explainers.get(ast)
  if (found === undefined) explainers.set(ast, found = SchemaCheck.decoder(Schema.make(ast)))
  return found
}

const describe = (value: unknown): string => JSON.stringify(value)

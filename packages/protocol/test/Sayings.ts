/**
 * Everything that may be said, one entry for each method, revision and part of a message: who says it, its schema, how it
 * is made ready for the wire, how it is read, and what the official schema calls it. The matrix of the property tests.
 */
import * as LegacyMethods from "@effect-mcp/protocol/legacy/Methods"
import * as Method from "@effect-mcp/protocol/Method"
import * as InputRequired from "@effect-mcp/protocol/modern/InputRequired"
import * as ModernMethods from "@effect-mcp/protocol/modern/Methods"
import * as Stamp from "@effect-mcp/protocol/modern/Stamp"
import * as Version from "@effect-mcp/protocol/Version"
import * as Arbitrary from "effect/Arbitrary"
import type * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import type * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as Projection from "../src/schema/Projection.js"
import * as Official from "./Official.js"

/** One seed for all: a failure is found again by running again. */
export const seed = 20260728

export interface Saying {
  readonly title: string
  readonly version: Version.Version
  readonly method: Method.Method
  readonly part: "params" | "result"
  readonly schema: Schema.Schema<any>
  /** What is sent of a value to a peer of a revision. */
  readonly told: (value: any, version: Version.Version) => any
  readonly decode: (value: unknown) => Either.Either<any, ParseResult.ParseError>
  /** What the official schema of a revision thinks of what is sent. */
  readonly judge: (value: unknown, version: Version.Version, reading?: Official.Reading) => string | undefined
  /** The older revisions that have it, in the same era. */
  readonly older: ReadonlyArray<Version.Version>
}

const message = (method: Method.Method, params: unknown) =>
  method.kind === "request"
    ? { jsonrpc: "2.0", id: 1, method: method.name, params }
    : { jsonrpc: "2.0", method: method.name, params }

const stamps = new Map<string, Stamp.Stamp>()

const stamped = (method: string, result: object): object => {
  let stamp = stamps.get(method)
  if (stamp === undefined) {
    stamps.set(method, stamp = Stamp.make(method, { serverInfo: { name: "test", version: "1" }, hints: { ttlMs: 5 } }))
  }
  return stamp(result)
}

const entry = (
  method: Method.Method,
  version: Version.Version,
  part: "params" | "result",
  isMethod: boolean
): Saying => {
  const schema = part === "params" ? method.params : (method as Method.Request).result
  return {
    title: `${method.name} ${part} ${version}`,
    version,
    method,
    part,
    schema,
    told: (value, version) => {
      const narrowed = Projection.compile(schema, version)(value) as object
      return part === "result" && isMethod && Version.isModern(version) ? stamped(method.name, narrowed) : narrowed
    },
    decode: part === "params" ? method.decodeParams : (method as Method.Request).decodeResult,
    judge: (value, version, reading) =>
      part === "result"
        ? Official.judge(version, Official.resultOf(version, method.name), reading)(value)
        : Official.judge(version, Official.definitionOf(version, method.name)!, reading)(
          isMethod ? message(method, value) : { method: method.name, params: value }
        ),
    older: Version.isModern(version)
      ? []
      : Version.legacy.filter((older) => older < version && Method.isIn(method, older))
  }
}

const parts = (method: Method.Method) => method.kind === "request" ? ["params", "result"] as const : ["params"] as const

const of = (
  table: ReadonlyMap<string, Method.Method>,
  versions: ReadonlyArray<Version.Version>,
  isMethod = true
): ReadonlyArray<Saying> =>
  versions.flatMap((version) =>
    [...table.values()].filter((method) => Method.isIn(method, version))
      .flatMap((method) => parts(method).map((part) => entry(method, version, part, isMethod)))
  )

export const legacy = of(LegacyMethods.table, Version.legacy)
export const modern = of(ModernMethods.table, Version.modern)
/** What a modern server asks is no message, but is put into one. */
export const questions = of(InputRequired.questions, Version.modern, false)
export const all: ReadonlyArray<Saying> = [...legacy, ...modern, ...questions]

/** As a peer gets it. */
export const overTheWire = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

/** What a revision cannot be told; a capability or the protocol itself keeps everybody from saying it. */
export const isUnsayable = ({ method, part }: Saying, value: any, version: Version.Version): boolean =>
  // A cancellation without an id names nothing that such a peer would know.
  (method.name === "notifications/cancelled" && version !== "2025-11-25" && value.requestId === undefined) ||
  // Pages are opened for whoever declared `elicitation.url`.
  (method.name === "elicitation/create" && part === "params" && version < "2025-11-25" && value.mode === "url")

const arbitraries = new Map<Schema.Schema<any>, FastCheck.Arbitrary<any>>()

/** Values of a schema, as they come out of JSON. */
export const arbitrary = (schema: Schema.Schema<any>): FastCheck.Arbitrary<any> => {
  let found = arbitraries.get(schema)
  if (found === undefined) arbitraries.set(schema, found = Arbitrary.make(schema).map(overTheWire))
  return found
}

export const samples = (schema: Schema.Schema<any>, count: number): ReadonlyArray<any> =>
  FastCheck.sample(arbitrary(schema), { numRuns: count, seed })

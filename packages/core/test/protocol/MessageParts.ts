/**
 * One entry for each method, revision and part of a message (parameters or result): its schema, how it is narrowed and
 * decoded, and its official schema. The matrix of the property tests.
 */
import * as LegacyMethods from "@effect-mcp/core/protocol/legacy/Methods"
import * as Method from "@effect-mcp/core/protocol/Method"
import * as InputRequired from "@effect-mcp/core/protocol/modern/InputRequired"
import * as ModernMethods from "@effect-mcp/core/protocol/modern/Methods"
import * as Stamp from "@effect-mcp/core/protocol/modern/Stamp"
import * as Version from "@effect-mcp/core/protocol/Version"
import type * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import type * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import { schemaArbitrary } from "../../../testing/test/support/SchemaArbitrary.js"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Official from "./Official.js"

/** One seed for all tests, so that a second run finds the same failure. */
export const seed = 20260728

export interface MessagePart {
  readonly title: string
  readonly version: Version.Version
  readonly method: Method.Method
  readonly part: "params" | "result"
  readonly schema: Schema.Schema<any>
  /** What is sent of a value to a peer of a revision. */
  readonly narrow: (value: any, version: Version.Version) => any
  /** Checks without mending: `Mend` has tests of its own. */
  readonly decode: (value: unknown) => Either.Either<any, ParseResult.ParseError>
  /** Why the official schema of a revision refuses a value; `undefined` when it accepts it. */
  readonly judge: (value: unknown, version: Version.Version, reading?: Official.Reading) => string | undefined
  /** The older revisions of the same era that have the method. */
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
): MessagePart => {
  const schema = part === "params" ? method.params : (method as Method.Request).result
  return {
    title: `${method.name} ${part} ${version}`,
    version,
    method,
    part,
    schema,
    narrow: (value, version) => {
      const narrowed = Projection.compile(schema, version)(value) as object
      return part === "result" && isMethod && Version.isModern(version) ? stamped(method.name, narrowed) : narrowed
    },
    decode: SchemaCheck.decoder(schema),
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
): ReadonlyArray<MessagePart> =>
  versions.flatMap((version) =>
    [...table.values()].filter((method) => Method.isIn(method, version))
      .flatMap((method) => parts(method).map((part) => entry(method, version, part, isMethod)))
  )

export const legacy = of(LegacyMethods.table, Version.legacy)
export const modern = of(ModernMethods.table, Version.modern)
/** The input requests of a modern server, which are not messages but parts of a result. */
export const questions = of(InputRequired.inputMethods, Version.modern, false)
export const all: ReadonlyArray<MessagePart> = [...legacy, ...modern, ...questions]

/** As a peer receives it. */
export const throughJson = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

/** What cannot be sent to a revision; a capability or the protocol itself prevents it. */
export const cannotBeSent = ({ method, part }: MessagePart, value: any, version: Version.Version): boolean =>
  // Only 2025-11-25 has a cancellation without an id.
  (method.name === "notifications/cancelled" && version !== "2025-11-25" && value.requestId === undefined) ||
  // URLs are sent only to clients that declared `elicitation.url`.
  (method.name === "elicitation/create" && part === "params" && version < "2025-11-25" && value.mode === "url")

const arbitraries = new Map<Schema.Schema<any>, FastCheck.Arbitrary<any>>()

/** Values of a schema, as JSON has them. */
export const arbitrary = (schema: Schema.Schema<any>): FastCheck.Arbitrary<any> => {
  let found = arbitraries.get(schema)
  if (found === undefined) arbitraries.set(schema, found = schemaArbitrary(schema).map(throughJson))
  return found
}

export const samples = (schema: Schema.Schema<any>, count: number): ReadonlyArray<any> =>
  FastCheck.sample(arbitrary(schema), { numRuns: count, seed })

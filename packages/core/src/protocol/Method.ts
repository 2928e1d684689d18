/**
 * A method of the protocol as a value: its name, the side that sends it, the schemas of its parameters and its result, the capability that
 * it needs, and the revisions that have it. `legacy/Methods` and `modern/Methods` define the methods with this module. Each method compiles
 * its schemas once, when they are first used.
 *
 * Decoding tolerates some invalid messages. `null` in an optional member means that the member is absent. A client leaves out an invalid
 * part of a server's message if the rest of the message keeps its meaning. If a value conforms, a decoder returns this value and makes no
 * copy.
 *
 * @since 0.1.0
 */
import type * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Meta from "./Meta.js"
import * as Mend from "./schema/Mend.js"
import * as Projection from "./schema/Projection.js"
import * as SchemaCheck from "./schema/SchemaCheck.js"
import type { Version } from "./Version.js"

/**
 * The side that may send a request or a notification of a method.
 *
 * @category models
 */
export type Sender = "client" | "server" | "both"

/**
 * A place of a message where the decoder left something out or filled something in, and a text that says what the decoder did. The text
 * contains no part of the peer's value.
 *
 * @category models
 */
export interface Loss {
  /** The path of the place: `tools.0.title`. */
  readonly path: string
  readonly message: string
}

/**
 * The places of a server's message where the client left something out or filled something in to make the message valid.
 *
 * @category models
 */
export interface Losses {
  /** The number of these places in the message. */
  readonly count: number
  /** The first ten places. */
  readonly places: ReadonlyArray<Loss>
}

/**
 * Checks a value, and tries to repair a value that is not valid. Calls `onLoss` when it accepts a value after leaving something out or
 * filling something in.
 *
 * @category models
 */
export type Decode<out A> = (
  value: unknown,
  onLoss?: (losses: Losses) => void
) => Either.Either<A, ParseResult.ParseError>

/**
 * The deprecation of a method: the revision that deprecated the method, the proposal (SEP), and the date of the first revision that may
 * remove the method. A deprecated method works as before.
 *
 * @category models
 */
export interface Deprecation {
  readonly since: Version
  readonly by: string
  readonly removedFrom: string
}

/**
 * The deprecation of roots, of sampling and of logging.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/changelog
 * @category constants
 */
export const deprecatedFeature: Deprecation = { since: "2026-07-28", by: "SEP-2577", removedFrom: "2027-07-28" }

interface Common<Name extends string, Params> {
  readonly name: Name
  readonly from: Sender
  readonly params: Schema.Schema<Params>
  /** Checks parameters. Absent parameters count as `{}`. */
  readonly decodeParams: Decode<Params>
  /**
   * Returns a function that converts parameters to what a peer of the revision receives. The function leaves out fields that the revision
   * does not have, and replaces kinds of content that the revision does not have with older kinds.
   */
  readonly narrowParams: (version: Version) => (params: Params) => unknown
  /** The path of the capability that the method needs, such as `resources.subscribe`; `undefined` when the method needs no capability. */
  readonly capability: string | undefined
  /** The side that must have declared the capability: the sender or the receiver of the method. */
  readonly declaredBy: "sender" | "receiver"
  readonly since: Version
  /** The last revision that has the method. `undefined`: the latest revision has it. */
  readonly until: Version | undefined
  /** The first revision in which a side must have declared the capability. */
  readonly gatedSince: Version
  readonly deprecated: Deprecation | undefined
}

/** @category models */
export interface Request<Name extends string = string, Params = any, Result = any> extends Common<Name, Params> {
  readonly kind: "request"
  readonly result: Schema.Schema<Result>
  readonly decodeResult: Decode<Result>
  /** Whether a value conforms to the schema of the result. */
  readonly isResult: (result: unknown) => boolean
  /** Converts the result as `narrowParams` converts parameters. */
  readonly narrowResult: (version: Version) => (result: Result) => unknown
}

/** @category models */
export interface Notification<Name extends string = string, Params = any> extends Common<Name, Params> {
  readonly kind: "notification"
}

/** @category models */
export type Method = Request | Notification

/**
 * Whether a revision has a method, whatever capabilities the sides declare.
 *
 * @category guards
 */
export const isIn = ({ since, until }: Method, version: Version): boolean =>
  version >= since && (until === undefined || version <= until)

/**
 * The parameters of a method that has no parameters except `_meta`.
 *
 * @category schemas
 */
export const NoParams: Schema.Schema<{ readonly _meta?: Meta.RequestMeta | undefined }> = Schema.Struct(Meta.request)

/**
 * A result that has only `_meta`, or parameters of a notification that have only `_meta`.
 *
 * @category schemas
 */
export const Empty: Schema.Schema<{ readonly _meta?: Meta.Meta | undefined }> = Schema.Struct(Meta.any)

/** The options of `request` and `notification`. */
interface Declaration<Name extends string, Params> {
  readonly name: Name
  readonly from: Sender
  readonly params: Schema.Schema<Params>
  readonly capability?: string
  readonly declaredBy?: "sender" | "receiver"
  readonly since?: Version
  readonly until?: Version
  readonly gatedSince?: Version
  readonly deprecated?: Deprecation
}

const common = <Name extends string, Params>(options: Declaration<Name, Params>) => {
  const { params, since = "2024-11-05" } = options
  return {
    capability: undefined,
    since,
    until: undefined,
    gatedSince: since,
    deprecated: undefined,
    decodeParams: decoder(params, options.from === "server" ? "client" : "server", empty),
    narrowParams: perVersion(params)
  }
}

/**
 * Makes the value of a request method. By default every revision has the method, and the method needs no capability.
 *
 * @category utils
 */
export const request = <const Name extends string, Params, Result>(
  options: Declaration<Name, Params> & { readonly result: Schema.Schema<Result> }
): Request<Name, Params, Result> => ({
  kind: "request",
  declaredBy: "receiver",
  ...common(options),
  ...options,
  decodeResult: Mend.decoder(options.result, options.from === "client" ? "client" : "server"),
  isResult: isResult(options.result),
  narrowResult: perVersion(options.result)
})

/**
 * Makes the value of a notification method. By default every revision has the method, and the method needs no capability.
 *
 * @category utils
 */
export const notification = <const Name extends string, Params>(
  options: Declaration<Name, Params>
): Notification<Name, Params> => ({ kind: "notification", declaredBy: "sender", ...common(options), ...options })

/**
 * Makes a map of methods by name. Throws when two methods have the same name.
 *
 * @category utils
 */
export const table = <const M extends ReadonlyArray<Method>>(...methods: M): ReadonlyMap<string, M[number]> => {
  const byName = new Map(methods.map((method) => [method.name, method]))
  if (byName.size !== methods.length) {
    const names = methods.map(({ name }) => name)
    const twice = names.find((name, at) => names.indexOf(name) !== at)!
    throw new Error(`A table has two methods of the same name, "${twice.slice(0, 100)}": list each method once`)
  }
  return byName
}

/** When the value is `undefined` or `null`, the decoder decodes `absent` instead. */
const decoder = <A>(schema: Schema.Schema<A>, reader: Mend.Reader, absent: {}): Decode<A> => {
  const decode = Mend.decoder(schema, reader)
  return (value, onLoss) => decode(value ?? absent, onLoss)
}

const isResult = <A>(schema: Schema.Schema<A>): (u: unknown) => boolean => {
  let made: ((u: unknown) => boolean) | undefined
  return (u) => (made ??= SchemaCheck.compile(schema))(u)
}

const empty = {}

const perVersion = <A>(schema: Schema.Schema<A>): (version: Version) => (value: A) => unknown => {
  const compiled: Partial<Record<Version, (value: A) => unknown>> = {}
  return (version) => compiled[version] ??= Projection.compile(schema, version)
}

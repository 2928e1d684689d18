/**
 * A method as a value: its name, which side sends it, the schemas of its parameters and result, the capability it
 * needs, and the revisions that have it. The two tables, `legacy/Methods` and `modern/Methods`, consist of these
 * values; no method is named here. Checks and projections are compiled once for each method, when they are first used.
 *
 * Decoding forgives: `null` in an optional member means that the member is absent, and a client leaves out what it cannot
 * read of a server's message where the rest keeps its meaning. A value that conforms is returned as it is.
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
 * The side that may send a message.
 *
 * @category models
 */
export type Sender = "client" | "server" | "both"

/**
 * A place of a message that was mended, and how it was mended. A loss has nothing of the peer's value.
 *
 * @category models
 */
export interface Loss {
  /** `tools.0.title` */
  readonly path: string
  readonly message: string
}

/**
 * What a client left out of a server's message, or filled in, so that it could read the message.
 *
 * @category models
 */
export interface Losses {
  /** How many places were mended. */
  readonly count: number
  /** The first ten of them. */
  readonly places: ReadonlyArray<Loss>
}

/**
 * Checks a value, and mends a value that is not valid. `onLoss` is called when the value is accepted with losses.
 *
 * @category models
 */
export type Decode<out A> = (
  value: unknown,
  onLoss?: (losses: Losses) => void
) => Either.Either<A, ParseResult.ParseError>

/**
 * Since which revision a method is deprecated, which proposal says so, and the first revision that may be without the method. Until then
 * the method works as before.
 *
 * @category models
 */
export interface Deprecation {
  readonly since: Version
  readonly by: string
  readonly removedFrom: string
}

/**
 * The deprecation of roots, sampling and logging.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/changelog
 * @category constants
 */
export const deprecatedFeature: Deprecation = { since: "2026-07-28", by: "SEP-2577", removedFrom: "2027-07-28" }

interface Common<Name extends string, Params> {
  readonly name: Name
  readonly from: Sender
  readonly params: Schema.Schema<Params>
  /** Checks parameters; absent parameters count as `{}`. */
  readonly decodeParams: Decode<Params>
  /** Gives what a peer of a revision receives: no newer fields, and older kinds of content in place of newer kinds. */
  readonly narrowParams: (version: Version) => (params: Params) => unknown
  /** The capability that the method needs, as a path: `resources.subscribe`. */
  readonly capability: string | undefined
  /** The side that must have declared the capability. */
  readonly declaredBy: "sender" | "receiver"
  readonly since: Version
  /** The last revision that has the method; `undefined` while the latest revision has it. */
  readonly until: Version | undefined
  /** The first revision in which the method needs its capability. */
  readonly gatedSince: Version
  readonly deprecated: Deprecation | undefined
}

/** @category models */
export interface Request<Name extends string = string, Params = any, Result = any> extends Common<Name, Params> {
  readonly kind: "request"
  readonly result: Schema.Schema<Result>
  readonly decodeResult: Decode<Result>
  /** Whether a value is a result of this method. */
  readonly isResult: (result: unknown) => boolean
  /** As `narrowParams`, for the result. */
  readonly narrowResult: (version: Version) => (result: Result) => unknown
}

/** @category models */
export interface Notification<Name extends string = string, Params = any> extends Common<Name, Params> {
  readonly kind: "notification"
}

/** @category models */
export type Method = Request | Notification

/**
 * Whether a revision has a method, whatever capability it needs.
 *
 * @category guards
 */
export const isIn = ({ since, until }: Method, version: Version): boolean =>
  version >= since && (until === undefined || version <= until)

/**
 * The parameters of a method without parameters of its own.
 *
 * @category schemas
 */
export const NoParams: Schema.Schema<{ readonly _meta?: Meta.RequestMeta | undefined }> = Schema.Struct(Meta.request)

/**
 * A result, or the parameters of a notification, without members of its own.
 *
 * @category schemas
 */
export const Empty: Schema.Schema<{ readonly _meta?: Meta.Meta | undefined }> = Schema.Struct(Meta.any)

/** What declares a method; `request` and `notification` add the rest. */
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
 * A request. By default every revision has the request, and it needs no capability.
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
 * A notification. By default every revision has the notification, and it needs no capability.
 *
 * @category utils
 */
export const notification = <const Name extends string, Params>(
  options: Declaration<Name, Params>
): Notification<Name, Params> => ({ kind: "notification", declaredBy: "sender", ...common(options), ...options })

/**
 * Methods by name. Throws when two of them have the same name.
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

/** `absent` is what is decoded in place of `undefined` and `null`. */
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

/**
 * What a method is: its name, who may send it, its parameters and result, the capability that gates it, and the revisions
 * that have it. The two tables, `legacy/Methods` and `modern/Methods`, are made of these; no method is named here.
 *
 * @since 0.1.0
 */
import type * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Meta from "./Meta.js"
import * as SchemaCheck from "./schema/SchemaCheck.js"
import type { Version } from "./Version.js"

/**
 * Who may send a message.
 *
 * @since 0.1.0
 * @category models
 */
export type Sender = "client" | "server" | "both"

interface Common<Name extends string, Params> {
  readonly name: Name
  readonly from: Sender
  readonly params: Schema.Schema<Params>
  /** Checks parameters, given `{}` for absent ones; built on first use. */
  readonly decodeParams: (params: unknown) => Either.Either<Params, ParseResult.ParseError>
  /** What must have been declared for the method to exist, as a path: `resources.subscribe`. */
  readonly capability: string | undefined
  /** Who must have declared it. Whoever is asked can answer; whoever tells said that it would. */
  readonly declaredBy: "sender" | "receiver"
  /** The first revision that has it. */
  readonly since: Version
  /** The last revision that has it, if it has left. */
  readonly until: Version | undefined
  /** The first revision in which the capability is asked for. */
  readonly gatedSince: Version
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Request<Name extends string = string, Params = any, Result = any> extends Common<Name, Params> {
  readonly kind: "request"
  readonly result: Schema.Schema<Result>
  /** Checks a result; built on first use. */
  readonly decodeResult: (result: unknown) => Either.Either<Result, ParseResult.ParseError>
  /** Whether a value is a result of this method; built on first use. */
  readonly isResult: (result: unknown) => boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Notification<Name extends string = string, Params = any> extends Common<Name, Params> {
  readonly kind: "notification"
}

/**
 * @since 0.1.0
 * @category models
 */
export type Method = Request | Notification

/**
 * Helper types of methods.
 *
 * @since 0.1.0
 */
export declare namespace Method {
  /**
   * @since 0.1.0
   * @category models
   */
  export type Params<M> = M extends Request<string, infer P, any> ? P : M extends Notification<string, infer P> ? P
  : never

  /**
   * @since 0.1.0
   * @category models
   */
  export type Result<M> = M extends Request<string, any, infer R> ? R : never
}

/**
 * Whether a revision has a method. What it is gated by is another question.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isIn = ({ since, until }: Method, version: Version): boolean =>
  version >= since && (until === undefined || version <= until)

/**
 * The capability that gates a method in a revision; `undefined` when none does.
 *
 * @since 0.1.0
 * @category getters
 */
export const gate = ({ capability, gatedSince }: Method, version: Version): string | undefined =>
  version >= gatedSince ? capability : undefined

/**
 * Parameters of a method that has none of its own.
 *
 * @since 0.1.0
 * @category schemas
 */
export const NoParams: Schema.Schema<{ readonly _meta?: Meta.RequestMeta | undefined }> = Schema.Struct(Meta.request)

/**
 * The result of a method, or the parameters of a notification, that has nothing to say.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Empty: Schema.Schema<{ readonly _meta?: Meta.Meta | undefined }> = Schema.Struct(Meta.any)

/**
 * @since 0.1.0
 * @category constructors
 */
export const request = <const Name extends string, Params, Result>(options: {
  readonly name: Name
  readonly from: Sender
  readonly params: Schema.Schema<Params>
  readonly result: Schema.Schema<Result>
  readonly capability?: string
  readonly declaredBy?: "sender" | "receiver"
  readonly since?: Version
  readonly until?: Version
  readonly gatedSince?: Version
}): Request<Name, Params, Result> => {
  const { params, result, since = "2024-11-05" } = options
  return {
    kind: "request",
    capability: undefined,
    declaredBy: "receiver",
    since,
    until: undefined,
    gatedSince: since,
    ...options,
    decodeParams: orEmpty(lazily(() => SchemaCheck.decoder(params))),
    decodeResult: lazily(() => SchemaCheck.decoder(result)),
    isResult: lazily(() => SchemaCheck.compile(result))
  }
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const notification = <const Name extends string, Params>(options: {
  readonly name: Name
  readonly from: Sender
  readonly params: Schema.Schema<Params>
  readonly capability?: string
  readonly declaredBy?: "sender" | "receiver"
  readonly since?: Version
  readonly until?: Version
  readonly gatedSince?: Version
}): Notification<Name, Params> => {
  const { params, since = "2024-11-05" } = options
  return {
    kind: "notification",
    capability: undefined,
    declaredBy: "sender",
    since,
    until: undefined,
    gatedSince: since,
    ...options,
    decodeParams: orEmpty(lazily(() => SchemaCheck.decoder(params)))
  }
}

/**
 * Methods by name; two of one name are a bug of the table's author.
 *
 * @since 0.1.0
 * @category constructors
 */
export const table = <const M extends ReadonlyArray<Method>>(...methods: M): ReadonlyMap<string, M[number]> => {
  const byName = new Map(methods.map((method) => [method.name, method]))
  if (byName.size !== methods.length) throw new Error("A method stands twice in its table")
  return byName
}

const lazily = <A>(make: () => (u: unknown) => A): (u: unknown) => A => {
  let made: ((u: unknown) => A) | undefined
  return (u) => (made ??= make())(u)
}

const none = {}

const orEmpty = <A>(decode: (u: unknown) => A): (u: unknown) => A => (u) => decode(u ?? none)

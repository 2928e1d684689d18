/**
 * The errors that can answer a request, with one class for each meaning. `toWire` chooses the code that an error has in an era (legacy or
 * modern, see `Version`). `fromWire` finds the class of a received error. `ErrorCodes` has the table of codes. `jsonrpc/LocalError` has the
 * failures that do not come from a peer, such as a timeout or a closed connection. No error type belongs to both modules.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as JsonRpcError from "../jsonrpc/JsonRpcError.js"
import type { ClientCapabilities } from "./Capabilities.js"
import { codes } from "./ErrorCodes.js"
import * as Issue from "./Issue.js"
import type { JsonObject } from "./Json.js"
import * as IssueText from "./schema/IssueText.js"
import type { Era } from "./Version.js"

/**
 * The received text is not JSON.
 *
 * @category errors
 */
export class ParseError extends Data.TaggedError("ParseError")<{ readonly message: string }> {}

/**
 * The message is not a request, or it is a request that is not allowed now.
 *
 * @category errors
 */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  readonly message: string
  readonly data?: unknown
}> {}

/**
 * The method does not exist, or a side has not declared the capability that the method needs.
 *
 * @category errors
 */
export class MethodNotFound extends Data.TaggedError("MethodNotFound")<{
  readonly method: string
  readonly data?: unknown
}> {
  override get message(): string {
    return this.method === "" ? "Method not found" : `Method not found: ${this.method}`
  }
}

/**
 * The parameters do not fit the method, for example because a tool is not known or an argument is missing.
 *
 * @category errors
 */
export class InvalidParams extends Data.TaggedError("InvalidParams")<{
  readonly message: string
  readonly data?: unknown
}> {}

/**
 * The receiver of the request failed, and does not tell the reason.
 *
 * @category errors
 */
export class InternalError extends Data.TaggedError("InternalError")<{
  readonly message: string
  readonly data?: unknown
}> {}

/**
 * No resource has this URI.
 *
 * @category errors
 */
export class ResourceNotFound extends Data.TaggedError("ResourceNotFound")<{ readonly uri: string }> {
  override get message(): string {
    return `Resource not found: ${this.uri}`
  }
}

/**
 * The request names a protocol revision that the server does not support.
 *
 * @category errors
 */
export class UnsupportedVersion extends Data.TaggedError("UnsupportedVersion")<{
  readonly requested: string
  readonly supported: ReadonlyArray<string>
}> {
  override get message(): string {
    return `Unsupported protocol version: ${this.requested}; supported: ${this.supported.join(", ")}`
  }
}

/**
 * The request needs capabilities that the client has not declared.
 *
 * @category errors
 */
export class MissingClientCapability extends Data.TaggedError("MissingClientCapability")<{
  readonly required: ClientCapabilities
}> {
  override get message(): string {
    return `The client lacks a required capability: ${pathsOf(this.required).join(", ")}`
  }
}

/** How many capabilities the text of the error names. A peer may require any number of capabilities, with names of any length. */
const MAX_NAMED = 20

/** Returns the paths of the innermost capabilities, such as `elicitation.url` for `{ elicitation: { url: {} } }`. */
const pathsOf = (capabilities: JsonObject): ReadonlyArray<string> => {
  const paths: Array<string> = []
  const visit = (inner: unknown, path: ReadonlyArray<string>): void => {
    const members = typeof inner === "object" && inner !== null ? Object.entries(inner) : []
    if (members.length === 0 && path.length > 0) paths.push(IssueText.pathText(path))
    for (const [name, member] of members) {
      if (paths.length === MAX_NAMED) return
      visit(member, [...path, name])
    }
  }
  visit(capabilities, [])
  return paths
}

/**
 * An HTTP request lacks a required header, or a header differs from the body of the request.
 *
 * @category errors
 */
export class HeaderMismatch extends Data.TaggedError("HeaderMismatch")<{ readonly message: string }> {}

/**
 * A URL that the user must open, and the id with which the server later reports that the user is done.
 *
 * @category models
 */
export interface UrlElicitation {
  readonly mode: "url"
  readonly elicitationId: string
  readonly url: string
  readonly message: string
}

/**
 * The user must open these URLs before the client sends the request again. Only legacy servers send this error; a modern server answers
 * with `InputRequired.ofUrlElicitations`.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 * @category errors
 */
export class UrlElicitationRequired extends Data.TaggedError("UrlElicitationRequired")<{
  readonly elicitations: ReadonlyArray<UrlElicitation>
  readonly message: string
}> {
  /** `message` is the text of the peer. Default: "URL elicitation required", or "URL elicitations required" for several URLs. */
  constructor(
    { elicitations, message }: {
      readonly elicitations: ReadonlyArray<UrlElicitation>
      readonly message?: string | undefined
    }
  ) {
    const standard = elicitations.length === 1 ? "URL elicitation required" : "URL elicitations required"
    super({ elicitations, message: message ?? standard })
  }
}

/**
 * An error of the peer with a code that this package does not know.
 *
 * @category errors
 */
export class PeerError extends Data.TaggedError("PeerError")<{
  readonly code: number
  readonly message: string
  readonly data?: unknown
}> {}

/** @category errors */
export type McpError =
  | ParseError
  | InvalidRequest
  | MethodNotFound
  | InvalidParams
  | InternalError
  | ResourceNotFound
  | UnsupportedVersion
  | MissingClientCapability
  | HeaderMismatch
  | UrlElicitationRequired
  | PeerError

/**
 * The name of an error type, for error messages of the compiler.
 *
 * @category models
 */
export type NameOf<E> = E extends { readonly _tag: infer Name extends string } ? Name
  : E extends string ? "a string"
  : "an error"

const classes = [
  ParseError,
  InvalidRequest,
  MethodNotFound,
  InvalidParams,
  InternalError,
  ResourceNotFound,
  UnsupportedVersion,
  MissingClientCapability,
  HeaderMismatch,
  UrlElicitationRequired,
  PeerError
]

/** @category guards */
export const isMcpError = (u: unknown): u is McpError => classes.some((error) => u instanceof error)

/**
 * The reason why a value does not conform to a schema of Effect, as Effect's parser reports it.
 *
 * @category models
 */
export type ParseIssue = ParseResult.ParseIssue

/**
 * Makes the error for a value that does not conform to a schema. The data of the error is `{ issues }`, and each issue has `path` and
 * `message`. `subject` names the value in the message of the error. Default: `params`.
 *
 * @category constructors
 */
export const ofIssue = (issue: ParseIssue, subject = "params"): InvalidParams => {
  const { places, sentence } = Issue.explain(issue)
  return new InvalidParams({ message: `Invalid ${subject}: ${sentence}`, data: { issues: places } })
}

/**
 * Returns the error object that a peer of this era receives. For a modern peer, the error object of a `UrlElicitationRequired` contains no
 * URLs.
 *
 * @category utils
 */
export const toWire = (error: McpError, era: Era): JsonRpcError.ErrorObject => {
  const { message } = error
  return error._tag === "PeerError"
    ? { code: error.code, message, data: error.data }
    : JsonRpcError.toObject({ code: codes[era][error._tag], message, data: dataOf(error, era) })
}

const dataOf = (error: Exclude<McpError, PeerError>, era: Era): unknown => {
  switch (error._tag) {
    case "InvalidRequest":
    case "InvalidParams":
    case "InternalError":
      return error.data
    case "MethodNotFound":
      return error.data ?? { method: error.method }
    case "ResourceNotFound":
      return { uri: error.uri }
    case "UnsupportedVersion":
      return { supported: error.supported, requested: error.requested }
    case "MissingClientCapability":
      return { requiredCapabilities: error.required }
    case "UrlElicitationRequired":
      return era === "legacy" ? { elicitations: error.elicitations } : undefined
    case "ParseError":
    case "HeaderMismatch":
      return undefined
  }
}

/**
 * Converts an error object that a peer of either era has sent to an instance of its error class. If the code is unknown, or the data does
 * not fit the code, the result is a `PeerError` with the code, the message and the data.
 *
 * @category constructors
 */
export const fromWire = (error: JsonRpcError.ErrorObject): McpError => {
  const { code, message } = error
  const data = (typeof error.data === "object" && error.data !== null ? error.data : {}) as JsonObject
  const rest = error.data === undefined ? { message } : { message, data: error.data }
  switch (code) {
    case codes.modern.ParseError:
      return new ParseError({ message })
    case codes.modern.InvalidRequest:
      return isCapabilities(data.requiredCapabilities)
        ? new MissingClientCapability({ required: data.requiredCapabilities })
        : new InvalidRequest(rest)
    case codes.modern.MethodNotFound:
      return new MethodNotFound(
        error.data === undefined || typeof data.method === "string"
          ? { method: methodOf(error) }
          : { method: methodOf(error), data: error.data }
      )
    case codes.modern.InvalidParams:
      return isVersions(data)
        ? unsupported(data)
        : typeof data.uri === "string"
        ? new ResourceNotFound({ uri: data.uri })
        : new InvalidParams(rest)
    case codes.modern.InternalError:
      return new InternalError(rest)
    case codes.legacy.ResourceNotFound:
      return typeof data.uri === "string" ? new ResourceNotFound({ uri: data.uri }) : new PeerError({ code, ...rest })
    case codes.legacy.UrlElicitationRequired:
      return areUrlElicitations(data.elicitations)
        ? new UrlElicitationRequired({ elicitations: data.elicitations, message })
        : new PeerError({ code, ...rest })
    case codes.modern.HeaderMismatch:
      return new HeaderMismatch({ message })
    case codes.modern.MissingClientCapability:
      return isCapabilities(data.requiredCapabilities)
        ? new MissingClientCapability({ required: data.requiredCapabilities })
        : new PeerError({ code, ...rest })
    case codes.modern.UnsupportedVersion:
      return isVersions(data) ? unsupported(data) : new PeerError({ code, ...rest })
    default:
      return new PeerError({ code, ...rest })
  }
}

const isCapabilities = (u: unknown): u is ClientCapabilities => Predicate.isRecord(u)

const areUrlElicitations = (u: unknown): u is ReadonlyArray<UrlElicitation> =>
  Array.isArray(u) &&
  u.every((one: Record<string, unknown> | null) =>
    one?.mode === "url" && ["elicitationId", "message", "url"].every((name) => typeof one[name] === "string")
  )

const isVersions = (
  data: JsonObject
): data is { readonly requested: string; readonly supported: ReadonlyArray<string> } =>
  typeof data.requested === "string" && Array.isArray(data.supported) &&
  data.supported.every((version) => typeof version === "string")

// Only two members are copied, because any other member of the peer's data would become a member of the error.
const unsupported = (
  { requested, supported }: { readonly requested: string; readonly supported: ReadonlyArray<string> }
) => new UnsupportedVersion({ requested, supported })

const methodOf = ({ data, message }: JsonRpcError.ErrorObject): string =>
  typeof data === "string"
    ? data
    : typeof (data as JsonObject | undefined)?.method === "string"
    ? (data as { readonly method: string }).method
    : /^Method not found: (.+)$/.exec(message)?.[1] ?? ""

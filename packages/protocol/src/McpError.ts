/**
 * Everything that can be answered with an error, by what happened rather than by number: the code is chosen per era, in
 * one table, when an error leaves, and read back when one comes in.
 *
 * These may cross the wire. What fails on this side of it (a timeout, a closed connection) is in
 * `@effect-mcp/jsonrpc/Outbound`, so that neither can be mistaken for the other.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 * @since 0.1.0
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Data from "effect/Data"
import type * as ParseResult from "effect/ParseResult"
import type { ClientCapabilities } from "./Capabilities.js"
import type { Era } from "./Era.js"
import type { JsonObject } from "./Json.js"
import * as Issue from "./schema/Issue.js"

/**
 * What was received is not JSON.
 *
 * @since 0.1.0
 * @category errors
 */
export class ParseError extends Data.TaggedError("ParseError")<{ readonly message: string }> {}

/**
 * What was received is not a request, or not one that can be made now.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  readonly message: string
  readonly data?: unknown
}> {}

/**
 * The method does not exist here, or needs a capability that was not declared.
 *
 * @since 0.1.0
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
 * The parameters are not what the method takes: an unknown tool, a missing argument, a cursor that was never given out.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidParams extends Data.TaggedError("InvalidParams")<{
  readonly message: string
  readonly data?: unknown
}> {}

/**
 * The other side failed and does not say how.
 *
 * @since 0.1.0
 * @category errors
 */
export class InternalError extends Data.TaggedError("InternalError")<{
  readonly message: string
  readonly data?: unknown
}> {}

/**
 * There is no resource at this address.
 *
 * @since 0.1.0
 * @category errors
 */
export class ResourceNotFound extends Data.TaggedError("ResourceNotFound")<{ readonly uri: string }> {
  override get message(): string {
    return `Resource not found: ${this.uri}`
  }
}

/**
 * The request names a revision that the server does not speak.
 *
 * @since 0.1.0
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
 * The request cannot be served for a client that does not have these capabilities.
 *
 * @since 0.1.0
 * @category errors
 */
export class MissingClientCapability extends Data.TaggedError("MissingClientCapability")<{
  readonly required: ClientCapabilities
}> {
  override get message(): string {
    return `The client lacks a required capability: ${Object.keys(this.required).join(", ")}`
  }
}

/**
 * A header of an HTTP request says something else than its body.
 *
 * @since 0.1.0
 * @category errors
 */
export class HeaderMismatch extends Data.TaggedError("HeaderMismatch")<{ readonly message: string }> {}

/**
 * A page that somebody has to open, with the id under which the server will say that it is done.
 *
 * @since 0.1.0
 * @category models
 */
export interface Page {
  readonly mode: "url"
  readonly elicitationId: string
  readonly url: string
  readonly message: string
}

/**
 * Somebody has to open these pages first; then the request can be made again. A word of the legacy era: the modern one asks
 * with `InputRequired.ofPages`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 * @since 0.1.0
 * @category errors
 */
export class UrlElicitationRequired extends Data.TaggedError("UrlElicitationRequired")<{
  readonly elicitations: ReadonlyArray<Page>
}> {
  override get message(): string {
    return this.elicitations.length === 1 ? "URL elicitation required" : "URL elicitations required"
  }
}

/**
 * An error of the other side whose code means nothing to us.
 *
 * @since 0.1.0
 * @category errors
 */
export class PeerError extends Data.TaggedError("PeerError")<{
  readonly code: number
  readonly message: string
  readonly data?: unknown
}> {}

/**
 * @since 0.1.0
 * @category errors
 */
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

/**
 * @since 0.1.0
 * @category guards
 */
export const isMcpError = (u: unknown): u is McpError => classes.some((error) => u instanceof error)

/**
 * The code with which a client says that its user rejected a request for sampling, in the legacy era: a `PeerError` to
 * whoever asked.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#error-handling
 * @since 0.1.0
 * @category codes
 */
export const USER_REJECTED = -1

/**
 * The codes that MCP adds to those of JSON-RPC. `null` where an era has none and must not use the other's: a code of
 * JSON-RPC takes its place.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 * @since 0.1.0
 * @category codes
 */
export const codes = {
  legacy: {
    ResourceNotFound: -32002,
    UnsupportedVersion: null,
    MissingClientCapability: null,
    HeaderMismatch: null,
    UrlElicitationRequired: -32042
  },
  modern: {
    ResourceNotFound: null,
    UnsupportedVersion: -32022,
    MissingClientCapability: -32021,
    HeaderMismatch: -32020,
    UrlElicitationRequired: null
  }
} as const

/**
 * The error that parameters deserve which do not conform: where and why, as text and as data.
 *
 * @since 0.1.0
 * @category conversions
 */
export const ofIssue = (issue: ParseResult.ParseIssue): InvalidParams =>
  new InvalidParams({ message: `Invalid params: ${Issue.sentence(issue)}`, data: { issues: Issue.places(issue) } })

/**
 * What the wire says of an error, in the codes of an era. One that the era has no code for keeps its data, but for pages to
 * open: a modern peer is told that the server failed.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toWire = (error: McpError, era: Era): JsonRpcError.ErrorObject => {
  const { message } = error
  switch (error._tag) {
    case "ParseError":
      return { code: JsonRpcError.PARSE_ERROR, message }
    case "InvalidRequest":
      return { code: JsonRpcError.INVALID_REQUEST, message, data: error.data }
    case "MethodNotFound":
      return { code: JsonRpcError.METHOD_NOT_FOUND, message, data: error.data ?? { method: error.method } }
    case "InvalidParams":
      return { code: JsonRpcError.INVALID_PARAMS, message, data: error.data }
    case "InternalError":
      return { code: JsonRpcError.INTERNAL_ERROR, message, data: error.data }
    case "ResourceNotFound":
      return { code: codes[era].ResourceNotFound ?? JsonRpcError.INVALID_PARAMS, message, data: { uri: error.uri } }
    case "UnsupportedVersion":
      return {
        code: codes[era].UnsupportedVersion ?? JsonRpcError.INVALID_PARAMS,
        message,
        data: { supported: error.supported, requested: error.requested }
      }
    case "MissingClientCapability":
      return {
        code: codes[era].MissingClientCapability ?? JsonRpcError.INVALID_REQUEST,
        message,
        data: { requiredCapabilities: error.required }
      }
    case "HeaderMismatch":
      return { code: codes[era].HeaderMismatch ?? JsonRpcError.INVALID_REQUEST, message }
    case "UrlElicitationRequired":
      return codes[era].UrlElicitationRequired === null
        ? { code: JsonRpcError.INTERNAL_ERROR, message }
        : { code: codes[era].UrlElicitationRequired, message, data: { elicitations: error.elicitations } }
    case "PeerError":
      return { code: error.code, message, data: error.data }
  }
}

/**
 * What an error of the peer's means. Data that is not what the code promises makes it a `PeerError`, which keeps
 * everything.
 *
 * @since 0.1.0
 * @category conversions
 */
export const fromWire = (error: JsonRpcError.ErrorObject): McpError => {
  const { code, message } = error
  const data = (typeof error.data === "object" && error.data !== null ? error.data : {}) as JsonObject
  const rest = error.data === undefined ? { message } : { message, data: error.data }
  switch (code) {
    case JsonRpcError.PARSE_ERROR:
      return new ParseError({ message })
    case JsonRpcError.INVALID_REQUEST:
      return isCapabilities(data.requiredCapabilities)
        ? new MissingClientCapability({ required: data.requiredCapabilities })
        : new InvalidRequest(rest)
    case JsonRpcError.METHOD_NOT_FOUND:
      return new MethodNotFound(
        error.data === undefined || typeof data.method === "string"
          ? { method: methodOf(error) }
          : { method: methodOf(error), data: error.data }
      )
    case JsonRpcError.INVALID_PARAMS:
      return isVersions(data)
        ? unsupported(data)
        : typeof data.uri === "string"
        ? new ResourceNotFound({ uri: data.uri })
        : new InvalidParams(rest)
    case JsonRpcError.INTERNAL_ERROR:
      return new InternalError(rest)
    case codes.legacy.ResourceNotFound:
      return typeof data.uri === "string" ? new ResourceNotFound({ uri: data.uri }) : new PeerError({ code, ...rest })
    case codes.legacy.UrlElicitationRequired:
      return isPages(data.elicitations)
        ? new UrlElicitationRequired({ elicitations: data.elicitations })
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

const isCapabilities = (u: unknown): u is ClientCapabilities => typeof u === "object" && u !== null && !Array.isArray(u)

const isPages = (u: unknown): u is ReadonlyArray<Page> =>
  Array.isArray(u) &&
  u.every((page: Record<string, unknown> | null) =>
    page?.mode === "url" && ["elicitationId", "message", "url"].every((name) => typeof page[name] === "string")
  )

const isVersions = (
  data: JsonObject
): data is { readonly requested: string; readonly supported: ReadonlyArray<string> } =>
  typeof data.requested === "string" && Array.isArray(data.supported) &&
  data.supported.every((version) => typeof version === "string")

// Only these: what else the peer put there would become the error's own.
const unsupported = (
  { requested, supported }: { readonly requested: string; readonly supported: ReadonlyArray<string> }
) => new UnsupportedVersion({ requested, supported })

const methodOf = ({ data, message }: JsonRpcError.ErrorObject): string =>
  typeof data === "string"
    ? data
    : typeof (data as JsonObject | undefined)?.method === "string"
    ? (data as { readonly method: string }).method
    : /^Method not found: (.+)$/.exec(message)?.[1] ?? ""

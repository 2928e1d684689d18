/**
 * Makes a response from the end of a handler, for `legacy/Era` and `modern/Era`, and makes the encoders for `Routes`. When the handler
 * succeeds, the response is a result. An `McpError`, a `JsonRpcError`, an `HttpRefusal` or a `LocalError` becomes a JSON-RPC error. The
 * code of the error depends on the protocol revision. Any other failure is a defect: the client receives "Internal error" (after a call of a
 * tool, as a result for the model), and the log contains the whole cause.
 *
 * `encoder` checks a result that this library has not built, and removes the members that the client's revision does not define. With
 * revision 2026-07-28 or later, `protocol/modern/Stamp` adds the members that every result must have. `headOf` gives the HTTP status and
 * headers of a refusal. `jsonrpc/runtime/Requests` decides whether the client gets a response. `features/Tools` makes a result from the
 * declared failure of a tool.
 */
import * as Cause from "effect/Cause"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import { isLocalError, type LocalError } from "../../jsonrpc/LocalError.js"
import type { Params } from "../../jsonrpc/Message.js"
import * as Outcome from "../../jsonrpc/Outcome.js"
import { ExtendedResult } from "../../protocol/Extension.js"
import * as Issue from "../../protocol/Issue.js"
import * as McpError from "../../protocol/McpError.js"
import type * as Method from "../../protocol/Method.js"
import * as PageUrl from "../../protocol/rules/PageUrl.js"
import * as ResultMeta from "../../protocol/rules/ResultMeta.js"
import * as SchemaCheck from "../../protocol/schema/SchemaCheck.js"
import * as TextFormat from "../../protocol/schema/TextFormat.js"
import type { Era, Version } from "../../protocol/Version.js"
import type { Hints } from "../CacheHints.js"
import type * as Feature from "../Feature.js"
import { HttpRefusal } from "../HttpRefusal.js"
import * as HandlerName from "./HandlerName.js"
import * as HttpRefusalCheck from "./HttpRefusalCheck.js"
import type { Route } from "./Route.js"

/** Makes the outcome of a request. For the log, an outcome with a defect or a flaw also names the tool, the prompt or the resource. */
export const ofRequest = (
  session: {
    readonly received: Parameters<typeof HandlerName.of>[0]
    readonly encode: (result: unknown) => Outcome.Outcome
  },
  exit: Exit.Exit<unknown, unknown>,
  era: Era
): Outcome.Outcome => {
  const outcome = exit._tag === "Success" ? session.encode(exit.value) : fromCause(exit.cause, era)
  if (outcome.died === undefined) {
    return outcome.flaw === undefined ? outcome : { ...outcome, subject: HandlerName.of(session.received) }
  }
  const { died } = outcome
  const subject = HandlerName.of(session.received)
  // A call of a tool gets a result and not an error, because a host shows the model the results of a tool, but not errors.
  return outcome.error === JsonRpcError.internal && session.received.method === "tools/call"
    ? { result: internalError, died, subject }
    : { ...outcome, subject } as Outcome.Outcome
}

const internalError: Params = { content: [{ type: "text", text: JsonRpcError.internal.message }], isError: true }

/** Makes the outcome of a handler. `encode` encodes a result for the client's revision. */
export const fromExit = (
  exit: Exit.Exit<unknown, unknown>,
  era: Era,
  encode: (result: unknown) => Outcome.Outcome
): Outcome.Outcome => exit._tag === "Success" ? encode(exit.value) : fromCause(exit.cause, era)

export const fromCause = (cause: Cause.Cause<unknown>, era: Era): Outcome.Outcome => {
  // When a handler failed, and then died in a finalizer, the cause is a bug, so the server must log a defect.
  const failures = Cause.isDie(cause) ? [] : [...Cause.failures(cause)]
  for (const failure of failures) {
    if (McpError.isMcpError(failure)) {
      const url = invalidUrl(failure)
      return url === undefined ? { error: McpError.toWire(failure, era) } : Outcome.died(Cause.die(url))
    }
    if (failure instanceof JsonRpcError.JsonRpcError) return { error: failure }
    if (failure instanceof HttpRefusal) {
      const fault = HttpRefusalCheck.problemOf(failure)
      return fault === undefined ? { error: errorOf(failure, era), notes: failure } : Outcome.died(Cause.die(fault))
    }
    if (isLocalError(failure)) return fromLocalError(failure, era)
  }
  return Outcome.died(cause)
}

/** Gives the mistake of a handler that asks a person to open an invalid URL; `undefined` when there is no mistake. */
export const invalidUrl = (failure: McpError.McpError): Error | undefined => {
  if (failure._tag !== "UrlElicitationRequired") return undefined
  const invalid = failure.elicitations.find(({ url }) =>
    !TextFormat.matches("uri", url) || PageUrl.problem(url) !== undefined
  )
  return invalid === undefined
    ? undefined
    : new Error(`UrlElicitationRequired has a url that is not valid, in the elicitation "${invalid.elicitationId}"`)
}

/** Whether a failure decides the response, even when the definition of the handler does not declare this failure. */
export const isProtocolError = (failure: unknown): failure is Feature.Fails =>
  McpError.isMcpError(failure) || failure instanceof JsonRpcError.JsonRpcError || isLocalError(failure) ||
  failure instanceof ExtendedResult || failure instanceof HttpRefusal

/** The status and the headers of an HTTP response that refuses a request. */
export type Head = Pick<HttpRefusal, "status" | "headers">

export const headOf = ({ notes }: Outcome.Outcome): Head | undefined => notes as Head | undefined

// With revision 2026-07-28 or later, SHOULD NOT send a code from -32000 to -32019.
export const errorOf = ({ error, status }: HttpRefusal, era: Era): JsonRpcError.ErrorObject =>
  era === "modern" && error.code <= JsonRpcError.UNAVAILABLE && error.code > JsonRpcError.UNAVAILABLE - 20
    ? { ...error, code: status < 500 ? JsonRpcError.INVALID_REQUEST : JsonRpcError.INTERNAL_ERROR }
    : error

/**
 * Makes the outcome of a handler whose request to the client got no result. Only the operator gets an error of the transport, because the
 * text may contain secrets.
 */
const fromLocalError = (failure: LocalError, era: Era): Outcome.Outcome => {
  const error = (message: string) => McpError.toWire(new McpError.InternalError({ message }), era)
  switch (failure._tag) {
    case "TransportError":
      return failure.reason === "Decode"
        ? { error: error("The client's answer to a request of the server is not valid") }
        : { error: error("The server's request did not reach the client"), died: Cause.fail(failure) }
    case "ConnectionClosed":
      return { error: error("The client has closed the connection"), died: Cause.fail(failure) }
    default:
      return { error: error(failure.message) }
  }
}

/** Checks a result that perhaps does not conform to its method. When the result does not conform, the outcome is "Internal error". */
export const result = (
  value: unknown,
  method: Pick<Method.Request, "result" | "isResult" | "name">,
  problem?: Route["problem"] | undefined
): Outcome.Outcome => {
  const wrong = unchecked.has(value as object)
    ? undefined
    : method.isResult(value)
    ? problem?.(value)
    // A strict check, because the decoder of a client would accept and repair some wrong values.
    : Either.match(SchemaCheck.decoder(method.result)(value), { onLeft: wrongAt, onRight: () => WRONG })
  if (wrong === undefined) {
    const checked = value as Params
    return checked._meta === undefined ? { result: checked } : ResultMeta.outcome(checked)
  }
  return Outcome.died(
    Cause.die(
      new Error(`The handler of "${method.name}" returned a value that is not a result of the method: ${wrong}`)
    )
  )
}

const WRONG = "it does not conform"

/** Results that come from other servers. The server sends them unchanged. */
export const unchecked = new WeakSet<object>()

// Says which member of the result is wrong. Does not contain the value, because the value may be a secret.
const wrongAt = ({ issue }: { readonly issue: McpError.ParseIssue }): string => {
  const paths = Issue.places(issue).flatMap(({ path }) => path === "" ? [] : [path])
  return paths.length === 0 ? WRONG : `see ${[...new Set(paths)].join(", ")}`
}

/** A result that no route may encode, because it is not the result of the method: the answer to a call that has become a task. */
export class Encoded {
  constructor(readonly result: {}) {}
}

/** Makes the outcome of a result that no route encodes. */
export const passedOn = (result: unknown): Outcome.Outcome => ({
  result: (result instanceof Encoded ? result.result : result) as {}
})

/**
 * Encodes one result. When the value is not a result of the method, the outcome is "Internal error". `hints` are the cache hints of this
 * result.
 */
type Encoder = (result: unknown, hints?: Hints) => Outcome.Outcome

/** Makes the encoder for a method and a revision. The server makes each encoder once, and uses it for every message. */
export const encoder = (
  method: Method.Request,
  version: Version,
  options: {
    /** Whether the encoder skips the check of results against the schema. */
    readonly isTrusted: boolean
    /** Whether handlers return the same result object many times. Then the encoder caches the encoded result for each object. */
    readonly isStable: boolean
    readonly problem?: Route["problem"] | undefined
  },
  stamp?: (result: Params) => Params
): Encoder => {
  const narrow = method.narrowResult(version) as (result: {}) => Params
  const compiled = stamp === undefined ? narrow : (result: {}) => stamp(narrow(result))
  const encode = options.isStable ? cached(compiled) : compiled
  return (value, hints) => {
    const checked = options.isTrusted ? { result: value as Params } : result(value, method, options.problem)
    if (checked.result === undefined) return checked
    const encoded = encode(hints === undefined ? checked.result : hinted(checked.result, hints))
    return checked.flaw === undefined ? { result: encoded } : { result: encoded, flaw: checked.flaw }
  }
}

/** Adds cache hints to a result. A result that other clients must not get stays private, whatever the handler says. */
const hinted = (result: Params, hints: Hints): Params =>
  hints.cacheScope === "private" ? { ...hints, ...result, cacheScope: "private" } : { ...hints, ...result }

const cached = (encode: (result: {}) => Params): (result: {}) => Params => {
  const encoded = new WeakMap<{}, Params>()
  return (result) => {
    let found = encoded.get(result)
    if (found === undefined) encoded.set(result, found = encode(result))
    return found
  }
}

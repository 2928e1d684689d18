/**
 * What a conversation noticed and went on from: input that answers nothing, a handler that died, work that would not
 * stop. None of these ends a conversation; all of them are visible to the application.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ErrorObject } from "./JsonRpcError.js"
import type * as Message from "./Message.js"
import * as Json from "./runtime/Json.js"

/**
 * - `Malformed`: input that is no message; it was answered if it asked for something.
 * - `UnknownResponse`: an answer to nothing we wait for; `late` when its id was one of ours.
 * - `UnattributedError`: an error response without an id: the peer could not read something we said.
 * - `DuplicateRequest`: an id that is already in flight; refused, and the first request lives on.
 * - `Overloaded`: more requests or notifications at once than the conversation allows; refused or dropped.
 * - `AmbiguousCancel`: a cancel that fits several requests; none was interrupted.
 * - `HandlerDied`: a handler ended in a way that is a bug on our side; the peer was told "Internal error".
 * - `Detached`: a handler that cannot be interrupted outlived the closing deadline.
 *
 * @since 0.1.0
 * @category models
 */
export type Diagnostic = Data.TaggedEnum<{
  Malformed: { readonly malformed: Message.Malformed }
  UnknownResponse: { readonly response: Message.Response; readonly late: boolean }
  UnattributedError: { readonly error: ErrorObject }
  DuplicateRequest: { readonly id: Message.RequestId; readonly method: string }
  Overloaded: { readonly method: string; readonly limit: number }
  AmbiguousCancel: { readonly id: Message.RequestId }
  HandlerDied: { readonly method: string; readonly cause: Cause.Cause<unknown> }
  Detached: { readonly method: string }
}>

/**
 * @since 0.1.0
 * @category constructors
 */
export const Diagnostic = Data.taggedEnum<Diagnostic>()

/**
 * Tells the operator: bugs of ours as errors, what a peer did wrong as a debug line.
 *
 * @since 0.1.0
 * @category running
 */
export const log: (diagnostic: Diagnostic) => Effect.Effect<void> = Diagnostic.$match({
  Malformed: ({ malformed }) => Effect.logDebug(`Malformed ${malformed.kind}: ${malformed.message}`),
  UnknownResponse: ({ late, response }) =>
    Effect.logDebug(`${late ? "Late" : "Unknown"} response: id ${Json.stringify(response.id)}`),
  UnattributedError: ({ error }) => Effect.logWarning(`The peer reports an error: ${error.message} (${error.code})`),
  DuplicateRequest: ({ id, method }) => Effect.logDebug(`Refused "${method}": id ${Json.stringify(id)} is in flight`),
  Overloaded: ({ limit, method }) => Effect.logWarning(`Refused "${method}": ${limit} are in flight`),
  AmbiguousCancel: ({ id }) => Effect.logDebug(`Ignored a cancel that fits several requests: ${Json.stringify(id)}`),
  HandlerDied: ({ cause, method }) => Effect.logError(`The handler of "${method}" died`, cause),
  Detached: ({ method }) => Effect.logWarning(`The handler of "${method}" did not stop in time and was left behind`)
})

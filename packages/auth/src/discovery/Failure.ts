/**
 * Makes the `AuthorizationError`s of this package. Each error is also an effect that fails with the error, so a function can return or
 * yield the error. The caller writes the message. `ServerText` shortens and cleans texts of a server for a message.
 */
import { AuthorizationError, type Reason } from "../AuthorizationError.js"
import type { Answer } from "../Grant.js"
import * as ServerText from "./ServerText.js"

export const failure = (
  reason: Reason,
  message: string,
  more?: { readonly error?: string | undefined; readonly cause?: unknown }
): AuthorizationError => new AuthorizationError({ reason, message, ...more })

/** Makes the error for a refusal of an authorization server. The message repeats the status, the code and the description of the answer. */
export const refusal = (
  reason: Reason,
  who: string,
  { json = {}, status }: Answer,
  advice = ""
): AuthorizationError => {
  const error = ServerText.errorCode(json["error"])
  const code = error === undefined ? "" : ` and "${error}"`
  const why = typeof json["error_description"] === "string" ? `: ${ServerText.shorten(json["error_description"])}` : ""
  return failure(reason, withAdvice(`${who} answered with ${status}${code}${why}`, advice), { error })
}

/** Adds advice to a message. The message may end with a sentence of the server. */
export const withAdvice = (text: string, advice: string): string =>
  advice === "" ? text : `${text.replace(/\.$/, "")}${advice}`

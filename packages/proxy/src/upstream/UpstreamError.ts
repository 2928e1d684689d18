/**
 * Makes the errors that a client gets when its request has failed at the upstream, or when the proxy could not connect to the upstream. The
 * client gets an error of the upstream unchanged. When the request or the answer was lost, the error has the name of the upstream and says
 * what happened. Only the log has the cause, because the text of a transport error may contain secrets. `Forward`, `WaitingCalls`, `Links`
 * and `ListingLink` use this module.
 */
import type { ClientError, ConnectError } from "@effect-mcp/core/ClientError"
import { forOperator } from "@effect-mcp/core/ClientLogger"
import { InternalError, isMcpError, type McpError, MethodNotFound } from "@effect-mcp/core/protocol/McpError"
import type { AskError } from "@effect-mcp/core/ServerSession"
import * as Effect from "effect/Effect"

/**
 * The failures of a request to the upstream. They include the failures of questions that the upstream asks the client while it serves the
 * request.
 */
export type ProxyFailure = ClientError | AskError

/**
 * Fails with the error for the client. Logs the cause of a transport failure, because the error for the client does not contain this cause.
 */
export const fail = (upstream: string, method: string, error: ProxyFailure): Effect.Effect<never, McpError> => {
  // Many servers answer with this error when they shut down.
  if (isMcpError(error) && error.message === "Connection closed") {
    return Effect.fail(of(upstream, sentences.ConnectionClosed(method)))
  }
  if (isMcpError(error)) return Effect.fail(error)
  switch (error._tag) {
    case "InputRefused":
      return Effect.fail(error.cause)
    case "NotNegotiated":
      return Effect.fail(new MethodNotFound({ method }))
    default:
      return Effect.zipRight(
        forOperator(Effect.logWarning(`"${method}" failed at the upstream "${upstream}": ${error.message}`)),
        Effect.fail(of(upstream, sentenceOf(error)(method)))
      )
  }
}

const sentenceOf = (error: Extract<ProxyFailure, { readonly _tag: keyof typeof sentences }>) => {
  if (error._tag === "ConnectionClosed" && error.isUnsent === true) return sentences.unsent
  if (error._tag === "TransportError" && error.reason !== "Read" && error.reason !== "Decode") {
    return sentences.unserved
  }
  return sentences[error._tag]
}

const MAY_HAVE = "It may or may not have served the request"

const sentences = {
  RequestTimeout: (method: string) => `did not answer "${method}" in time`,
  ConnectionClosed: (method: string) => `closed the connection before it answered "${method}". ${MAY_HAVE}`,
  unsent: (method: string) => `closed the connection before "${method}" was sent`,
  SessionExpired: (method: string) => `lost the session before it answered "${method}". ${MAY_HAVE}`,
  NoBackChannel: (method: string) => `has no connection that could carry "${method}"`,
  TaskEnded: (method: string) => `has no result of the task that "${method}" has become`,
  TooManyRounds: (method: string) => `asks too many questions to serve "${method}"`,
  unserved: (method: string) => `was not reached, or refused the request: it has not served "${method}"`,
  TransportError: (method: string) => `sent no valid answer to "${method}", or no answer. ${MAY_HAVE}`
} as const

/**
 * Makes the error for a client. Its message is the sentence "The upstream NAME DOES", with `upstream` and `does` for the words in capitals.
 */
export const of = (upstream: string, does: string): InternalError =>
  new InternalError({ message: `The upstream "${upstream}" ${does}` })

/**
 * Fails with the error for a client whose request could not be sent, because no connection to the upstream could be opened. Logs the cause.
 */
export const unconnected = (upstream: string, error: ConnectError): Effect.Effect<never, McpError> =>
  Effect.zipRight(
    forOperator(Effect.logWarning(`The upstream "${upstream}" could not be connected: ${error.message}`)),
    Effect.fail(of(upstream, "is not connected"))
  )

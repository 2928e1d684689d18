/**
 * The error that a client gets when its request failed at the upstream. An error that the upstream sent goes on as it is. Of a
 * failure on the way there, the client gets the name of the upstream, and only the log has the rest: a transport's text may
 * hold secrets.
 */
import type { ClientError, ConnectError } from "@effect-mcp/client/ClientError"
import { InternalError, isMcpError, type McpError, MethodNotFound } from "@effect-mcp/protocol/McpError"
import { forOperator } from "@effect-mcp/server/ClientLogger"
import type { AskError } from "@effect-mcp/server/ServerSession"
import * as Effect from "effect/Effect"

/** How a request to the upstream fails, or a question to the client meanwhile. */
export type ProxyFailure = ClientError | AskError

/** Fails with the error for the client, and logs what that leaves out. */
export const fail = (upstream: string, method: string, error: ProxyFailure): Effect.Effect<never, McpError> => {
  // The last answer of many servers that shut down.
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
        Effect.fail(of(upstream, sentences[error._tag](method)))
      )
  }
}

const sentences = {
  RequestTimeout: (method: string) => `did not answer "${method}" in time`,
  ConnectionClosed: (method: string) => `closed the connection before it answered "${method}"`,
  SessionExpired: (method: string) => `lost the session before it answered "${method}"`,
  NoBackChannel: (method: string) => `cannot be sent "${method}"`,
  TaskEnded: (method: string) => `has no result of the task that "${method}" has become`,
  TooManyRounds: (method: string) => `asks too many times in order to serve "${method}"`,
  TransportError: (method: string) => `was not reached, or sent no valid answer to "${method}"`
} as const

/** The error of an upstream: `does` says what it did. */
export const of = (upstream: string, does: string): InternalError =>
  new InternalError({ message: `The upstream "${upstream}" ${does}` })

/** The error of a request that cannot be sent, because there is no connection. */
export const unconnected = (upstream: string, error: ConnectError): Effect.Effect<never, McpError> =>
  Effect.zipRight(
    forOperator(Effect.logWarning(`The upstream "${upstream}" could not be connected: ${error.message}`)),
    Effect.fail(of(upstream, "is not connected"))
  )

/**
 * The errors that a server gets when the handler of a feature fails: its `McpError` as it is, and an `InternalError` where a
 * call of its own had no answer. The log alone has the text of the transport, which may hold secrets. Any other error, which the types
 * do not allow, is a defect.
 */
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import { isLocalError } from "@effect-mcp/jsonrpc/LocalError"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { InternalError, isMcpError } from "@effect-mcp/protocol/McpError"
import * as Effect from "effect/Effect"

/** The handler with the errors that a server gets. */
export const answering =
  <P, A>(handler: (params: P) => Effect.Effect<A, any, any>) => (params: P): Effect.Effect<A, McpError, any> =>
    Effect.catchAll(handler(params) as Effect.Effect<A, McpError | LocalError>, refusal)

/** The error of a handler as the server gets it. */
export const refusal = (error: McpError | LocalError): Effect.Effect<never, McpError> => {
  if (!isLocalError(error)) return isMcpError(error) ? Effect.fail(error) : Effect.die(error)
  const isPrivate = error._tag === "TransportError" || error._tag === "ConnectionClosed"
  const message = isPrivate ? "The client could not get the answer: the connection that it needs failed" : error.message
  const failed = Effect.fail(new InternalError({ message }))
  return isPrivate ? Effect.zipRight(Effect.logWarning("A feature of the client failed", error), failed) : failed
}

/**
 * Why a command ends without a result, with the exit code of the process: `usage` for words that make no sense, `connect` when
 * the server cannot be reached, `timeout` when it does not answer in time, and `refused` for every other failure.
 */
import type { ClientError, ConnectError } from "@effect-mcp/client/ClientError"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"

export const codes = { refused: 1, usage: 2, connect: 3, timeout: 4 } as const

export class Failure extends Data.TaggedError("Failure")<{
  readonly kind: keyof typeof codes
  readonly message: string
}> {}

export const usage = (message: string): Failure => new Failure({ kind: "usage", message })

export const refused = (message: string): Failure => new Failure({ kind: "refused", message })

/** The failure of a call. */
export const ofCall = (error: ClientError): Failure =>
  new Failure({
    kind: error._tag === "RequestTimeout" ? "timeout" : error._tag === "ConnectionClosed" ? "connect" : "refused",
    message: withCause(error)
  })

/** The failure of a connection to the server of this name. */
export const ofConnect = (name: string, error: ConnectError): Failure =>
  new Failure({
    kind: error._tag === "RequestTimeout" ? "timeout" : "connect",
    message: `Cannot connect to ${name}: ${withCause(error)}`
  })

/** The message of an error, and those of its causes that say more. */
const withCause = (error: Error): string => {
  const messages = [error.message]
  for (
    let { cause } = error;
    Cause.isUnknownException(cause) || cause instanceof Error;
    cause = (cause as Error).cause
  ) {
    const { message } = cause as Error
    if (!messages.some((one) => one.includes(message))) messages.push(message)
  }
  return messages.join(": ")
}

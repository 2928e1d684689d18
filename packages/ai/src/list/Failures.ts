/**
 * Makes the sentence for a model about a tool call that has failed, for `ToolList` and `ClientToolkit`. When the tool or its server has
 * sent an error, the sentence has the text of this error. When the connection has failed, the sentence only says what happened, and the log
 * has the cause. The text of a transport error may contain secrets, such as the last lines of a server's stderr.
 */
import { InputRefused, NotNegotiated, TaskEnded, ToolError, TooManyRounds } from "@effect-mcp/core/ClientError"
import { ToolRefused, UnknownEntry } from "@effect-mcp/core/GroupError"
import { isLocalError, type LocalError } from "@effect-mcp/core/LocalError"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { quoted } from "../text/ModelText.js"
import * as ToolOutput from "../ToolOutput.js"

/** Returns the sentence about an error of a call. Returns `undefined` for a failure that the definition of the tool declares. */
export const text = (
  tool: string,
  error: unknown,
  options: ToolOutput.Options = {}
): Effect.Effect<string | undefined> => {
  if (error instanceof ToolError) return Effect.succeed(ToolOutput.make(error.result, options).text)
  const name = `The tool ${quoted(tool)}`
  if (error instanceof ToolRefused) return Effect.succeed(ToolOutput.failure(error.message).text)
  if (error instanceof UnknownEntry) return Effect.succeed(`${name} is not available at the moment.`)
  if (error instanceof TaskEnded) return Effect.succeed(ToolOutput.failure(`${name}: ${error.message}`).text)
  if (isLocalError(error)) {
    const said = `${name} ${sentence(error)}`
    return Effect.as(Effect.logWarning(said, Cause.fail(error)), said)
  }
  return Effect.succeed(
    McpError.isMcpError(error) || others.some((one) => error instanceof one)
      ? ToolOutput.failure(`${name} could not be called: ${(error as Error).message}`).text
      : undefined
  )
}

const others = [InputRefused, NotNegotiated, TooManyRounds]

const UNREACHED = "could not be called: its server cannot be reached at the moment."

const LOST = "gave no answer: the connection to its server was lost. The server may have run it."

const sentence = (error: LocalError): string => {
  switch (error._tag) {
    case "RequestTimeout":
      return "did not answer in time."
    case "ConnectionClosed":
    case "SessionExpired":
      return LOST
    case "NoBackChannel":
      return UNREACHED
    case "TransportError":
      return error.reason === "Decode"
        ? "gave an answer that is not valid. The server has run it."
        : error.reason === "Read"
        ? LOST
        : UNREACHED
  }
}

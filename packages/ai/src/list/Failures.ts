/**
 * How a call that brought no result reads: sentences for a model, which name the tool and what happened. What a tool itself
 * says about its failure is in its result.
 */
import { InputRefused, NotNegotiated, TaskEnded, ToolError, TooManyRounds } from "@effect-mcp/client/ClientError"
import { UnknownEntry } from "@effect-mcp/client/GroupError"
import * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as McpError from "@effect-mcp/protocol/McpError"
import { quoted } from "../text/ModelText.js"
import * as ToolOutput from "../ToolOutput.js"

/** `undefined` for an error that is none of the client's: a failure that the tool declares. */
export const text = (tool: string, error: unknown, options: ToolOutput.Options = {}): string | undefined => {
  if (error instanceof ToolError) return ToolOutput.make(error.result, options).text
  if (error instanceof LocalError.RequestTimeout) return `The tool ${quoted(tool)} did not answer in time.`
  if (error instanceof UnknownEntry) return `The tool ${quoted(tool)} is not available at the moment.`
  if (error instanceof TaskEnded) return ToolOutput.failure(`The tool ${quoted(tool)}: ${error.message}`).text
  return LocalError.isLocalError(error) || McpError.isMcpError(error) || others.some((one) => error instanceof one)
    ? ToolOutput.failure(`The tool ${quoted(tool)} could not be called: ${(error as Error).message}`).text
    : undefined
}

const others = [InputRefused, NotNegotiated, TooManyRounds]

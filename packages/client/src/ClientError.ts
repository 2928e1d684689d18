/**
 * How a client's calls can fail: the server's own errors (`McpError`), the failures of this side (`LocalError`), and the
 * few that only a client has.
 *
 * @since 0.1.0
 */
import { JsonRpcError } from "@effect-mcp/jsonrpc/JsonRpcError"
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { CallError } from "@effect-mcp/jsonrpc/Outbound"
import * as McpError from "@effect-mcp/protocol/McpError"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import * as Data from "effect/Data"
import type * as ParseResult from "effect/ParseResult"

/**
 * The server speaks none of the revisions that this client does.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
 * @since 0.1.0
 * @category errors
 */
export class NoCommonVersion extends Data.TaggedError("NoCommonVersion")<{
  readonly offered: string
  readonly supported: ReadonlyArray<string>
}> {
  override get message(): string {
    return `The server speaks protocol version "${this.offered}"; this client speaks ${this.supported.join(", ")}`
  }
}

/**
 * A tool ran and failed, in a way that its definition does not declare: bad arguments, or a failure of its own.
 *
 * @since 0.1.0
 * @category errors
 */
export class ToolError extends Data.TaggedError("ToolError")<{
  readonly tool: string
  /** What the model would read. */
  readonly result: Tools.CallToolResult
}> {
  override get message(): string {
    const block = this.result.content.find(({ type }) => type === "text")
    return block?.type === "text" ? block.text : `The tool "${this.tool}" failed and does not say how`
  }
}

/**
 * How a call to a server can fail.
 *
 * @since 0.1.0
 * @category errors
 */
export type ClientError = McpError.McpError | LocalError

/**
 * How reaching a server can fail.
 *
 * @since 0.1.0
 * @category errors
 */
export type ConnectError = ClientError | NoCommonVersion

/**
 * What a failed call means.
 *
 * @since 0.1.0
 * @category conversions
 */
export const fromCall = (error: CallError): ClientError =>
  error instanceof JsonRpcError ? McpError.fromWire(error) : error

/**
 * The server answered something else than the method's result.
 *
 * @since 0.1.0
 * @category constructors
 */
export const invalidResult = (what: string, issue: ParseResult.ParseIssue): TransportError =>
  new TransportError({ reason: "Decode", message: `The result of ${what} is not valid: ${Issue.sentence(issue)}` })

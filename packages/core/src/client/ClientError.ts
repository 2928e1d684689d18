/**
 * The errors of connecting and of calls: an error that the server sent (`McpError`), a failure on the side of the client (`LocalError`), or
 * an error of this module.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import { JsonRpcError } from "../jsonrpc/JsonRpcError.js"
import { type LocalError, TransportError } from "../jsonrpc/LocalError.js"
import type { CallError } from "../jsonrpc/Outbound.js"
import * as Issue from "../protocol/Issue.js"
import * as McpError from "../protocol/McpError.js"
import type * as Tools from "../protocol/Tools.js"
import type { Version } from "../protocol/Version.js"

/**
 * The server answered with a protocol revision that the client does not support.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
 * @category errors
 */
export class NoCommonVersion extends Data.TaggedError("NoCommonVersion")<{
  readonly offered: string
  readonly supported: ReadonlyArray<string>
}> {
  override get message(): string {
    // The server has chosen this text, so the message shows only its beginning.
    return `The server supports ${this.offered.slice(0, 200)}; this client supports ${this.supported.join(", ")}`
  }
}

/**
 * A tool failed in a way that its definition does not declare.
 *
 * @category errors
 */
export class ToolError extends Data.TaggedError("ToolError")<{
  readonly tool: string
  /** The result of the tool, as a model would read it. */
  readonly result: Tools.CallToolResult
}> {
  override get message(): string {
    const block = this.result.content.find(({ type }) => type === "text")
    return block?.type === "text" ? block.text : `The tool "${this.tool}" failed without a message`
  }
}

/**
 * The server asked for input to serve a call, and a feature of the client refused the input. The client did not send the call again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
 * @category errors
 */
export class InputRefused extends Data.TaggedError("InputRefused")<{
  /** The method of the call. */
  readonly method: string
  /** The method of the input request of the server. */
  readonly input: string
  readonly cause: McpError.McpError
}> {
  override get message(): string {
    return `"${this.method}" needs input that the client refused ("${this.input}"): ${this.cause.message}`
  }
}

/**
 * The server asked for input each time that the client sent the call again, up to the limit `maxRounds`.
 *
 * @category errors
 */
export class TooManyRounds extends Data.TaggedError("TooManyRounds")<{
  readonly method: string
  readonly rounds: number
}> {
  override get message(): string {
    return `The server still needs input for "${this.method}" after ${this.rounds} rounds`
  }
}

/**
 * The client did not send the message, because the session does not allow it. Either the agreed revision does not have the method, or a
 * capability that the method needs was not declared.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#operation
 * @category errors
 */
export class NotNegotiated extends Data.TaggedError("NotNegotiated")<{
  readonly method: string
  readonly version: Version
  /** The capability that was not declared; `undefined` when the revision does not have the method. */
  readonly capability: string | undefined
  /** The side that must declare the capability. */
  readonly declaredBy: "client" | "server"
}> {
  override get message(): string {
    const { capability, declaredBy, method, version } = this
    const what = `"${method}" was not sent:`
    return capability === undefined
      ? `${what} the revision ${version} does not have this method`
      : declaredBy === "client"
      ? `${what} this client has not declared the capability "${capability}"; add the feature that declares it` +
        (capability.startsWith("extensions.") ? ", or give the client the extension with the option `extensions`" : "")
      : `${what} the server has not declared the capability "${capability}"; ` +
        "if the server has the method nevertheless, connect with the option `enforceCapabilities: false`"
  }
}

/**
 * The call of a tool has become a task, and the task has ended without a result. If the server sends an error for a failed task, the call
 * fails with that error instead of `TaskEnded`. If the server sends a result with `isError`, the call succeeds with that result.
 *
 * @category errors
 */
export class TaskEnded extends Data.TaggedError("TaskEnded")<{
  readonly taskId: string
  /**
   * `Cancelled`: the task was cancelled. `Gone`: the server does not have the task, because its time to live has passed, because it belongs
   * to another user, or because it never existed. `Failed`: the task has failed, and the server sent no error with it.
   */
  readonly reason: "Cancelled" | "Gone" | "Failed"
  /** The text of the server about the status of the task. */
  readonly statusMessage?: string | undefined
}> {
  override get message(): string {
    const { reason, statusMessage, taskId } = this
    const task = `the task "${taskId.slice(0, 100)}"`
    const why = statusMessage === undefined ? "" : `: ${statusMessage.slice(0, 200)}`
    switch (reason) {
      case "Cancelled":
        return `There is no result of ${task}, because it was cancelled${why}`
      case "Gone":
        return `The server does not have ${task}: the task has expired, the task belongs to another user, ` +
          "or the server had the task in memory and was started again. " +
          "Start the tool again; the option `ttl` asks the server to keep the task longer"
      case "Failed":
        return `The server sent no error with ${task}, which has failed${why}`
    }
  }
}

/**
 * The errors with which a call to a server can fail.
 *
 * @category errors
 */
export type ClientError = McpError.McpError | LocalError | InputRefused | NotNegotiated | TaskEnded | TooManyRounds

/**
 * The errors with which connecting to a server can fail.
 *
 * @category errors
 */
export type ConnectError = ClientError | NoCommonVersion

/**
 * Converts the error of a failed call to a `ClientError`.
 *
 * @category constructors
 */
export const fromCall = (error: CallError): ClientError =>
  error instanceof JsonRpcError ? McpError.fromWire(error) : error

/**
 * Makes the error for a result that does not conform to the schema of its method.
 *
 * @category utils
 */
export const invalidResult = (what: string, issue: McpError.ParseIssue): TransportError =>
  new TransportError({ reason: "Decode", message: `The result of ${what} is not valid: ${Issue.sentence(issue)}` })

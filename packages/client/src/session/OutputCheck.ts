/**
 * Checks the structured content of tool results against the output schemas that the server lists. The schemas are the
 * server's: a check that costs too much is given up and reported.
 */
import * as JsonSchemaValidator from "@effect-mcp/definition/unstable/JsonSchemaValidator"
import { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"
import type { Report } from "./Decoding.js"
import type { ListedTool, ListedTools } from "./ListedTools.js"
import type { TimeLeft } from "./TimeLeft.js"

/** What a check needs of the session. */
export interface Session {
  /** All tools of the server. */
  readonly list: Stream.Stream<Tools.Tool, ClientError>
  /** How long the list may take. */
  readonly left: TimeLeft["after"]
  readonly report: Report
}

export interface OutputCheck {
  /** Reports anew what cannot be checked, because the tools have changed. */
  readonly forget: () => void
  /**
   * Fails with reason `Decode` when the result does not match the tool's output schema. When the schema is not known, the
   * tools are listed. What cannot be checked is accepted, and reported once for each tool.
   */
  readonly check: (
    name: string,
    result: Tools.CallToolResult,
    session: Session
  ) => Effect.Effect<Tools.CallToolResult, TransportError>
}

/** A tool without an output schema, a schema to check with, or why there is none. */
type Known = JsonSchemaValidator.Validate | "NoSchema" | { readonly reason: string }

export const make = (tools: ListedTools): OutputCheck => {
  const compiled = new WeakMap<ListedTool, Known>()
  const reported = new Set<string>()

  const schemaOf = (tool: ListedTool): Known => {
    const before = compiled.get(tool)
    if (before !== undefined) return before
    const made: Known = tool.outputSchema === undefined
      ? "NoSchema"
      : Either.getOrElse(JsonSchemaValidator.make(tool.outputSchema), (why) => ({ reason: `its output schema ${why}` }))
    compiled.set(tool, made)
    return made
  }

  const unchecked = (name: string, result: Tools.CallToolResult, reason: string, report: Report) =>
    Effect.suspend(() => {
      if (reported.has(name) || result.structuredContent === undefined) return Effect.succeed(result)
      reported.add(name)
      return Effect.as(report(Diagnostic.Unchecked({ subject: `The result of the tool "${name}"`, reason })), result)
    })

  const verify = (
    name: string,
    result: Tools.CallToolResult,
    schema: Known,
    report: Report
  ): Effect.Effect<Tools.CallToolResult, TransportError> => {
    if (schema === "NoSchema") return Effect.succeed(result)
    if (typeof schema === "object") return unchecked(name, result, schema.reason, report)
    if (result.structuredContent === undefined) return Effect.fail(invalid(name, "it has no structured content"))
    return Either.match(schema(result.structuredContent), {
      onLeft: (why) => unchecked(name, result, `its output schema ${why}`, report),
      onRight: (errors) =>
        errors.length === 0 ? Effect.succeed(result) : Effect.fail(invalid(name, errors.map(sentence).join("; ")))
    })
  }

  return {
    forget: () => reported.clear(),
    check: (name, result, { left, list, report }) =>
      result.isError === true
        ? Effect.succeed(result)
        : Effect.flatMap(tools.find(name, list, left), (found) =>
          verify(name, result, Either.match(found, { onLeft: (reason) => ({ reason }), onRight: schemaOf }), report))
  }
}

const sentence = ({ message, path }: { readonly path: ReadonlyArray<PropertyKey>; readonly message: string }): string =>
  path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`

const invalid = (name: string, why: string): TransportError =>
  new TransportError({
    reason: "Decode",
    message: `The result of the tool "${name}" does not match its output schema: ${why}`
  })

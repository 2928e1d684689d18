/**
 * Checks the structured content of tool results against the output schemas that the server lists. `ClientSession` feeds it
 * every list of tools that it reads. The schemas are the server's: a check that costs too much is given up and reported.
 */
import * as UntrustedSchema from "@effect-mcp/definition/unstable/UntrustedSchema"
import { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"
import type { Report } from "./Decoding.js"

/** What a check needs of the session. */
export interface Session {
  /** All tools of the server. */
  readonly list: Stream.Stream<Tools.Tool, ClientError>
  readonly report: Report
}

export interface OutputCheck {
  /** Remembers the output schemas of tools. */
  readonly learn: (tools: ReadonlyArray<Tools.Tool>) => void
  /** Forgets all output schemas, because the tools have changed. */
  readonly forget: () => void
  /**
   * Fails with reason `Decode` when the result does not match the tool's output schema. When the schema is not known, the
   * tools are listed, once. What cannot be checked is accepted, and reported once for each tool.
   */
  readonly check: (
    name: string,
    result: Tools.CallToolResult,
    session: Session
  ) => Effect.Effect<Tools.CallToolResult, TransportError>
}

/** A tool without an output schema, a schema to check with, or why there is none. */
type Known = UntrustedSchema.Validate | "NoSchema" | { readonly reason: string }

export const make = (): OutputCheck => {
  const schemas = new Map<string, JsonObject | undefined>()
  const known = new Map<string, Known>()
  const reported = new Set<string>()
  let isListed = false
  let listings = 0
  const listing = Effect.unsafeMakeSemaphore(1)
  const learn = (tools: ReadonlyArray<Tools.Tool>) => {
    for (const { name, outputSchema } of tools) {
      schemas.set(name, outputSchema)
      known.delete(name)
    }
  }

  const compiled = (name: string): Known => {
    const before = known.get(name)
    if (before !== undefined) return before
    const schema = schemas.get(name)
    const made: Known = schema === undefined
      ? schemas.has(name) ? "NoSchema" : { reason: "the server does not list the tool" }
      : Either.getOrElse(UntrustedSchema.make(schema), (why) => ({ reason: `its output schema ${why}` }))
    known.set(name, made)
    return made
  }

  /** Lists the tools; calls that wait for the list meanwhile do not list them again. */
  const find = (name: string, list: Session["list"]): Effect.Effect<Known> => {
    const before = listings
    return listing.withPermits(1)(Effect.suspend(() =>
      schemas.has(name) || isListed || listings !== before
        ? Effect.sync(() => compiled(name))
        : Effect.match(Stream.runCollect(list), {
          onFailure: (error): Known => {
            listings++
            return { reason: `the tools could not be listed: ${error.message}` }
          },
          onSuccess: (tools) => {
            listings++
            isListed = true
            learn(Chunk.toReadonlyArray(tools))
            return compiled(name)
          }
        })
    ))
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
    learn,
    forget: () => {
      schemas.clear()
      known.clear()
      reported.clear()
      isListed = false
    },
    check: (name, result, { list, report }) =>
      Effect.suspend(() =>
        result.isError === true
          ? Effect.succeed(result)
          : schemas.has(name) || isListed
          ? verify(name, result, compiled(name), report)
          : Effect.flatMap(find(name, list), (schema) => verify(name, result, schema, report))
      )
  }
}

const sentence = ({ message, path }: { readonly path: ReadonlyArray<PropertyKey>; readonly message: string }): string =>
  path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`

const invalid = (name: string, why: string): TransportError =>
  new TransportError({
    reason: "Decode",
    message: `The result of the tool "${name}" does not match its output schema: ${why}`
  })

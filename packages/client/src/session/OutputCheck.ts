/**
 * Checks the structured content of tool results against the output schemas that the server lists. `ClientSession` feeds it
 * every list of tools that it reads.
 */
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"

type Check = (
  structured: unknown
) => ReadonlyArray<{ readonly path: ReadonlyArray<PropertyKey>; readonly message: string }>

export interface OutputCheck {
  /** Remembers the output schemas of tools. */
  readonly learn: (tools: ReadonlyArray<Tools.Tool>) => void
  /** Forgets all output schemas, because the tools have changed. */
  readonly forget: () => void
  /**
   * Fails with reason `Decode` when the result does not match the tool's output schema. When the schema is not known and
   * the result has structured content, `list` is read, once.
   */
  readonly check: (
    name: string,
    result: Tools.CallToolResult,
    list: Stream.Stream<Tools.Tool, ClientError>
  ) => Effect.Effect<Tools.CallToolResult, TransportError>
}

export const make = (): OutputCheck => {
  let schemas = new Map<string, JsonObject | undefined>()
  let checks = new Map<string, Check | undefined>()
  let listed = false
  const learn = (tools: ReadonlyArray<Tools.Tool>) => {
    for (const { name, outputSchema } of tools) {
      schemas.set(name, outputSchema)
      checks.delete(name)
    }
  }
  const schemaOf = (
    name: string,
    list: Stream.Stream<Tools.Tool, ClientError>
  ): Effect.Effect<JsonObject | undefined> =>
    Effect.suspend(() => {
      if (schemas.has(name) || listed) return Effect.succeed(schemas.get(name))
      return Effect.match(Stream.runCollect(list), {
        onFailure: () => undefined,
        onSuccess: (tools) => {
          listed = true
          learn(Chunk.toReadonlyArray(tools))
          return schemas.get(name)
        }
      })
    })
  const checkOf = (name: string, schema: JsonObject): Effect.Effect<Check | undefined> =>
    Effect.suspend(() => {
      if (checks.has(name)) return Effect.succeed(checks.get(name))
      return Effect.map(compile(schema), (check) => {
        checks.set(name, check)
        return check
      })
    })
  return {
    learn,
    forget: () => {
      schemas = new Map()
      checks = new Map()
      listed = false
    },
    check: (name, result, list) => {
      if (result.isError === true || (result.structuredContent === undefined && schemas.get(name) === undefined)) {
        return Effect.succeed(result)
      }
      if (checks.has(name)) return verify(name, result, checks.get(name))
      return Effect.flatMap(schemaOf(name, list), (schema) =>
        schema === undefined
          ? Effect.succeed(result)
          : Effect.flatMap(checkOf(name, schema), (check) => verify(name, result, check)))
    }
  }
}

const verify = (
  name: string,
  result: Tools.CallToolResult,
  check: Check | undefined
): Effect.Effect<Tools.CallToolResult, TransportError> => {
  if (result.structuredContent === undefined) return Effect.fail(invalid(name, "it has no structured content"))
  const issues = check?.(result.structuredContent) ?? []
  return issues.length === 0 ? Effect.succeed(result) : Effect.fail(invalid(name, issues.map(sentence).join("; ")))
}

/** The validator is loaded when it is first needed. A schema that cannot be used safely checks nothing. */
const compile = (schema: JsonObject): Effect.Effect<Check | undefined> =>
  Effect.map(
    Effect.promise(() => import("@effect-mcp/definition/unstable/JsonSchemaValidator")),
    (validator) => Either.getOrUndefined(validator.make(schema, { patterns: false }))
  )

const sentence = ({ message, path }: ReturnType<Check>[number]): string =>
  path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`

const invalid = (name: string, why: string): TransportError =>
  new TransportError({
    reason: "Decode",
    message: `The result of the tool "${name}" does not match its output schema: ${why}`
  })

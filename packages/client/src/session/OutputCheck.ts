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

/**
 * @since 0.1.0
 * @category models
 */
export interface OutputCheck {
  /** Remembers what tools promise. */
  readonly learn: (tools: ReadonlyArray<Tools.Tool>) => void
  /** Forgets it all: the tools have changed. */
  readonly forget: () => void
  /**
   * Fails with reason `Decode` when the result is not what the tool promises. When that is not known, and the result has
   * structured content, `list` is read for it, once.
   */
  readonly check: (
    name: string,
    result: Tools.CallToolResult,
    list: Stream.Stream<Tools.Tool, ClientError>
  ) => Effect.Effect<Tools.CallToolResult, TransportError>
}

/**
 * Knows nothing yet.
 *
 * @since 0.1.0
 * @category constructors
 */
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
  const known = (name: string, list: Stream.Stream<Tools.Tool, ClientError>): Effect.Effect<JsonObject | undefined> =>
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
      if (checks.has(name)) return judge(name, result, checks.get(name))
      return Effect.flatMap(known(name, list), (schema) =>
        schema === undefined
          ? Effect.succeed(result)
          : Effect.flatMap(checkOf(name, schema), (check) => judge(name, result, check)))
    }
  }
}

const judge = (
  name: string,
  result: Tools.CallToolResult,
  check: Check | undefined
): Effect.Effect<Tools.CallToolResult, TransportError> => {
  if (result.structuredContent === undefined) return Effect.fail(broken(name, "it has no structured content"))
  const refused = check?.(result.structuredContent) ?? []
  return refused.length === 0 ? Effect.succeed(result) : Effect.fail(broken(name, refused.map(sentence).join("; ")))
}

/** Loaded when it is first needed: most clients never do. A schema that cannot be used, or not safely, checks nothing. */
const compile = (schema: JsonObject): Effect.Effect<Check | undefined> =>
  Effect.map(
    Effect.promise(() => import("@effect-mcp/definition/unstable/JsonSchemaValidator")),
    (validator) => Either.getOrUndefined(validator.make(schema, { patterns: false }))
  )

const sentence = ({ message, path }: ReturnType<Check>[number]): string =>
  path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`

const broken = (name: string, why: string): TransportError =>
  new TransportError({
    reason: "Decode",
    message: `The result of the tool "${name}" is not what its output schema promises: ${why}`
  })

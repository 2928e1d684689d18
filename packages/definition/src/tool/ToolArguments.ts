/**
 * Decodes the arguments of a tool for its handler, and encodes them for a caller. A tool prepares both once, when it is
 * declared.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Effect from "effect/Effect"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "../schema/SchemaParser.js"

export interface ToolArguments {
  /** An issue lists every argument that is wrong, unless the arguments are large. */
  readonly decodeArguments: (args: unknown) => Effect.Effect<any, ParseResult.ParseIssue>
  readonly encodeArguments: (args: unknown) => Effect.Effect<JsonObject, ParseResult.ParseIssue>
}

/** Throws the error of Effect's parser for a schema that it cannot use. */
export const make = (parameters: Schema.Schema<any, any>): ToolArguments => {
  const encode = SchemaParser.encoder(parameters, "all")
  const withDefaults = constructorOf(parameters)
  return {
    decodeArguments: SchemaParser.decoder(parameters, "all"),
    encodeArguments: (args) => Effect.suspend(() => encode(withDefaults(args ?? {})))
  }
}

// A caller may leave out a parameter that has a default; encoding needs it.
const constructorOf = (schema: Schema.Schema<any, any>): (args: unknown) => unknown =>
  Predicate.hasProperty(schema, "fields") && Predicate.hasProperty(schema, "make")
    ? (args) =>
      (schema as unknown as Schema.Struct<Schema.Struct.Fields>).make(args as never, { disableValidation: true })
    : (args) => args

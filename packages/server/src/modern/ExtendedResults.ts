/**
 * The results that extensions add: a handler ends with one as its failure, and the request is answered with it when the client
 * has declared the extension.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 */
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type { ExtendedResult } from "@effect-mcp/protocol/Extension"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import { MissingClientCapability } from "@effect-mcp/protocol/McpError"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type { ModernSession } from "./RequestFacts.js"

/**
 * The result, or the error of a client that has not declared the extension. `undefined` when the server does not have the
 * type for this method, or the value does not conform to its schema: both are mistakes of the handler.
 */
export const resultOf = (
  { facts: { clientCapabilities, version }, method }: ModernSession,
  extensions: ExtensionTable.ExtensionTable,
  { resultType, value }: ExtendedResult
): JsonObject | MissingClientCapability | undefined => {
  const { extension, type, value: schema } = resultType
  const known = extensions.resultTypes.get(method)?.get(type)
  if (known?.extension !== extension || !ExtensionTable.isIn(known, version)) return undefined
  const required = Capabilities.missing(clientCapabilities, ExtensionTable.capability(extension))
  if (required !== undefined) return new MissingClientCapability({ required })
  const encoded = ParseResult.encodeUnknownEither(schema)(value)
  return Either.isLeft(encoded) ? undefined : { ...encoded.right, resultType: type }
}

/**
 * The methods that the specification names in any era that the server speaks. Spans and metrics use their names only, so
 * that a client cannot make up any number of names.
 */
import * as Legacy from "@effect-mcp/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/protocol/Method"

export const table: ReadonlyMap<string, Method.Method> = Legacy.table

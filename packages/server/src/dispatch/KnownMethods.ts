/**
 * The methods that the specification names in any era that the server supports. Spans and metrics use only their names, so
 * that a client cannot create an unlimited number of names.
 */
import * as Legacy from "@effect-mcp/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Modern from "@effect-mcp/protocol/modern/Methods"

export const table: ReadonlyMap<string, Method.Method> = new Map<string, Method.Method>([
  ...Legacy.table,
  ...Modern.table
])

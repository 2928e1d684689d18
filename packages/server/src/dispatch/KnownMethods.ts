/**
 * The methods that the specification names, in both eras, whichever of them the server supports. Spans and metrics use only
 * these names, so that a client cannot create an unlimited number of names. No extension may have one of these names, or another
 * name of the core.
 */
import * as Legacy from "@effect-mcp/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Modern from "@effect-mcp/protocol/modern/Methods"
import * as ResultType from "@effect-mcp/protocol/modern/ResultType"
import * as Subscriptions from "@effect-mcp/protocol/modern/Subscriptions"
import type { Core } from "@effect-mcp/protocol/unstable/ExtensionTable"

export const table: ReadonlyMap<string, Method.Method> = new Map<string, Method.Method>([
  ...Legacy.table,
  ...Modern.table
])

export const core: Core = { methods: table, filters: Subscriptions.filterNames, resultTypes: ResultType.core }

/**
 * The extensions that a client was given, as tables. No extension may use a name of the core, whichever era has it: a client
 * may speak both, and learns the era later.
 */
import type * as Extension from "@effect-mcp/protocol/Extension"
import * as Legacy from "@effect-mcp/protocol/legacy/Methods"
import * as Modern from "@effect-mcp/protocol/modern/Methods"
import * as ResultType from "@effect-mcp/protocol/modern/ResultType"
import * as Subscriptions from "@effect-mcp/protocol/modern/Subscriptions"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"

/** Throws when two extensions add the same, and when one lacks settings that it needs. */
export const make = (extensions: ReadonlyArray<Extension.Extension.Any>): ExtensionTable.ExtensionTable =>
  extensions.length === 0 ? ExtensionTable.none : ExtensionTable.make(extensions, "client", {
    methods: new Map<string, unknown>([...Legacy.table, ...Modern.table]),
    filters: Subscriptions.filterNames,
    resultTypes: ResultType.core
  })

/**
 * The extensions that a client was given: for the transport that its connector opens, because over HTTP headers repeat parameters of
 * their methods; and as tables. No extension may use a name of the core, whichever era has it: a client may speak both, and learns
 * the era later.
 */
import type * as Extension from "@effect-mcp/protocol/Extension"
import * as Legacy from "@effect-mcp/protocol/legacy/Methods"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Modern from "@effect-mcp/protocol/modern/Methods"
import * as ResultType from "@effect-mcp/protocol/modern/ResultType"
import * as Subscriptions from "@effect-mcp/protocol/modern/Subscriptions"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { FeaturesService } from "../Features.js"

/** A transport that is opened without a client has none. */
export class GivenExtensions extends Context.Reference<GivenExtensions>()("@effect-mcp/client/GivenExtensions", {
  defaultValue: (): ReadonlyArray<Extension.Extension.Any> => []
}) {}

/** Throws when two extensions add the same, and when one lacks settings that it needs. */
export const extensionTable = (extensions: ReadonlyArray<Extension.Extension.Any>): ExtensionTable.ExtensionTable =>
  extensions.length === 0 ? ExtensionTable.none : ExtensionTable.make(extensions, "client", {
    methods: new Map<string, Method.Method>([...Legacy.table, ...Modern.table]),
    filters: Subscriptions.filterNames,
    resultTypes: ResultType.core
  })

/** Warns of each extension that features of the client answer or read for, and that the client was not given. */
export const warnOfMissing = (
  { custom, results }: FeaturesService,
  { byId }: ExtensionTable.ExtensionTable
): Effect.Effect<void> => {
  const used = new Set([
    ...[...custom.values()].flatMap(({ request }) => request === undefined ? [] : [request.extension]),
    ...[...results.keys()].map(({ extension }) => extension)
  ])
  return Effect.forEach(
    [...used].filter((id) => !byId.has(id)),
    (id) =>
      Effect.logWarning(
        `Features of this client use the extension "${id}", which the client was not given: add it to the option \`extensions\``
      ),
    { discard: true }
  )
}

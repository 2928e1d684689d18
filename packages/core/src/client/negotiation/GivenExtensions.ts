/**
 * The extensions that a client was given, for the transport that its connector opens: over HTTP, headers repeat parameters of their
 * methods. `Client` provides the extensions, `HttpTransport` reads them. The client itself has them in a table
 * (`protocol/extension/ExtensionTable`).
 */
import * as Context from "effect/Context"
import type * as Extension from "../../protocol/Extension.js"

/** A transport that is opened without a client has none. */
export class GivenExtensions extends Context.Reference<GivenExtensions>()("@effect-mcp/core/client/GivenExtensions", {
  defaultValue: (): ReadonlyArray<Extension.Extension.Any> => []
}) {}

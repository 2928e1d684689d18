/**
 * The extensions that the application gave to a client, for the transport that its connector opens. Over HTTP, the transport needs them,
 * because headers repeat parameters of the methods of extensions. `Client` provides the extensions, and `HttpTransport` reads them. The
 * client itself has the extensions in a table (`protocol/extension/ExtensionTable`).
 */
import * as Context from "effect/Context"
import type * as Extension from "../../protocol/Extension.js"

/** Default: none, for a transport that is opened without a client. */
export class GivenExtensions extends Context.Reference<GivenExtensions>()("@effect-mcp/core/client/GivenExtensions", {
  defaultValue: (): ReadonlyArray<Extension.Extension.Any> => []
}) {}

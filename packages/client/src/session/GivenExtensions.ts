/**
 * The extensions that a client was given, for the transport that its connector opens: over HTTP, headers repeat parameters of
 * their methods. A transport that is opened without a client has none.
 */
import type * as Extension from "@effect-mcp/protocol/Extension"
import * as Context from "effect/Context"

export class GivenExtensions extends Context.Reference<GivenExtensions>()("@effect-mcp/client/GivenExtensions", {
  defaultValue: (): ReadonlyArray<Extension.Extension.Any> => []
}) {}

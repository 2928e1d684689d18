/**
 * The result of `server/discover`: the revisions that a server supports, and its capabilities. A client may send this request before any
 * other request. The only parameter is `_meta`, which each modern request has. `client/negotiation/Probe` sends the request, and
 * `server/modern/Era` answers it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ServerCapabilities } from "../Capabilities.js"
import { harmless, sieved } from "../schema/Mendable.js"
import * as Caching from "./Caching.js"
import * as Envelope from "./Envelope.js"
import * as ResultType from "./ResultType.js"

/** @category models */
export interface DiscoverResult extends Schema.Schema.Type<typeof DiscoverResult> {}

/** @category schemas */
export const DiscoverResult = Schema.Struct({
  /** The revisions that the server supports. The list may contain legacy revisions, for which a conversation begins with `initialize`. */
  supportedVersions: sieved(Schema.Array(Schema.String)),
  capabilities: ServerCapabilities,
  /** A text for the model about how to use the server. */
  instructions: harmless(Schema.optional(Schema.String)),
  ...Caching.hintFields,
  ...ResultType.complete,
  ...Envelope.result
})

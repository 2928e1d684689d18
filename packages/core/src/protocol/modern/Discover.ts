/**
 * The result of `server/discover`: the revisions that a server supports and its capabilities. A client may send the request before any
 * other; its parameters are the `_meta` that each modern request has, and nothing else. `server/modern/Era` answers, and
 * `client/negotiation/Probe` asks.
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
  /** May name legacy revisions, which begin with `initialize`. */
  supportedVersions: sieved(Schema.Array(Schema.String)),
  capabilities: ServerCapabilities,
  /** How to use the server, for the model. */
  instructions: harmless(Schema.optional(Schema.String)),
  ...Caching.hintFields,
  ...ResultType.complete,
  ...Envelope.result
})

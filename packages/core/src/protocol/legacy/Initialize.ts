/**
 * The types of `initialize`, the handshake with which every conversation of a legacy revision (up to 2025-11-25) begins.
 * `Version.negotiate` and `Version.agreed` choose the revision. `Methods` has the method. `client/legacy/Connect` sends the request, and
 * `server/legacy/Initialize` answers it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ClientCapabilities, ServerCapabilities } from "../Capabilities.js"
import { ClientImplementation, Implementation } from "../Implementation.js"
import * as Meta from "../Meta.js"
import { absentAs, harmless } from "../schema/Mendable.js"

/** @category models */
export interface InitializeParams extends Schema.Schema.Type<typeof InitializeParams> {}

/** @category schemas */
export const InitializeParams = Schema.Struct({
  /** The revision that the client proposes. The server may answer with another revision. */
  protocolVersion: Schema.String,
  capabilities: ClientCapabilities,
  clientInfo: ClientImplementation,
  ...Meta.request
})

/** @category models */
export interface InitializeResult extends Schema.Schema.Type<typeof InitializeResult> {}

/** @category schemas */
export const InitializeResult = Schema.Struct({
  protocolVersion: Schema.String,
  capabilities: ServerCapabilities,
  serverInfo: absentAs({ name: "", version: "" }, Implementation),
  /** A text for the model about how to use the server. */
  instructions: harmless(Schema.optional(Schema.String)),
  ...Meta.any
})

/**
 * The types of `initialize`, the handshake that begins every legacy conversation. `Version.negotiate` and `Version.agreed` choose the
 * revision. `Methods` has the method, `server/legacy/Initialize` answers the request, and `client/legacy/Connect` sends the request.
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
  /** The revision that the client proposes; the server may answer with another. */
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
  /** How to use the server, for the model. */
  instructions: harmless(Schema.optional(Schema.String)),
  ...Meta.any
})

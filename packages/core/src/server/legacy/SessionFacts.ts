/**
 * The facts about a session, as JSON, which another node needs to take the session over. They are the values that the client sent in the
 * handshake, and the values that the client has set later. `dispatch/Conversations` writes the facts, and restores a session from them. The
 * facts do not contain the services of the session layer: the other node builds the layer again. `Http` calls `areReadable`, and
 * `dispatch/Stages` calls `areOfAnother`.
 */
import * as Schema from "effect/Schema"
import { ClientCapabilities, ServerCapabilities } from "../../protocol/Capabilities.js"
import { Implementation } from "../../protocol/Implementation.js"
import type { JsonObject } from "../../protocol/Json.js"
import { LoggingLevel } from "../../protocol/Logging.js"
import * as SchemaCheck from "../../protocol/schema/SchemaCheck.js"
import * as Version from "../../protocol/Version.js"
import type { Connection } from "./Connection.js"

export interface SessionFacts extends Schema.Schema.Type<typeof SessionFacts> {}

const SessionFacts = Schema.Struct({
  version: Schema.Literal(...Version.legacy),
  requestedVersion: Schema.optional(Schema.String),
  clientInfo: Schema.optional(Implementation),
  clientCapabilities: ClientCapabilities,
  serverCapabilities: ServerCapabilities,
  level: Schema.optional(LoggingLevel),
  subscriptions: Schema.Array(Schema.String),
  /** The id of the principal that has opened the session; absent for a client without a principal. */
  owner: Schema.optional(Schema.String)
})

/** Whether this node can read the facts that another node has stored. The other node may run another version of this library. */
export const areReadable: (facts: unknown) => boolean = SchemaCheck.compile(SessionFacts)

/** Whether the session with these facts belongs to another principal. `false` for facts that this node cannot read. */
export const areOfAnother = (facts: unknown, owner: string | undefined): boolean =>
  areReadable(facts) && (facts as SessionFacts).owner !== owner

export const toJson = (connection: Connection): JsonObject =>
  ({
    version: connection.version,
    requestedVersion: connection.requestedVersion,
    clientInfo: connection.clientInfo,
    clientCapabilities: connection.clientCapabilities,
    serverCapabilities: connection.serverCapabilities,
    level: connection.logLevel,
    subscriptions: Array.from(connection.subscriptions?.values() ?? [], ({ uri }) => uri)
  } satisfies SessionFacts) as unknown as JsonObject

/**
 * Restores the state of a connection from the facts, without the services of the session layer. The facts must be readable.
 */
export const restore = (connection: Connection, json: JsonObject): void => {
  const facts = json as unknown as SessionFacts
  // The client has used the session, so the client has completed the handshake.
  connection.initialized = true
  connection.version = facts.version
  connection.requestedVersion = facts.requestedVersion
  connection.clientInfo = facts.clientInfo
  connection.clientCapabilities = facts.clientCapabilities
  connection.serverCapabilities = facts.serverCapabilities
  connection.logLevel = facts.level
  connection.takeOver(facts.subscriptions)
}

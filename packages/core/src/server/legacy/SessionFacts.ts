/**
 * The facts of a session, as JSON, which let another node serve the session: what its client sent in the handshake, and what it has set
 * since. `dispatch/Conversations` writes the facts, and restores a session from them. The services of the session layer are not among the
 * facts: the node that takes over builds the layer anew. `Http` asks whether it can read the facts, and `dispatch/Stages` asks whether they
 * belong to another user.
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

/** Whether this node can read facts that another node has stored. The other node may run another version of this library. */
export const areReadable: (facts: unknown) => boolean = SchemaCheck.compile(SessionFacts)

/** Whether the session of these facts belongs to another principal. `false` for facts that this node cannot read. */
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
 * Gives a connection the state that it had at the other node, without the services that the session layer builds. The facts must be
 * readable.
 */
export const restore = (connection: Connection, json: JsonObject): void => {
  const facts = json as unknown as SessionFacts
  // Its client has used the session, so it has completed the handshake.
  connection.initialized = true
  connection.version = facts.version
  connection.requestedVersion = facts.requestedVersion
  connection.clientInfo = facts.clientInfo
  connection.clientCapabilities = facts.clientCapabilities
  connection.serverCapabilities = facts.serverCapabilities
  connection.logLevel = facts.level
  connection.takeOver(facts.subscriptions)
}

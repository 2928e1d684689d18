/**
 * What a session is, as JSON, so that another node can serve it (`dispatch/Conversations` writes and restores it): what its client sent in
 * the handshake and has set since. The session layer's services are not among these facts: the node that takes over builds the layer anew.
 * `Http` asks whether it can read the facts, `dispatch/Stages` whether they belong to another sender.
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
  /** The id of the principal that has opened the session. */
  owner: Schema.optional(Schema.String)
})

/** Whether this node can go on with what another node has stored. The other node may have another version of this library. */
export const areReadable: (facts: unknown) => boolean = SchemaCheck.compile(SessionFacts)

/** Whether the session of these facts belongs to another principal. Facts that cannot be read do not say so. */
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

/** Makes a connection what it was at the other node, without the services that the session layer builds. The facts are readable. */
export const restore = (connection: Connection, json: JsonObject): void => {
  const facts = json as unknown as SessionFacts
  // Its client has used the session.
  connection.initialized = true
  connection.version = facts.version
  connection.requestedVersion = facts.requestedVersion
  connection.clientInfo = facts.clientInfo
  connection.clientCapabilities = facts.clientCapabilities
  connection.serverCapabilities = facts.serverCapabilities
  connection.logLevel = facts.level
  connection.takeOver(facts.subscriptions)
}

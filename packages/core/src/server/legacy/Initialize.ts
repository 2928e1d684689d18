/**
 * Serves `initialize`, the handshake of legacy revisions (up to 2025-11-25), for `Era`. This module agrees on a revision with the client,
 * sends the server's name and capabilities to the client, and builds the session layer for this client. The server must build the session
 * layer before it serves other messages. When this node takes a session over, `ServerSide` builds the layer with `build`.
 *
 * The server serves a request without a session (`Stateless`, `dispatch/Dispatch`) as if the client had completed a handshake. For this,
 * `versionOf` gives the revision, and `withoutHandshake` makes the `Connection`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as Message from "../../jsonrpc/Message.js"
import * as Outbound from "../../jsonrpc/Outbound.js"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import { ClientCapabilities, type ServerCapabilities } from "../../protocol/Capabilities.js"
import type * as Initialize from "../../protocol/legacy/Initialize.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import { InvalidParams, InvalidRequest } from "../../protocol/McpError.js"
import * as Projection from "../../protocol/schema/Projection.js"
import * as Version from "../../protocol/Version.js"
import type { Principal } from "../Authenticator.js"
import * as AdvertisedCapabilities from "../features/AdvertisedCapabilities.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import type { HandlerContext } from "../runtime/HandlerContext.js"
import type { Server } from "../runtime/Server.js"
import { MAX_FACTS, type SessionLayer } from "../runtime/SessionLayer.js"
import { Connection } from "./Connection.js"
import * as SessionRefusal from "./SessionRefusal.js"

/**
 * Answers `initialize`, one time for each conversation. Before this function returns, it stores the facts of the client in the connection,
 * for every later message. When the session layer fails, the effect fails with the failure of the layer.
 */
export const serve = (
  server: Offering & Pick<Server, "info" | "versions" | "instructions" | "session">,
  handler: HandlerContext<Connection>,
  params: Initialize.InitializeParams
): Effect.Effect<Initialize.InitializeResult, unknown> => {
  const { facts: connection } = handler
  if (isTooLarge(params)) {
    return Effect.fail(
      new InvalidParams({
        message: `Invalid params: protocolVersion, clientInfo and capabilities have more than ${MAX_FACTS} characters`
      })
    )
  }
  if (connection.accepted) {
    return Effect.fail(new InvalidRequest({ message: "Invalid request: this conversation is already initialized" }))
  }
  connection.version = Version.negotiate(params.protocolVersion, server.versions.filter(Version.isLegacy))
  connection.requestedVersion = params.protocolVersion
  connection.clientInfo = params.clientInfo
  // The server must not use a capability that the agreed revision does not define.
  connection.clientCapabilities = Projection.compile(ClientCapabilities, connection.version)(
    params.capabilities
  ) as ClientCapabilities
  connection.serverCapabilities = offered(server, connection, handler.principal)
  const { scope } = connection
  if (server.session === undefined || scope === undefined) return Effect.succeed(accept(server, handler))
  return Effect.map(build(server.session, handler, scope), () => accept(server, handler))
}

const isTooLarge = ({ capabilities, clientInfo, protocolVersion }: Initialize.InitializeParams): boolean => {
  const facts = JsonText.stringify([protocolVersion, clientInfo, capabilities])
  return facts === undefined || facts.length > MAX_FACTS
}

/** Builds the session layer for the client of a message. */
export const build = (
  layer: SessionLayer,
  handler: HandlerContext<Connection>,
  scope: Scope.Scope
): Effect.Effect<void, unknown> =>
  Effect.asVoid(layer.build(handler, scope, (services, release) => {
    handler.facts.services = services
    handler.facts.releaseServices = release
  }))

/**
 * Gives the capabilities that the server has advertised to the client of a connection. If the handshake has not taken place, or if the
 * request belongs to no conversation, gives the capabilities that the server would advertise now.
 */
export const advertised = (server: Offering) => (connection: Connection): ServerCapabilities =>
  connection.accepted && connection.reach === "conversation"
    ? connection.serverCapabilities
    : offered(server, connection, undefined)

const offered = (
  { capabilities, extensions }: Offering,
  { reach, version }: Connection,
  principal: Principal | undefined
): ServerCapabilities => {
  const all = AdvertisedCapabilities.withExtensions(capabilities(), extensions.declared(version))
  // SHOULD NOT declare `tasks.list` where tasks belong to no principal (2025-11-25 basic/utilities/tasks#security).
  const listed = principal === undefined ? AdvertisedCapabilities.withoutTaskList(all) : all
  return reach === "request" ? withoutNotifications(listed) : listed
}

type Offering = Pick<Server, "capabilities" | "extensions">

/**
 * Removes capabilities for clients without a conversation. To such a client, the server can send no notifications outside of requests. The
 * server cannot store the log level of the client, so it MUST NOT send logs (2025-11-25 server/utilities/logging).
 */
const withoutNotifications = (
  { logging: _, prompts, resources, tools, ...rest }: ServerCapabilities
): ServerCapabilities => ({
  ...rest,
  ...(prompts === undefined ? undefined : { prompts: {} }),
  ...(resources === undefined ? undefined : { resources: {} }),
  ...(tools === undefined ? undefined : { tools: {} })
})

const accept = (
  { info, instructions }: Pick<Server, "info" | "instructions">,
  { facts: connection }: HandlerContext<Connection>
): Initialize.InitializeResult => {
  connection.accept()
  const text = instructions()
  return {
    protocolVersion: connection.version,
    capabilities: connection.serverCapabilities,
    serverInfo: info,
    ...(text === undefined ? undefined : { instructions: text })
  }
}

export const isInitialize = (incoming: Message.Incoming): incoming is Message.Request =>
  !Message.isMalformed(incoming) && Message.isRequest(incoming) && incoming.method === Methods.initialize.name

/**
 * Whether a request is an `initialize` that the server accepts. After this check, only the session layer or middleware can refuse the
 * request.
 */
export const isAcceptable = (request: Message.Request): boolean =>
  isInitialize(request) &&
  Either.match(Methods.initialize.decodeParams(request.params), {
    onLeft: () => false,
    onRight: (params) => !isTooLarge(params)
  })

/** Gives the revision of a message without a session, or the refusal of the message. */
export const versionOf = (
  incoming: Message.Incoming,
  header: string | undefined,
  versions: ReadonlyArray<Version.LegacyVersion>
): Version.LegacyVersion | HttpRefusal => {
  const named = isInitialize(incoming) ? undefined : header
  const version = named ?? Version.negotiate(Version.withoutHeader, versions)
  return Version.isLegacy(version) && versions.includes(version)
    ? version
    : SessionRefusal.unsupportedVersion(version, versions)
}

/**
 * Makes a connection in the state after a handshake. When the request itself is `initialize`, the connection is in the state before a
 * handshake.
 */
export const withoutHandshake = ({ method }: Message.Request, version: Version.LegacyVersion): Connection => {
  const connection = new Connection(Outbound.none)
  if (method !== Methods.initialize.name) connection.accept()
  connection.initialized = true
  connection.version = version
  return connection
}

/**
 * Serves `initialize`, the handshake of the legacy era, for `Era`. It agrees on a revision with the client, sends the client the server's
 * name and capabilities, and builds the session layer for this client. The session layer must be built before the server serves anything
 * else. After a takeover, `ServerSide` builds the layer with `build`.
 *
 * A request without a session (`Stateless`, `dispatch/Dispatch`) is served as if its client had completed a handshake: `versionOf` gives
 * the revision, `withoutHandshake` gives the state.
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
 * Answers `initialize`, once for each conversation. When this function returns, the connection has the facts of the client, so they hold
 * for every later message. Fails when the session layer fails, with the failure of the layer.
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
    return Effect.fail(new InvalidRequest({ message: "Invalid request: this conversation is initialized already" }))
  }
  connection.version = Version.negotiate(params.protocolVersion, server.versions.filter(Version.isLegacy))
  connection.requestedVersion = params.protocolVersion
  connection.clientInfo = params.clientInfo
  // A capability that the agreed revision does not know has no meaning, so the server must not use it.
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
 * The capabilities that the server has advertised to the client of a connection. Before the handshake, and for a request that belongs to no
 * conversation, these are the capabilities that the server would advertise now.
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
 * The capabilities of a server that has no conversation with the client. Such a server can send no notifications outside of requests. It
 * does not know the log level that the client has set, so it MUST NOT send logs either (2025-11-25 server/utilities/logging).
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

/** Whether a request is an `initialize` that this library accepts, so that only the application could refuse it. */
export const isAcceptable = (request: Message.Request): boolean =>
  isInitialize(request) &&
  Either.match(Methods.initialize.decodeParams(request.params), {
    onLeft: () => false,
    onRight: (params) => !isTooLarge(params)
  })

/** The revision of a message without a session, or the refusal of the message. */
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

/** The connection as a handshake would leave it. Also a client without a session may send `initialize`, and then gets its result. */
export const withoutHandshake = ({ method }: Message.Request, version: Version.LegacyVersion): Connection => {
  const connection = new Connection(Outbound.none)
  if (method !== Methods.initialize.name) connection.accept()
  connection.initialized = true
  connection.version = version
  return connection
}

/**
 * The handshake, as the server answers it: which revision is spoken, who we are, what we offer; and the application's own
 * services for this client, which must be there before anything else is served.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 * @since 0.1.0
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type * as Initialize from "@effect-mcp/protocol/legacy/Initialize"
import * as Narrow from "@effect-mcp/protocol/legacy/Narrow"
import { InvalidParams, InvalidRequest } from "@effect-mcp/protocol/McpError"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { SessionLayer } from "../runtime/SessionLayer.js"
import type { LegacyServerSession } from "./ServerSession.js"

/**
 * Who a server is, and what it offers at the moment.
 *
 * @since 0.1.0
 * @category models
 */
export interface Identity {
  readonly info: Implementation
  readonly versions: ReadonlyArray<Version.LegacyVersion>
  readonly instructions: string | undefined
  readonly capabilities: () => ServerCapabilities
  readonly session: SessionLayer | undefined
}

/**
 * How many characters of JSON a client may say of itself.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_FACTS = 65_536

/**
 * Answers `initialize`, once for each conversation. The connection has the client's facts when this returns, before
 * anything that the client has sent after it is looked at. It fails as the application's session layer does.
 *
 * @since 0.1.0
 * @category handlers
 */
export const serve = (
  identity: Identity,
  session: LegacyServerSession,
  params: Initialize.InitializeParams
): Effect.Effect<Initialize.InitializeResult, unknown> => {
  const { connection } = session
  if (connection.accepted) {
    return Effect.fail(new InvalidRequest({ message: "Invalid request: this conversation is initialized already" }))
  }
  // All of it is kept as long as the conversation.
  const said = Json.stringify([params.clientInfo, params.capabilities])
  if (said === undefined || said.length > MAX_FACTS) {
    return Effect.fail(
      new InvalidParams({
        message: `Invalid params: clientInfo and capabilities have more than ${MAX_FACTS} characters`
      })
    )
  }
  connection.version = Version.negotiate(params.protocolVersion, identity.versions)
  connection.clientInfo = params.clientInfo
  // What its revision does not know it cannot be asked, whatever it says.
  connection.clientCapabilities = Narrow.compile(ClientCapabilities, connection.version)(
    params.capabilities
  ) as ClientCapabilities
  const capabilities = identity.capabilities()
  connection.serverCapabilities = connection.scope === undefined ? without(capabilities) : capabilities
  if (identity.session === undefined || connection.scope === undefined) return Effect.succeed(accept(identity, session))
  const { scope } = connection
  return Effect.flatMap(
    Scope.fork(scope, ExecutionStrategy.sequential),
    (own) =>
      Effect.map(identity.session!.build(session, own), (services) => {
        connection.services = services
        connection.leave = Scope.close(own, Exit.void)
        return accept(identity, session)
      })
  )
}

/** What can be kept where there is no conversation: nobody can be told of anything. */
const without = ({ prompts, resources, tools, ...rest }: ServerCapabilities): ServerCapabilities => ({
  ...rest,
  ...(prompts === undefined ? undefined : { prompts: {} }),
  ...(resources === undefined ? undefined : { resources: {} }),
  ...(tools === undefined ? undefined : { tools: {} })
})

const accept = ({ info, instructions }: Identity, { connection }: LegacyServerSession): Initialize.InitializeResult => {
  connection.accepted = true
  return {
    protocolVersion: connection.version,
    capabilities: connection.serverCapabilities,
    serverInfo: info,
    ...(instructions === undefined ? undefined : { instructions })
  }
}

/**
 * The handshake, as the server answers it: which revision is spoken, who we are, what we offer.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 * @since 0.1.0
 */
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type * as Initialize from "@effect-mcp/protocol/legacy/Initialize"
import { InvalidRequest } from "@effect-mcp/protocol/McpError"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type { Connection } from "./Connection.js"

/**
 * Who a server is, and what it offers at the moment.
 *
 * @since 0.1.0
 * @category models
 */
export interface Identity {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly capabilities: () => ServerCapabilities
}

/**
 * Answers `initialize`, once for each conversation. The connection has the client's facts when this returns, before
 * anything that the client has sent after it is looked at.
 *
 * @since 0.1.0
 * @category handlers
 */
export const serve = (
  identity: Identity,
  connection: Connection,
  params: Initialize.InitializeParams
): Effect.Effect<Initialize.InitializeResult, InvalidRequest> => {
  if (connection.accepted) {
    return Effect.fail(new InvalidRequest({ message: "Invalid request: this conversation is initialized already" }))
  }
  connection.version = Version.negotiate(params.protocolVersion)
  connection.clientInfo = params.clientInfo
  connection.clientCapabilities = params.capabilities
  connection.serverCapabilities = identity.capabilities()
  connection.accepted = true
  return Effect.succeed({
    protocolVersion: connection.version,
    capabilities: connection.serverCapabilities,
    serverInfo: identity.info,
    ...(identity.instructions === undefined ? undefined : { instructions: identity.instructions })
  })
}

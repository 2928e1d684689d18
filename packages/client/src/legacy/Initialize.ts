/**
 * The handshake, as the client makes it: ask for our latest revision, take the server's if we speak it, and say that we
 * are ready.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 * @since 0.1.0
 */
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { ClientCapabilities, ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { InitializeResult } from "@effect-mcp/protocol/legacy/Initialize"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { ConnectError } from "../ClientError.js"
import { fromCall, invalidResult, NoCommonVersion } from "../ClientError.js"

/**
 * What the server said of itself.
 *
 * @since 0.1.0
 * @category models
 */
export interface Facts {
  readonly version: LegacyVersion
  readonly serverInfo: Implementation
  readonly serverCapabilities: ServerCapabilities
  readonly instructions: string | undefined
}

/**
 * Opens the conversation. It is never cancelled on the wire: a server that is not initialized has nothing to stop.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (
  outbound: Outbound,
  options: {
    readonly clientInfo: Implementation
    readonly capabilities: ClientCapabilities
    readonly versions: ReadonlyArray<LegacyVersion>
  }
): Effect.Effect<Facts, ConnectError> =>
  Effect.gen(function*() {
    const requested = options.versions.reduce((latest, version) => version > latest ? version : latest)
    const answer = yield* Effect.mapError(
      outbound.request(
        Methods.initialize.name,
        { protocolVersion: requested, capabilities: options.capabilities, clientInfo: options.clientInfo },
        { cancelOnAbandon: false }
      ),
      fromCall
    )
    const result = yield* Either.mapLeft(
      Methods.initialize.decodeResult(answer),
      ({ issue }) => invalidResult(`"initialize"`, issue)
    )
    if (!isSpoken(result, options.versions)) {
      return yield* new NoCommonVersion({ offered: result.protocolVersion, supported: options.versions })
    }
    yield* outbound.notify(Methods.initialized.name)
    return {
      version: result.protocolVersion,
      serverInfo: result.serverInfo,
      serverCapabilities: result.capabilities,
      instructions: result.instructions
    }
  })

const isSpoken = (
  result: InitializeResult,
  versions: ReadonlyArray<LegacyVersion>
): result is InitializeResult & { readonly protocolVersion: LegacyVersion } =>
  Version.isLegacy(result.protocolVersion) && versions.includes(result.protocolVersion)

/**
 * The client's part of the handshake: it requests its latest revision, accepts the server's answer if it speaks that
 * revision, and sends `notifications/initialized`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ConnectError } from "../ClientError.js"
import { fromCall, invalidResult, NoCommonVersion } from "../ClientError.js"
import * as Decoding from "../session/Decoding.js"
import type { ServerFacts } from "../session/NegotiatedSession.js"

/** The revision that the client requests: the latest that it may speak. */
export const requestedOf = (versions: ReadonlyArray<LegacyVersion>): LegacyVersion =>
  versions.reduce((latest, version) => version > latest ? version : latest)

/** The request is never cancelled at the server: the client MUST NOT cancel `initialize`. */
export const run = (
  outbound: Outbound,
  options: {
    readonly clientInfo: Implementation
    readonly capabilities: ClientCapabilities
    readonly versions: ReadonlyArray<LegacyVersion>
    readonly report: Decoding.Report
    readonly timeout: Duration.DurationInput | undefined
  }
): Effect.Effect<ServerFacts<LegacyVersion>, ConnectError> =>
  Effect.gen(function*() {
    const requested = requestedOf(options.versions)
    const { capabilities, clientInfo } = options
    const answered = yield* Effect.mapError(
      outbound.request(
        Methods.initialize.name,
        // A server that knows no later revision gets what the requested one has.
        Methods.initialize.narrowParams(requested)({
          protocolVersion: requested,
          capabilities,
          clientInfo
        }) as JsonObject,
        { cancelOnAbandon: false, timeout: options.timeout }
      ),
      fromCall
    )
    const result = yield* Decoding.decodeOrFail(
      Methods.initialize.name,
      Methods.initialize.decodeResult,
      answered,
      { report: options.report, onIssue: (issue) => invalidResult(`"initialize"`, issue) }
    )
    const agreed = Version.agreed(result.protocolVersion, options.versions)
    if (Option.isNone(agreed)) {
      return yield* new NoCommonVersion({ offered: result.protocolVersion, supported: options.versions })
    }
    yield* outbound.notify(Methods.initialized.name)
    return {
      version: agreed.value,
      serverInfo: result.serverInfo,
      serverCapabilities: result.capabilities,
      instructions: result.instructions
    }
  })

/**
 * Chooses the era of a session from the revisions that the client may speak, and opens the session with that era's
 * `Connect`. Only the legacy era is implemented; revisions of the modern era are left out.
 */
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ConnectError } from "../ClientError.js"
import * as Legacy from "../legacy/Connect.js"
import type { NegotiatedSession, Options } from "../session/NegotiatedSession.js"

/** Dies when none of the revisions is implemented. */
export const connect = (
  transport: Transport,
  options: Options
): Effect.Effect<NegotiatedSession, ConnectError, Scope.Scope> => {
  const versions = options.versions.filter(Version.isLegacy)
  return versions.length === 0
    ? Effect.dieMessage(`This client implements none of the revisions ${options.versions.join(", ")}`)
    : Legacy.connect(transport, { ...options, versions })
}

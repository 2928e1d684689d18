/**
 * Opens a session in the era that client and server have in common. A client of both eras sends `server/discover` first: a
 * modern server describes itself, and any other answer, or silence, means the handshake of the legacy era. A server that
 * cannot be reached, or refuses the client, shows no era.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Version from "@effect-mcp/protocol/Version"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ConnectError } from "../ClientError.js"
import { fromCall, NoCommonVersion } from "../ClientError.js"
import * as Legacy from "../legacy/Connect.js"
import * as LegacyMethodTable from "../legacy/MethodTable.js"
import * as Modern from "../modern/Connect.js"
import * as Discover from "../modern/Discover.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import type { Opening } from "../session/Opening.js"
import * as Openings from "../session/Opening.js"

/** How long a server may be silent before it counts as legacy, where the client speaks both eras. */
const PROBE_TIMEOUT = Duration.seconds(5)

/** Dies when the client has no revision. */
export const connect = (
  transport: Transport,
  options: Options
): Effect.Effect<NegotiatedSession, ConnectError, Scope.Scope> => {
  const legacy = options.versions.filter(Version.isLegacy)
  const modern = options.versions.filter(Version.isModern)
  const { prior } = options
  const latest = modern.at(-1)
  if (latest === undefined && legacy.length === 0) {
    return Effect.dieMessage(`This client implements none of the revisions ${options.versions.join(", ")}`)
  }
  return Effect.flatMap(
    Openings.open(transport, LegacyMethodTable.notifications, options),
    (opening: Opening): Effect.Effect<NegotiatedSession, ConnectError, Scope.Scope> => {
      const handshake = Effect.suspend(() => Legacy.connect(opening, { ...options, versions: legacy }))
      if (latest === undefined || prior !== undefined && legacy.some((version) => version === prior.version)) {
        return handshake
      }
      const outbound = Modern.stamped(opening, options, latest)
      if (prior !== undefined && isOf(prior, latest)) return Modern.connect(opening, outbound, prior, options)
      return Effect.flatMap(
        Discover.run(outbound, latest, legacy.length === 0 ? options.timeout : shorter(PROBE_TIMEOUT, options.timeout)),
        (verdict): Effect.Effect<NegotiatedSession, ConnectError, Scope.Scope> => {
          switch (verdict._tag) {
            case "Modern":
              return Modern.connect(opening, outbound, verdict.facts, options)
            case "Unknown":
              return Effect.fail(fromCall(verdict.error))
            case "Legacy":
              return legacy.length > 0
                ? handshake
                : Effect.fail(noCommonVersion(`a legacy revision (${verdict.why})`, modern))
            case "OtherVersions": {
              // The server itself names the revision, which can only be spoken after the handshake.
              const common = legacy.filter((version) => verdict.supported.includes(version))
              return common.length > 0
                ? Legacy.connect(opening, { ...options, versions: common })
                : Effect.fail(noCommonVersion(verdict.supported.join(", "), options.versions))
            }
          }
        }
      )
    }
  )
}

const isOf = (prior: ServerFacts, version: Version.ModernVersion): prior is ServerFacts<Version.ModernVersion> =>
  prior.version === version

const shorter = (one: Duration.DurationInput, other: Duration.DurationInput): Duration.Duration =>
  Duration.min(Duration.decode(one), Duration.decode(other))

const noCommonVersion = (offered: string, supported: ReadonlyArray<string>): NoCommonVersion =>
  new NoCommonVersion({ offered, supported })

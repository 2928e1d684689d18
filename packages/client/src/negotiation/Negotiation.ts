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
): Session => {
  const legacy = options.versions.filter(Version.isLegacy)
  const modern = options.versions.filter(Version.isModern)
  const { prior } = options
  const latest = modern.at(-1)
  if (latest === undefined && legacy.length === 0) {
    return Effect.dieMessage(`This client implements none of the revisions ${options.versions.join(", ")}`)
  }
  return Effect.flatMap(
    Openings.open(transport, LegacyMethodTable.notifications, options),
    (opening: Opening): Session => {
      const handshake = Effect.suspend(() => Legacy.connect(opening, { ...options, versions: legacy }))
      if (latest === undefined || prior !== undefined && legacy.some((version) => version === prior.version)) {
        return handshake
      }
      if (prior !== undefined && isOf(prior, latest)) {
        return Modern.connect(opening, Modern.stamped(opening, options, latest), prior, options)
      }
      const timeout = legacy.length === 0 ? options.timeout : shorter(PROBE_TIMEOUT, options.timeout)

      const probe = (version: Version.ModernVersion, isFirst: boolean): Session => {
        const outbound = Modern.stamped(opening, options, version)
        return Effect.flatMap(Discover.run(outbound, version, timeout, opening.hub.report), (verdict): Session => {
          switch (verdict._tag) {
            case "Modern":
              return Modern.connect(opening, outbound, verdict.facts, options)
            case "Unknown":
              return Effect.fail(fromCall(verdict.error))
            case "Legacy":
              return legacy.length > 0
                ? handshake
                : Effect.fail(noCommonVersion(`a legacy revision (${verdict.why})`, modern))
            case "OtherVersions":
              return supports(verdict.supported, isFirst)
          }
        })
      }

      /** Goes on with the latest revision that both sides have. */
      const supports = (supported: ReadonlyArray<string>, isFirst: boolean): Session => {
        const again = modern.filter((version) => supported.includes(version)).at(-1)
        // SHOULD retry with a revision that the server names (2026-07-28 basic/versioning)
        if (again !== undefined && isFirst) return probe(again, false)
        // A legacy revision can only be spoken after the handshake.
        const common = legacy.filter((version) => supported.includes(version))
        return common.length > 0
          ? Legacy.connect(opening, { ...options, versions: common })
          : Effect.fail(noCommonVersion(supported.join(", "), options.versions))
      }

      return probe(latest, true)
    }
  )
}

type Session = Effect.Effect<NegotiatedSession, ConnectError, Scope.Scope>

const isOf = (prior: ServerFacts, version: Version.ModernVersion): prior is ServerFacts<Version.ModernVersion> =>
  prior.version === version

const shorter = (one: Duration.DurationInput, other: Duration.DurationInput): Duration.Duration =>
  Duration.min(Duration.decode(one), Duration.decode(other))

const noCommonVersion = (offered: string, supported: ReadonlyArray<string>): NoCommonVersion =>
  new NoCommonVersion({ offered, supported })

/**
 * The revisions that clients have agreed on with servers of unknown era, so that the next connection need not look for the
 * era again. A remembered revision is a hint: the client probes a server again that refuses the hint, and a server that has
 * ended, unless the server has ended because of the probe.
 *
 * Without a service of its own, a client remembers by connector. A group also remembers by origin.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import type { Version } from "@effect-mcp/protocol/Version"
import * as Context from "effect/Context"
import { identity } from "effect/Function"

export interface KnownVersionsService {
  readonly of: (connector: Connector<unknown>) => Version | undefined
  /** `isKept` remembers it also after the server has ended. */
  readonly remember: (connector: Connector<unknown>, version: Version, isKept: boolean) => void
  readonly forget: (connector: Connector<unknown>) => void
}

interface Known {
  readonly version: Version
  readonly isKept: boolean
}

const by = (keyOf: (connector: Connector<unknown>) => object): KnownVersionsService => {
  const known = new WeakMap<object, Known>()
  return {
    of: (connector) => known.get(keyOf(connector))?.version,
    remember: (connector, version, isKept) => {
      const before = known.get(keyOf(connector))
      known.set(keyOf(connector), {
        version,
        isKept: isKept || (before?.isKept === true && before.version === version)
      })
    },
    forget: (connector) => {
      if (known.get(keyOf(connector))?.isKept !== true) known.delete(keyOf(connector))
    }
  }
}

export class KnownVersions extends Context.Reference<KnownVersions>()(
  "@effect-mcp/client/negotiation/KnownVersions",
  { defaultValue: (): KnownVersionsService => by(identity) }
) {}

/** Connectors of one origin share what is known. */
export const byOrigin = (): KnownVersionsService => {
  const keys = new Map<string, object>()
  return by((connector) => {
    const { origin } = connector
    if (origin === undefined) return connector
    const key = keys.get(origin) ?? {}
    keys.set(origin, key)
    return key
  })
}

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

type Memory = Pick<Map<unknown, Known>, "delete" | "get" | "set">

const make = (memoryOf: (connector: Connector<unknown>) => readonly [Memory, unknown]): KnownVersionsService => ({
  of: (connector) => {
    const [known, key] = memoryOf(connector)
    return known.get(key)?.version
  },
  remember: (connector, version, isKept) => {
    const [known, key] = memoryOf(connector)
    const before = known.get(key)
    known.set(key, { version, isKept: isKept || (before?.isKept === true && before.version === version) })
  },
  forget: (connector) => {
    const [known, key] = memoryOf(connector)
    if (known.get(key)?.isKept !== true) known.delete(key)
  }
})

const byConnector = (): KnownVersionsService => {
  const known = new WeakMap<object, Known>() as unknown as Memory
  return make((connector) => [known, connector])
}

export class KnownVersions extends Context.Reference<KnownVersions>()(
  "@effect-mcp/client/negotiation/KnownVersions",
  { defaultValue: (): KnownVersionsService => byConnector() }
) {}

/** Connectors of one origin share what is known. */
export const byOrigin = (): KnownVersionsService => {
  const known = new Map<string, Known>()
  const others = new WeakMap<object, Known>() as unknown as Memory
  return make((connector) => connector.origin === undefined ? [others, connector] : [known as Memory, connector.origin])
}

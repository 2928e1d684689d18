/**
 * The revisions that clients have agreed on with servers of unknown era, so that the next connection need not look for the
 * era again. They are hints: a server that refuses what a hint says is probed again, and so is one that has ended.
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
  readonly remember: (connector: Connector<unknown>, version: Version) => void
  readonly forget: (connector: Connector<unknown>) => void
}

const byConnector = (): KnownVersionsService => {
  const versions = new WeakMap<Connector<unknown>, Version>()
  return {
    of: (connector) => versions.get(connector),
    remember: (connector, version) => versions.set(connector, version),
    forget: (connector) => versions.delete(connector)
  }
}

export class KnownVersions extends Context.Reference<KnownVersions>()(
  "@effect-mcp/client/negotiation/KnownVersions",
  { defaultValue: byConnector }
) {}

/** Connectors of one origin share what is known. */
export const byOrigin = (): KnownVersionsService => {
  const origins = new Map<string, Version>()
  const connectors = byConnector()
  return {
    of: (connector) =>
      connectors.of(connector) ?? (connector.origin === undefined ? undefined : origins.get(connector.origin)),
    remember: (connector, version) => {
      connectors.remember(connector, version)
      if (connector.origin !== undefined) origins.set(connector.origin, version)
    },
    forget: (connector) => {
      connectors.forget(connector)
      if (connector.origin !== undefined) origins.delete(connector.origin)
    }
  }
}

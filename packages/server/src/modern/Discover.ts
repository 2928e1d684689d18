/**
 * Serves `server/discover`: the revisions that the server supports, and its capabilities. A client may send it first; no
 * other request needs it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import type { DiscoverResult } from "@effect-mcp/protocol/modern/Discover"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as AdvertisedCapabilities from "../features/AdvertisedCapabilities.js"
import type { Server } from "../runtime/Server.js"

export const serve = (
  { capabilities, extensions, instructions, versions }: Server,
  version: ModernVersion
): DiscoverResult => {
  const text = instructions()
  return {
    supportedVersions: versions,
    capabilities: AdvertisedCapabilities.withExtensions(capabilities(), extensions.declared(version)),
    ...(text === undefined ? undefined : { instructions: text })
  }
}

/**
 * Serves `server/discover`: the revisions that the server supports, and its capabilities. A client may send it first; no
 * other request needs it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import type { DiscoverResult } from "@effect-mcp/protocol/modern/Discover"
import type { Server } from "../runtime/Server.js"

export const serve = (
  { capabilities, instructions, versions }: Pick<Server, "capabilities" | "instructions" | "versions">
): DiscoverResult => ({
  supportedVersions: versions,
  capabilities: capabilities(),
  ...(instructions === undefined ? undefined : { instructions })
})

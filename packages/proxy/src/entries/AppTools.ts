/**
 * Tools for views only (MCP Apps). An upstream lists them to the proxy, which declares the extension for its clients. A client that
 * has not declared it does not get them: it could give them to its model.
 */
import * as Apps from "@effect-mcp/protocol/Apps"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { Tool } from "@effect-mcp/protocol/Tools"
import * as Version from "@effect-mcp/protocol/Version"
import { RequestContext } from "@effect-mcp/server/RequestContext"
import * as Effect from "effect/Effect"

/** The check of visibility of a tool, for a proxy with these extensions; `undefined` for tools that every client may get. */
export const visibility = (
  tool: Tool,
  extensions: ReadonlyArray<Extension.Extension.Any>
): Effect.Effect<boolean, never, RequestContext> | undefined =>
  Apps.isForModel(tool) || !extensions.some(({ id }) => id === Apps.extension.id) ? undefined : mayShowViews

// Without sessions, a server up to 2025-11-25 does not know what its clients have declared.
const mayShowViews = Effect.map(
  RequestContext,
  ({ client: { capabilities, requestedVersion }, version }) =>
    capabilities.extensions?.[Apps.extension.id] !== undefined ||
    (Version.isLegacy(version) && requestedVersion === undefined)
)

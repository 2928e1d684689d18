/**
 * Notifies legacy clients that a list has changed. Every client whose server advertised `listChanged` receives it,
 * outside of any request.
 */
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type * as Effect from "effect/Effect"
import type { Kind } from "../Registry.js"
import type { Connection } from "./Connection.js"

export const announce = (connection: Connection, kind: Kind): Effect.Effect<void> =>
  connection.announce(notifications[kind])

const notifications = {
  tools: Methods.toolListChanged,
  resources: Methods.resourceListChanged,
  prompts: Methods.promptListChanged
} as const

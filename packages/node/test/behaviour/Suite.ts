/**
 * Runs every behaviour over some of the transports. The files of the suite share them out, so that two run at the same time.
 */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Asking from "./Asking.js"
import { applies, layer as settingLayer, Setting } from "./Behaviour.js"
import * as Closing from "./Closing.js"
import * as Hiding from "./Hiding.js"
import * as Listing from "./Listing.js"
import * as Notifications from "./Notifications.js"
import * as Replaying from "./Replaying.js"
import * as ServerRequests from "./ServerRequests.js"
import * as ToolCalls from "./ToolCalls.js"
import type { TestedTransport } from "./Transports.js"
import { transports } from "./Transports.js"

const behaviours = [Listing, Hiding, ToolCalls, ServerRequests, Asking, Notifications, Closing, Replaying].flatMap((
  { behaviours }
) => behaviours)

/** Runs every behaviour over each of these transports. */
export const over = (transports: ReadonlyArray<TestedTransport>): void => {
  for (const transport of transports) {
    layer(settingLayer(transport), { excludeTestServices: true })(
      `A client and a server of Effect MCP over ${transport.name}`,
      (it) => {
        for (const behaviour of behaviours) {
          if (applies(behaviour, transport)) it.scoped(behaviour.name, () => Effect.flatMap(Setting, behaviour.run))
        }
      }
    )
  }
}

/** The files of the suite: each transport is in one of them. */
export type Part = "pipes" | "http" | "web"

const partOf = ({ kind, name }: TestedTransport): Part =>
  name.includes("web handler") ? "web" : kind === "http" || kind === "sse" ? "http" : "pipes"

export const run = (part: Part): void => over(transports.filter((transport) => partOf(transport) === part))

/**
 * Runs the behaviours over some of the transports: every behaviour in memory and over one wire in each era, and a third of them over
 * each other transport. The files of the suite share the transports out, so that two run at the same time.
 */
import { layer } from "@effect/vitest"
import * as Version from "@effect-mcp/core/protocol/Version"
import { Effect } from "effect"
import { isTaken } from "../Third.js"
import * as Asking from "./Asking.js"
import { applies, layer as settingLayer, Setting } from "./Behaviour.js"
import * as Closing from "./Closing.js"
import * as Hiding from "./Hiding.js"
import * as Listing from "./Listing.js"
import * as Notifications from "./Notifications.js"
import * as Replaying from "./Replaying.js"
import * as ServerRequests from "./ServerRequests.js"
import * as ToolCalls from "./ToolCalls.js"
import { type TestedTransport, transports } from "./Transports.js"

const behaviours = [Listing, Hiding, ToolCalls, ServerRequests, Asking, Notifications, Closing, Replaying].flatMap((
  { behaviours }
) => behaviours)

/** The transports over which each run takes every behaviour: they show what the behaviours mean, the others how bytes travel. */
const whole = new Set(
  ["a pair in memory", "Streamable HTTP"].flatMap((name) => [name, `${name}, at revision ${Version.latestModern}`])
)

/** Runs the behaviours over each of these transports. */
export const over = (transports: ReadonlyArray<TestedTransport>): void => {
  for (const [column, transport] of transports.entries()) {
    layer(settingLayer(transport), { excludeTestServices: true })(
      `A client and a server of Effect MCP over ${transport.name}`,
      (it) => {
        for (const [row, behaviour] of behaviours.filter((one) => applies(one, transport)).entries()) {
          if (whole.has(transport.name) || isTaken(row + column)) {
            it.scoped(behaviour.name, () => Effect.flatMap(Setting, behaviour.run))
          }
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

import { layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Asking from "./Asking.js"
import { applies, layer as settingLayer, Setting } from "./Behaviour.js"
import * as Closing from "./Closing.js"
import * as Listing from "./Listing.js"
import * as Notifications from "./Notifications.js"
import * as Replaying from "./Replaying.js"
import * as ServerRequests from "./ServerRequests.js"
import * as ToolCalls from "./ToolCalls.js"
import { transports } from "./Transports.js"

const behaviours = [Listing, ToolCalls, ServerRequests, Asking, Notifications, Closing, Replaying].flatMap((
  { behaviours }
) => behaviours)

for (const transport of transports) {
  layer(settingLayer(transport), { excludeTestServices: true, timeout: "30 seconds" })(
    `A client and a server of Effect MCP over ${transport.name}`,
    (it) => {
      for (const behaviour of behaviours) {
        if (applies(behaviour, transport)) it.scoped(behaviour.name, () => Effect.flatMap(Setting, behaviour.run))
      }
    }
  )
}

import { layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Asking from "./Asking.js"
import { applies, layer as stage, Stage } from "./Behaviour.js"
import * as Calling from "./Calling.js"
import * as Ending from "./Ending.js"
import * as Offering from "./Offering.js"
import { roads } from "./Roads.js"
import * as Telling from "./Telling.js"

const behaviours = [Offering, Calling, Asking, Telling, Ending].flatMap(({ behaviours }) => behaviours)

for (const road of roads) {
  layer(stage(road), { excludeTestServices: true, timeout: "30 seconds" })(
    `A client and a server of ours over ${road.name}`,
    (it) => {
      for (const behaviour of behaviours) {
        if (applies(behaviour, road)) it.scoped(behaviour.name, () => Effect.flatMap(Stage, behaviour.run))
      }
    }
  )
}

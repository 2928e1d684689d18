/**
 * What the server promises: a film of so many scenes, each of which takes a while. The film is a task only, because it takes longer
 * than a process may live.
 */
import * as Tool from "@effect-mcp/core/Tool"
import * as Schema from "effect/Schema"

export const Film = Tool.make("film", {
  task: "required",
  parameters: { scenes: Schema.Int },
  success: Schema.Struct({ minutes: Schema.Int })
})

/**
 * What the render server promises. A film takes longer than a client wants to stay connected, so the tool runs as a task
 * only.
 */
import * as Tool from "@effect-mcp/core/Tool"
import * as Schema from "effect/Schema"

export class NoScenes extends Schema.TaggedError<NoScenes>()("NoScenes", {}) {}

export const Render = Tool.make("render", {
  description: "Renders a film of so many scenes.",
  task: "required",
  parameters: { scenes: Schema.Int },
  success: Schema.Struct({ minutes: Schema.Number, file: Schema.String }),
  failure: NoScenes
})

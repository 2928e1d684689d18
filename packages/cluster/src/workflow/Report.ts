/**
 * The durable tool of a run, for its nodes and its clients: it makes steps, one after another, and asks after one of them.
 * `node` has its body.
 */
import * as Tool from "@effect-mcp/core/Tool"
import * as Schema from "effect/Schema"

export const Job = Schema.Struct({
  job: Schema.String,
  steps: Schema.Int,
  /** How long a step takes. */
  millis: Schema.Int,
  /** After which step it asks; 0 where it asks nothing. */
  ask: Schema.Int
})

export type Job = typeof Job.Type

export const Report = Tool.make("report", {
  task: "required",
  parameters: Job.fields,
  success: Schema.Struct({
    job: Schema.String,
    /** One for each step, and the length of the answer. */
    pages: Schema.Int
  })
})

/**
 * The definition of the durable tool of a run, for its nodes and its clients. The tool makes steps, one after another, and may ask a
 * question after one of the steps. `node` has the body of the tool.
 */
import * as Tool from "@effect-mcp/core/Tool"
import * as Schema from "effect/Schema"

export const Job = Schema.Struct({
  job: Schema.String,
  steps: Schema.Int,
  /** How many milliseconds a step takes. */
  millis: Schema.Int,
  /** The number of the step after which the tool asks its question; 0 for no question. */
  ask: Schema.Int
})

export type Job = typeof Job.Type

export const Report = Tool.make("report", {
  task: "required",
  parameters: Job.fields,
  success: Schema.Struct({
    job: Schema.String,
    /** The number of steps plus the length of the answer. */
    pages: Schema.Int
  })
})

/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted; nothing runs.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import type { Registry } from "@effect-mcp/core/Registry"
import * as Tool from "@effect-mcp/core/Tool"
import * as ClusterEngine from "@effect-mcp/workflow/ClusterEngine"
import type * as DurableTask from "@effect-mcp/workflow/DurableTask"
import * as DurableTool from "@effect-mcp/workflow/DurableTool"
import { Context, Effect, type Layer, Schema } from "effect"
import { expectTypeOf } from "vitest"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class Pages extends Context.Tag("test/Pages")<Pages, { readonly count: number }>() {}

const step = {
  success: Schema.Int,
  failure: Schema.String,
  run: Effect.flatMap(Pages, ({ count }) => count > 0 ? Effect.succeed(count) : Effect.fail("none"))
} satisfies Every<DurableTask.StepOptions<number, string, Pages>>

const report = DurableTool.layer(
  Tool.make("report", { task: "required", success: Schema.Int, failure: Schema.String }),
  function*(_, task) {
    return yield* task.step("count", step)
  }
)

expectTypeOf(report).toEqualTypeOf<Layer.Layer<never, never, Registry | WorkflowEngine | Pages>>()

const engine = {
  lease: "10 seconds",
  pollInterval: "500 millis",
  prefix: "films_workflow",
  stopTimeout: "10 seconds"
} satisfies Every<ClusterEngine.Options>

expectTypeOf(ClusterEngine.layerWith(engine)).toEqualTypeOf<Layer.Layer<WorkflowEngine, SqlError, SqlClient>>()

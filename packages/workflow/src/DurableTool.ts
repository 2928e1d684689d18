/**
 * Tools whose tasks go on after their node has ended, as long as the engine keeps them. The body of such a tool is a workflow of
 * `@effect/workflow`: an engine stores what its steps gave, and runs the body again from its beginning until the body has ended. `layer`
 * stands beside `McpServer.tool`.
 *
 * **A step that has ended is never repeated. A step that was under way when its process ended begins again**: it runs at least once, so it
 * must be idempotent. That is the opposite of what a call without a task promises, which never runs twice. `runtime/Tasks` attaches the
 * engine to the server.
 *
 * @since 0.1.0
 */
import type { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import * as DetachedTask from "@effect-mcp/core/DetachedTask"
import type * as Feature from "@effect-mcp/core/Feature"
import type { Registry } from "@effect-mcp/core/Registry"
import type * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Durable } from "./Durable.js"
import type { DurableTask } from "./DurableTask.js"
import * as Tasks from "./runtime/Tasks.js"

/**
 * A tool whose calls are durable tasks. The body is a generator: it yields the steps of its task, and nothing else. An effect that is
 * no step does not compile there, and neither do two steps at a time: what the body decides between steps must follow from its
 * arguments and from what its steps gave, because the body runs again from its beginning whenever it goes on.
 *
 * The definition needs `task: "required"`, and the server `TasksServer.layer`. The engine finds a task by a
 * digest of its id, and stores the id, the arguments and what its steps gave. A node that does not know the tool of a task, in the middle
 * of a rolling update, waits until the node, or another, does.
 *
 * A cancellation at any node interrupts the step under way, and so does the end of the time to live.
 *
 * @example
 * ```ts
 * import * as Ask from "@effect-mcp/core/Ask"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as DurableTool from "@effect-mcp/workflow/DurableTool"
 * import { Effect, Schema } from "effect"
 *
 * const Report = Tool.make("report", {
 *   task: "required",
 *   parameters: { year: Schema.Int },
 *   success: Schema.Struct({ pages: Schema.Int, isPublic: Schema.Boolean })
 * })
 *
 * export const ReportLive = DurableTool.layer(Report, function*({ year }, task) {
 *   const pages = yield* task.step("collect", { success: Schema.Int, run: Effect.succeed(year % 100) })
 *   yield* task.sleep("night", "8 hours")
 *   const { sure } = yield* task.ask("publish", { sure: Ask.confirm(`Publish ${pages} pages?`) })
 *   if (sure) yield* task.step("publish", { run: Effect.log("published") })
 *   return { pages, isPublic: sure }
 * })
 * ```
 * @category layers
 */
export const layer = <
  const Name extends string,
  Parameters,
  Arguments,
  Success,
  Failure,
  Step extends Durable<any, any, any> = never
>(
  tool: Tool.Tool<Name, Parameters, Arguments, Success, Failure>,
  body: (
    parameters: NoInfer<Parameters>,
    task: DurableTask
  ) =>
    & Generator<Step, Tool.Returns<NoInfer<Success>>, any>
    & Feature.Declared<Durable.Error<Step>, NoInfer<Failure>>
): Layer.Layer<never, never, Registry | WorkflowEngine | Durable.Context<Step>> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const context = yield* Effect.context<Durable.Context<Step>>()
    const tasks = yield* Tasks.Tasks
    yield* tasks.add(tool, body, context)
    return DetachedTask.tool(tasks.detached, tool, tasks.start(tool)) as Layer.Layer<never, never, Registry>
  })).pipe(Layer.provide(Tasks.layer))

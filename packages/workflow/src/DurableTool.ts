/**
 * Serves durable tools. When the node (process of the server) that runs a task ends, the task of a durable tool can continue at another
 * node. For this, the workflow engine must store the tasks outside of the node (`ClusterEngine`). The body of a durable tool is a workflow
 * of `@effect/workflow`. The engine stores the results of the steps. Each time the task continues, the engine runs the body again from its
 * beginning, and gives the stored results to the body. `layer` serves a durable tool, as `McpServer.tool` serves any other tool.
 *
 * **A step that has ended is never repeated. A step that was running when its process ended begins again.** So a step may run several
 * times, and must be idempotent. The handler of a tool that is not durable is different: it never runs twice for one call.
 *
 * `runtime/Tasks` connects the engine to the server.
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
 * Serves a tool whose calls are durable tasks. The body is a generator that yields only the steps of its task, one at a time. When the body
 * yields another effect, the program does not compile. The engine runs the body again from its beginning each time the task continues. So a
 * decision between two steps must depend only on the arguments and on the results of steps.
 *
 * The definition of the tool needs `task: "required"`, and the server needs `TasksServer.layer`. The engine stores the id of the task, the
 * arguments and the results of the steps. During a rolling update, a node may get a task whose tool the node does not have. Then the task
 * waits until this node or another node has the tool.
 *
 * A cancellation at any node interrupts the step that is running. The end of the time to live of the task interrupts the step, too.
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

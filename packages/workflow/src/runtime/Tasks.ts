/**
 * Runs the durable tasks of a server, for `DurableTool`. This module registers the workflow of all durable tools (`McpTask`), and starts an
 * execution of the workflow for each call. Answers and cancellations of the client reach the execution through the `DetachedTasks` of core,
 * which this module makes. `Body` makes and runs the steps of one body.
 */
import * as Activity from "@effect/workflow/Activity"
import * as DurableClock from "@effect/workflow/DurableClock"
import * as DurableDeferred from "@effect/workflow/DurableDeferred"
import { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import * as DetachedTask from "@effect-mcp/core/DetachedTask"
import type { Registry } from "@effect-mcp/core/Registry"
import type { StoredTask } from "@effect-mcp/core/TaskStore"
import type * as Tool from "@effect-mcp/core/Tool"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Durable } from "../Durable.js"
import type { DurableTask } from "../DurableTask.js"
import * as Body from "./Body.js"
import { executionOf, McpTask } from "./McpTask.js"

/** A tool, its body, and the services from the layer of the tool. */
interface Registered {
  readonly tool: Tool.Tool.Any
  readonly body: (parameters: any, task: DurableTask) => Generator<Durable<any, any, any>, any, any>
  readonly context: Context.Context<never>
}

/** A server of this process. */
interface Server {
  readonly detached: DetachedTask.DetachedTasks
  readonly tools: Map<string, Registered>
}

/**
 * Returns the open servers of an engine, the newest first. Each server registers a function that uses this list. So an engine that still
 * calls the function of a closed server reaches the open servers.
 */
const serversOf = (engine: WorkflowEngine["Type"]): Array<Server> => {
  const known = serversByEngine.get(engine) ?? []
  serversByEngine.set(engine, known)
  return known
}

const serversByEngine = new WeakMap<WorkflowEngine["Type"], Array<Server>>()

/** The functions that the tools of a server share. */
interface TasksService {
  readonly detached: DetachedTask.DetachedTasks
  /** Serves the tasks of a tool, until the scope closes. */
  readonly add: (
    tool: Tool.Tool.Any,
    body: Registered["body"],
    context: Context.Context<any>
  ) => Effect.Effect<void, never, Scope.Scope>
  /** Starts the execution of a call. */
  readonly start: (
    tool: Tool.Tool.Any
  ) => (parameters: any, reference: DetachedTask.Reference) => Effect.Effect<void>
}

export class Tasks extends Context.Tag("@effect-mcp/workflow/runtime/Tasks")<Tasks, TasksService>() {}

export const layer: Layer.Layer<Tasks, never, Registry | WorkflowEngine> = Layer.scoped(
  Tasks,
  Effect.gen(function*() {
    const engine = yield* WorkflowEngine
    const tools = new Map<string, Registered>()
    const servers = serversOf(engine)
    const detached = yield* DetachedTask.make({
      name: "workflow",
      answered: ({ taskId }, keys) =>
        Effect.flatMap(executionOf(taskId), (executionId) =>
          Effect.forEach(keys, (key) => {
            const answer = Body.answerOf(key)
            const token = DurableDeferred.tokenFromExecutionId(answer, { workflow: McpTask, executionId })
            // This call only reports to the workflow that there is an answer. The answer itself is in the `TaskStore`.
            return DurableDeferred.succeed(answer, { token, value: undefined })
          }, { discard: true })).pipe(Effect.provideService(WorkflowEngine, engine)),
      stopped: ({ taskId }) => Effect.flatMap(executionOf(taskId), (id) => engine.interrupt(McpTask, id))
    })
    const server: Server = { detached, tools }
    yield* Effect.acquireRelease(
      Effect.sync(() => servers.unshift(server)),
      () => Effect.sync(() => servers.splice(servers.indexOf(server), 1))
    )
    yield* engine.register(McpTask, run(servers))
    return {
      detached,
      add: (tool, body, context) =>
        Effect.acquireRelease(
          Effect.sync(() => tools.set(tool.name, { tool, body, context })),
          () => Effect.sync(() => tools.delete(tool.name))
        ),
      start: (tool) => (parameters, reference) =>
        Effect.gen(function*() {
          const args = yield* Effect.orDie(tool.codec.encodeArguments(parameters))
          const task = yield* Effect.orDie(Effect.flatten(detached.get(reference)))
          const payload = { reference, tool: tool.name, arguments: args, endsAt: task.createdAt + task.ttl }
          yield* McpTask.execute(payload, { discard: true })
        }).pipe(Effect.provideService(WorkflowEngine, engine))
    }
  })
)

/** How long a task whose tool is missing waits before it looks for the tool again. */
const LOOK = Duration.seconds(10)

/** Runs the body of a task from its beginning. The engine has the results of the steps that have ended. */
const run = (servers: ReadonlyArray<Server>) =>
(
  { arguments: args, reference, tool: name }: typeof McpTask.payloadSchema.Type
): Effect.Effect<void, never, WorkflowEngine | WorkflowInstance> =>
  Effect.gen(function*() {
    const found = yield* known(servers, reference, name)
    if (found === undefined) return
    const [{ body, context, tool }, detached] = found
    const ending = { isEnding: false }
    yield* whileOpen(
      detached,
      reference,
      ending,
      Effect.gen(function*() {
        const parameters = yield* Effect.orDie(tool.codec.decodeArguments(args))
        const steps = Effect.suspend(() => Body.run(body(parameters, Body.task(detached, reference))))
        const exit = yield* Effect.exit(Effect.mapInputContext(
          steps,
          (own: Context.Context<WorkflowEngine | WorkflowInstance>) => Context.merge(context, own)
        ))
        if (Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)) return yield* Effect.interrupt
        ending.isEnding = true
        yield* Activity.make({
          name: "end",
          execute: Effect.asVoid(Body.untilStored(detached.end(reference, tool, exit as Exit.Exit<any, any>)))
        })
      })
    )
  })

/**
 * Returns the tool with this name, and the server that has the tool. When no server of this process has the tool, the workflow waits,
 * because a newer version of the program may have the tool. Returns `undefined` when the task has ended, or no longer exists.
 */
const known = Effect.fnUntraced(function*(
  servers: ReadonlyArray<Server>,
  reference: DetachedTask.Reference,
  name: string
): Effect.fn.Return<
  readonly [Registered, DetachedTask.DetachedTasks] | undefined,
  never,
  WorkflowEngine | WorkflowInstance
> {
  for (let look = 1;; look++) {
    const server = servers.find(({ tools }) => tools.has(name)) ?? servers[0]
    if (server !== undefined) {
      const task = yield* Body.untilStored(server.detached.get(reference))
      if (Option.isNone(task) || isEnded(task.value)) return undefined
      yield* wakeAtEnd(task.value)
      const registered = server.tools.get(name)
      if (registered !== undefined) return [registered, server.detached]
    }
    yield* DurableClock.sleep({ name: `tool/${look}`, duration: LOOK })
  }
})

/** Sets a clock that wakes the workflow at the end of its task's time to live. At this time the store removes the task. */
const wakeAtEnd = Effect.fnUntraced(function*({ createdAt, ttl }: StoredTask) {
  const engine = yield* WorkflowEngine
  const { executionId } = yield* WorkflowInstance
  const left = createdAt + ttl - (yield* Clock.currentTimeMillis)
  yield* engine.scheduleClock(McpTask, {
    executionId,
    clock: DurableClock.make({ name: "ttl", duration: Math.max(1, left) })
  })
})

/**
 * Runs a body, and interrupts the body when its task has ended or no longer exists. This is needed because an interruption by the engine
 * reaches a workflow only while the workflow waits. The function does not race two effects, because a workflow that waits interrupts its
 * own fiber.
 */
const whileOpen = <R>(
  detached: DetachedTask.DetachedTasks,
  reference: DetachedTask.Reference,
  ending: { readonly isEnding: boolean },
  body: Effect.Effect<void, never, R>
): Effect.Effect<void, never, R | WorkflowInstance> =>
  Effect.flatMap(WorkflowInstance, (instance) =>
    Effect.withFiberRuntime<void, never, R>((self) => {
      const over = detached.changes(reference).pipe(Stream.takeUntil(isEnded), Stream.runDrain)
      const interrupt = Effect.suspend(() => {
        // The body itself ends the task.
        if (ending.isEnding) return Effect.void
        instance.interrupted = true
        return Fiber.interruptFork(self)
      })
      return Effect.scoped(Effect.zipRight(
        Effect.forkScoped(Effect.interruptible(Effect.zipRight(Body.untilStored(over), interrupt))),
        body
      ))
    }))

const isEnded = ({ status }: { readonly status: string }): boolean =>
  status === "completed" || status === "failed" || status === "cancelled"

/**
 * A call of a tool that may become a task. Its handler runs on a fiber that belongs to the server, so that it goes on after
 * the request was answered. The request waits for what comes first: the beginning of the task, or the end of the handler.
 *
 * While it has not begun, the task is the request: a cancellation interrupts the handler, and its end answers the request.
 */
import type { JsonRpcError } from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Semaphore from "@effect-mcp/jsonrpc/unstable/kit/Semaphore"
import type { McpError } from "@effect-mcp/protocol/McpError"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { RequestContext } from "../RequestContext.js"
import type { AskError } from "../ServerSession.js"
import { ServerSession } from "../ServerSession.js"
import type { StoredTask } from "../TaskStore.js"
import { RequestScope } from "./RequestScope.js"
import type { Ended } from "./StoredTasks.js"
import type { Support, TaskCapable } from "./TaskDialect.js"
import type { TaskRunner } from "./TaskRunner.js"
import { TaskSession } from "./TaskSession.js"

/** How a tool runs as a task. */
export interface TaskTool {
  readonly support: Support
  /** Whether the handler itself begins the task, with `startTask`. Otherwise the task begins before the handler. */
  readonly startsInHandler: boolean
}

/** Why the client has to call the tool in another way; `undefined` where it does not. */
export const refusal = ({ tasks }: TaskCapable, tool: TaskTool | undefined): McpError | JsonRpcError | undefined =>
  tasks === undefined ? undefined : Option.getOrUndefined(Either.getLeft(tasks.wants(tool?.support)))

/** Runs a call, as a task where there is to be one. A call that is refused has no task. */
export const run = (
  runner: TaskRunner,
  session: TaskCapable,
  tool: TaskTool | undefined,
  call: Effect.Effect<unknown, unknown, any>
): Effect.Effect<unknown, unknown, any> => {
  const { tasks } = session
  if (tasks === undefined) return call
  const wanted = tasks.wants(tool?.support)
  if (Either.isLeft(wanted) || wanted.right === undefined || tool === undefined) return call
  const { ttl } = wanted.right
  return Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      // What the handler sends must not overtake the response that tells the client of the task.
      const answered = yield* Edition.ended
      const context = yield* Effect.context<any>()
      const first = yield* Deferred.make<StoredTask | Exit.Exit<unknown, unknown>>()
      const handed = yield* Deferred.make<Fiber.RuntimeFiber<Ended>>()
      const scope = Context.get(context as Context.Context<Scope.Scope>, Scope.Scope)
      const beginning = Semaphore.make()
      let isCancelled = false
      const begin: Effect.Effect<void, AskError> = Effect.uninterruptible(beginning.run(Effect.suspend(() =>
        state.task !== undefined ? Effect.void : Effect.gen(function*() {
          const task = yield* runner.create(session.principal?.id ?? null, tasks.version, ttl)
          state.begin(task)
          yield* runner.supervise(task, Deferred.await(handed), tasks.changed)
          yield* Deferred.succeed(first, task)
        })
      )))
      const state = new TaskSession(session, tasks, runner.tasks, Effect.zipRight(begin, Deferred.await(answered)))
      const own = context.pipe(
        Context.add(ServerSession, state.service),
        Context.add(RequestContext, state.service)
      ) as Context.Context<any>
      const release = scope instanceof RequestScope ? scope.keep() : () =>
        Effect.void
      const fiber = yield* call.pipe(
        Effect.interruptible,
        Effect.exit,
        Effect.flatMap((exit) => Effect.map(Effect.exit(release(exit)), (released) => Exit.zipLeft(exit, released))),
        Effect.tap((exit) => Deferred.succeed(first, exit)),
        // The client has cancelled the call before it knew of the task.
        Effect.map((exit) => isCancelled && Exit.isInterrupted(exit) ? cancelled : tasks.ended(exit)),
        Effect.mapInputContext((_: Context.Context<never>) => own),
        Effect.forkDaemon
      )
      yield* Deferred.succeed(handed, fiber)
      const came = yield* Effect.onInterrupt(
        restore(Deferred.await(first)),
        () =>
          Effect.suspend(() => {
            if (state.task !== undefined) return Effect.void
            isCancelled = true
            return Fiber.interrupt(fiber)
          })
      )
      return yield* ("taskId" in came ? tasks.created(came) : came)
    })
  )
}

const cancelled: Ended = { status: "cancelled", statusMessage: "The client cancelled the call" }

/** Begins the task of a call, if the call may become one, and then calls. */
export const begun = <A, E, R>(tool: TaskTool | undefined, call: Effect.Effect<A, E, R>) =>
  tool === undefined || tool.startsInHandler
    ? call
    : Effect.flatMap(ServerSession, ({ startTask }) => Effect.zipRight(startTask, call))

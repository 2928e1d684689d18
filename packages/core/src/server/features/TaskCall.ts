/**
 * Runs a call of a tool that may become a task, for `Tools`, in a server with tasks (`ServerTasks`). `TasksServer` gives this code to its
 * server. The handler of the tool runs on a fiber of the server, so that the handler goes on after the response to the request. The request
 * waits for the first of two events: the task begins, or the handler ends.
 *
 * Before the task begins, a cancellation of the request interrupts the handler, and the result of the handler answers the request.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { JsonRpcError } from "../../jsonrpc/JsonRpcError.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Semaphore from "../../kit/Semaphore.js"
import * as McpError from "../../protocol/McpError.js"
import type { CallToolResult } from "../../protocol/Tools.js"
import { RequestContext } from "../RequestContext.js"
import type { Asker } from "../runtime/Asker.js"
import type { HandlerContext } from "../runtime/HandlerContext.js"
import type { RequestOrigin } from "../runtime/RequestOrigin.js"
import { RequestScope } from "../runtime/RequestScope.js"
import type { Support, TaskDialect } from "../runtime/TaskDialect.js"
import { type AskError, ServerSession } from "../ServerSession.js"
import type { Check, Ended, StoredTasks } from "../tasks/StoredTasks.js"
import type { NewTask, TaskRunner } from "../tasks/TaskRunner.js"
import type { StoredTask, TaskOutcome, TaskQuestion } from "../TaskStore.js"

/** The options of a tool that may run as a task. */
export interface TaskTool {
  readonly support: Support
  /** Whether the handler itself begins the task, with `startTask`. Otherwise the server begins the task before it runs the handler. */
  readonly startsInHandler: boolean
  /** The name of the engine that runs the tasks outside of the nodes; `undefined` where the handler does the work. */
  readonly detached?: string | undefined
}

/**
 * Makes the error for a client that must call the tool as a task, or must not call the tool as a task. `undefined` where the call is
 * correct.
 */
export const refusal = (
  { tasks }: HandlerContext,
  tool: TaskTool | undefined
): McpError.McpError | JsonRpcError | undefined =>
  tasks === undefined ? undefined : Option.getOrUndefined(Either.getLeft(tasks.wants(tool?.support)))

/** Runs a call, as a task if the client or the tool wants a task. When the server refuses the call, there is no task. */
export const run = (
  runner: TaskRunner,
  handler: HandlerContext,
  tool: TaskTool | undefined,
  call: Effect.Effect<unknown, unknown, any>,
  /** The scopes that the call requires. */
  requires: ReadonlyArray<string>
): Effect.Effect<unknown, unknown, any> => {
  const { tasks } = handler
  if (tasks === undefined) return call
  const wanted = tasks.wants(tool?.support)
  if (Either.isLeft(wanted) || wanted.right === undefined || tool === undefined) return call
  const { ttl } = wanted.right
  const details = { owner: handler.principal?.id ?? null, revision: tasks.version, ttl, requires }
  if (tool.detached !== undefined) return detach(runner, handler, tasks, { ...details, detached: tool.detached }, call)
  return Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const self: Self = {
        runner,
        dialect: tasks,
        own: handler.ofHandler(),
        create: runner.create(details),
        beginning: Semaphore.make(),
        first: yield* Deferred.make<First>(),
        handlerFiber: yield* Deferred.make<Fiber.RuntimeFiber<Ended>>(),
        isCancelled: false
      }
      const { first, handlerFiber, own } = self
      own.outlivesRequest = true
      // Messages of the handler must not reach the client before the response with the task.
      own.startTask = Effect.zipRight(begin(self), Deferred.await(yield* EffectInternals.ended))
      const { origin } = handler
      const handling = handle(self, call, withoutServices(yield* Effect.context<any>(), origin))
      const fiber = yield* Effect.forkDaemon(
        origin.values === undefined ? handling : EffectInternals.withoutChanged(handling, origin.values)
      )
      yield* Deferred.succeed(handlerFiber, fiber)
      const came = yield* Effect.onInterrupt(restore(Deferred.await(first)), () => cancel(self, fiber))
      own.startTask = Effect.void
      return yield* came._tag === "Begun" ? tasks.created(came.task) : came.exit
    })
  )
}

/**
 * Makes the context for a task, which continues after the HTTP request. The context contains the user, but no other services that the
 * application provided with the request.
 */
const withoutServices = (
  context: Context.Context<any>,
  { services, user }: Pick<RequestOrigin, "services" | "user">
): Context.Context<any> => {
  if (services === undefined) return context
  const all = new Map(EffectInternals.entries(context))
  for (const [key, service] of EffectInternals.entries(services)) {
    if (all.get(key) === service && (user === undefined || !EffectInternals.entries(user).has(key))) all.delete(key)
  }
  return EffectInternals.contextOf(all)
}

/**
 * Runs a handler that starts the work of a detached task. The handler runs on the fiber of the request. When the handler has succeeded, the
 * server answers the request with the task. When the handler has failed, the failure ends the task and answers the request. The server then
 * tells the engine to stop the work, because the work may have begun.
 */
const detach = (
  runner: TaskRunner,
  handler: HandlerContext,
  dialect: TaskDialect,
  details: NewTask & { readonly detached: string },
  call: Effect.Effect<unknown, unknown, any>
): Effect.Effect<unknown, unknown, any> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const own = handler.ofHandler()
      own.startTask = Effect.suspend(() =>
        own.task !== undefined ? Effect.void : Effect.map(runner.createDetached(details), (task) => {
          own.task = task
        })
      ) as Effect.Effect<void, AskError>
      const exit = yield* Effect.exit(restore(Effect.mapInputContext(
        call,
        (context: Context.Context<any>) => withSession(context, own)
      )))
      const { task } = own
      // The server has refused the call before the handler began the task, for example because of the arguments.
      if (task === undefined) return yield* exit
      if (Exit.isSuccess(exit) && (exit.value as CallToolResult).isError !== true) return yield* dialect.created(task)
      yield* runner.tasks.end(task, Exit.isInterrupted(exit) ? cancelled : dialect.ended(exit))
      yield* runner.tasks.stop(task)
      return yield* exit
    })
  )

/** The event that the request waits for: the task has begun, or the handler has ended. */
type First =
  | { readonly _tag: "Begun"; readonly task: StoredTask }
  | { readonly _tag: "Over"; readonly exit: Exit.Exit<unknown, unknown> }

/**
 * One call that may become a task. The mutable field `isCancelled` says whether the call was cancelled before its task began. `cancel` sets
 * this field. `run` also sets `startTask` of `own` until the task can no longer begin.
 */
interface Self {
  readonly runner: TaskRunner
  readonly dialect: TaskDialect
  /** The context of the call's handler. After the task has begun, the context contains the task. */
  readonly own: HandlerContext
  readonly create: Effect.Effect<StoredTask, unknown>
  /** Runs one call of `begin` at a time, so that the task begins once even when the handler calls `startTask` twice at the same time. */
  readonly beginning: Semaphore.Semaphore
  readonly first: Deferred.Deferred<First>
  /** The fiber of the handler. */
  readonly handlerFiber: Deferred.Deferred<Fiber.RuntimeFiber<Ended>>
  isCancelled: boolean
}

/** Begins the task. Does nothing when the task has already begun. */
const begin = ({ beginning, create, dialect, first, handlerFiber, own, runner }: Self): Effect.Effect<void, AskError> =>
  Effect.uninterruptible(
    beginning.run(Effect.suspend(() =>
      own.task !== undefined ? Effect.void : Effect.gen(function*() {
        const task = yield* create
        const { asker, outbound } = dialect.detached(task)
        own.begin(task, outbound, askerOf(task, asker, dialect, runner.tasks), runner.tasks.reports(task))
        yield* runner.supervise(task, Deferred.await(handlerFiber), dialect.changed)
        yield* Deferred.succeed(first, { _tag: "Begun", task })
      })
      // A handler must not catch a refusal of the store: the refusal answers the request, with its status.
    ))
  ) as Effect.Effect<void, AskError>

/** Runs the handler, and gives the end of its task. */
const handle = (
  self: Self,
  call: Effect.Effect<unknown, unknown, any>,
  context: Context.Context<any>
): Effect.Effect<Ended> => {
  const { dialect, first, own } = self
  const services = withSession(context, own)
  const scope = Context.get(context as Context.Context<Scope.Scope>, Scope.Scope)
  const release = scope instanceof RequestScope ? scope.keep() : () => Effect.void
  return call.pipe(
    Effect.interruptible,
    Effect.exit,
    Effect.flatMap((exit) => Effect.map(Effect.exit(release(exit)), (released) => Exit.zipLeft(exit, released))),
    Effect.tap((exit) => Deferred.succeed(first, { _tag: "Over", exit })),
    // The call was cancelled, or the server was shut down, before the client got the task.
    Effect.map((exit) => self.isCancelled && Exit.isInterrupted(exit) ? cancelled : dialect.ended(exit)),
    Effect.mapInputContext((_: Context.Context<never>) => services)
  )
}

const withSession = (context: Context.Context<any>, own: HandlerContext): Context.Context<any> =>
  context.pipe(Context.add(ServerSession, own), Context.add(RequestContext, own))

/**
 * Handles the interruption of the request. If the task has begun, the handler of the task goes on. Otherwise this function interrupts the
 * handler.
 */
const cancel = (self: Self, fiber: Fiber.RuntimeFiber<Ended>): Effect.Effect<unknown> =>
  Effect.suspend(() => {
    if (self.own.task !== undefined) return Effect.void
    self.isCancelled = true
    return Fiber.interrupt(fiber)
  })

/**
 * Makes the functions with which the handler of a task asks questions. The status of the task is `input_required` until the client has
 * answered, and the handler waits. The client gets all questions together, with keys that the task has not used before.
 */
const askerOf = (task: StoredTask, after: Asker, dialect: TaskDialect, tasks: StoredTasks): Asker => {
  let count = 0
  const asker: Asker = {
    askAsTask: after.askAsTask,
    request: after.request,
    // A task has no rounds: the client does not send its request again.
    round: undefined,
    endsRequest: false,
    ask: (questions) =>
      Effect.gen(function*() {
        const keyed = questions.map(([, question]) => [`${question.kind}-${++count}`, question] as const)
        const asked: Array<readonly [string, TaskQuestion]> = []
        for (const [key, question] of keyed) {
          asked.push([key, yield* EffectInternals.fromEither(dialect.encode(question))])
        }
        const decode = (key: string, answer: TaskOutcome) => {
          const question = keyed.find(([one]) => one === key)?.[1]
          if (question === undefined) return Effect.void
          return "error" in answer
            ? Effect.fail(McpError.fromWire(answer.error))
            : dialect.decode(question, answer.result, key)
        }
        // With revision 2025-11-25 an answer is a response, which the server cannot refuse. So this check fails only with later revisions.
        const check: Check = (key, answer) =>
          "error" in answer ? Effect.void : Effect.catchAll(
            Effect.asVoid(decode(key, answer)),
            (error) => error._tag === "InvalidParams" ? Effect.fail(error) : Effect.void
          )
        const answers = yield* tasks.ask(task, Object.fromEntries(asked), check)
        return yield* Effect.forEach(keyed, ([key, question]) =>
          Effect.catchTag(decode(key, answers[key]!), "InvalidParams", (error) =>
            // Another node has stored the answer, and could not check it.
            "error" in answers[key]!
              ? Effect.fail(error)
              : Effect.map(asker.ask([[undefined, question]]), ([answer]) =>
                answer)))
      })
  }
  return asker
}

const cancelled: Ended = {
  status: "cancelled",
  statusMessage: "The call was interrupted before its client knew of the task"
}

/** Runs a call. Before that, begins the task, if the call may become a task and the handler does not begin the task itself. */
export const begun = <A, E, R>(tool: TaskTool | undefined, call: Effect.Effect<A, E, R>) =>
  tool === undefined || tool.startsInHandler
    ? call
    : Effect.flatMap(ServerSession, ({ startTask }) => Effect.zipRight(startTask, call))

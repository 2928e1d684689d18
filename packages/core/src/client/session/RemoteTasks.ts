/**
 * Calls tools whose calls may become tasks, and makes the tasks that the application gets, for `Verbs`, in either protocol era. `EraTasks`
 * has the parts that differ between the eras. A plain call waits for the result of its task, and cancels the task when the caller is
 * interrupted or its time is over.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { RequestTimeout } from "../../jsonrpc/LocalError.js"
import type { RequestId } from "../../jsonrpc/Message.js"
import type { Progress } from "../../jsonrpc/Progress.js"
import * as Outbox from "../../kit/Outbox.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Tasks from "../../protocol/Tasks.js"
import type { CallToolParams, CallToolResult, Tool } from "../../protocol/Tools.js"
import type { ClientError } from "../ClientError.js"
import type { AttachOptions, CallToolOptions, StartOptions, Task, TaskCalls } from "../ClientSession.js"
import type { EraTasks, OpenTask } from "./EraTasks.js"
import type { ServerToolsService } from "./ServerTools.js"
import type { Stop, TaskWatch } from "./TaskWatch.js"
import type { TimeLeft } from "./TimeLeft.js"

export interface Options {
  readonly era: EraTasks
  readonly watch: TaskWatch
  readonly tools: ServerToolsService
  /** All tools of the server. */
  readonly list: Stream.Stream<Tool, ClientError>
  /** How much time a call has that began at `began`, in milliseconds since 1970. */
  readonly timeLeft: (began: number, options: CallToolOptions | undefined) => TimeLeft
  /**
   * Checks the result of a tool, if the options of the call do not turn the check off. The check may list the tools in the time of `left`;
   * without `left`, in the time of one timeout.
   */
  readonly check: (
    name: string,
    options: CallToolOptions | undefined,
    left?: TimeLeft
  ) => (result: CallToolResult) => Effect.Effect<CallToolResult, ClientError>
}

export interface RemoteTasks extends TaskCalls {
  /** Calls a tool. When the call becomes a task, waits for the result of the task. */
  readonly call: (
    params: CallToolParams,
    options: CallToolOptions | undefined
  ) => Effect.Effect<CallToolResult, ClientError>
}

/** How long a call that gives up waits until the server has acknowledged the cancel of the task. */
const CANCEL_WAIT = "1 second"

interface Self extends Options {
  /**
   * The tasks for which a fiber waits now, by id. All fibers that wait for a task share the requests for its status. Only `using` changes
   * the map.
   */
  readonly inUse: Map<string, { readonly task: OpenTask; users: number; readonly stop: Stop }>
}

export const make = (options: Options): RemoteTasks => {
  const self: Self = { ...options, inUse: new Map() }
  return {
    call: (params, options) =>
      reporting(
        self,
        options?.onProgress,
        (listen) => Effect.uninterruptibleMask((restore) => call(self, params, options, listen, restore))
      ),
    start: (name, args, options) => start(self, name, args, options),
    attach: (taskId, options) => attach(self, taskId, options),
    list: self.era.list
  }
}

/** Makes the waits for the server interruptible if the caller is interruptible. */
type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

const call = Effect.fnUntraced(function*(
  self: Self,
  params: CallToolParams,
  options: CallToolOptions | undefined,
  listen: (token: RequestId) => void,
  restore: Restore
) {
  const began = yield* Clock.currentTimeMillis
  const left = self.timeLeft(began, options)
  const task = yield* restore(taskField(self, params.name, (support) => support === "required", undefined, left))
  const rest = yield* Effect.flatMap(Clock.currentTimeMillis, left.call)
  const called = yield* restore(self.era.call(params, noting(rest, listen), task))
  return yield* Either.isRight(called)
    ? Effect.succeed(called.right)
    : waiting(self, called.left, began, options, restore)
})

const start = Effect.fnUntraced(function*(
  self: Self,
  name: string,
  args: JsonObject | undefined,
  options: StartOptions | undefined
) {
  const { check, era } = self
  const isSupported = (support: string | undefined) => support === "required" || support === "optional"
  const onProgress = options?.onProgress ?? (era.decides === "client" ? () => Effect.void : undefined)
  const left = self.timeLeft(yield* Clock.currentTimeMillis, options)
  const task = yield* taskField(self, name, isSupported, options?.ttl, left)
  const rest = yield* Effect.flatMap(Clock.currentTimeMillis, left.call)
  let token: RequestId | undefined
  const called = yield* era.call(
    toParams(name, args),
    // The progress token must be sent with the call.
    noting(task === undefined ? rest : { ...rest, onProgress }, (id) => {
      token = id
    }),
    task
  )
  if (Either.isRight(called)) return answered(yield* check(name, options, left)(called.right))
  const { taskId } = called.left
  const open = yield* era.open(taskId, called.left, options)
  const result = reporting(self, options?.onProgress, (listen) => {
    listen(token!)
    return Effect.flatMap(resultOf(self, taskId, open, options?.onProgress), check(name, options))
  })
  return handle(self, taskId, open, result, task === undefined ? undefined : token)
})

const attach = (
  self: Self,
  taskId: string,
  options: AttachOptions | undefined
): Effect.Effect<Task<CallToolResult, ClientError>> =>
  Effect.map(self.era.open(taskId, undefined, options), (open) => {
    const tool = options?.tool
    const result = resultOf(self, taskId, open)
    return handle(
      self,
      taskId,
      open,
      tool === undefined ? result : Effect.flatMap(result, self.check(tool, undefined)),
      undefined
    )
  })

/**
 * Returns the member `task` of a call, if the client decides about tasks. The member MUST NOT be sent for tools that the server does not
 * list with task support.
 */
const taskField = (
  { era, list, tools }: Self,
  name: string,
  mayBe: (support: string | undefined) => boolean,
  ttl: Duration.DurationInput | undefined,
  left: TimeLeft
): Effect.Effect<Tasks.TaskMetadata | undefined> =>
  era.decides !== "client" ? Effect.succeed(undefined) : Effect.map(
    tools.find(name, list, left.after),
    (found) =>
      Either.isRight(found) && mayBe(found.right.taskSupport)
        ? ttl === undefined ? {} : { ttl: Math.ceil(Duration.toMillis(ttl)) }
        : undefined
  )

/**
 * Returns the task that all fibers waiting for it share, and keeps it in `inUse` until the scope closes. Meanwhile, after a notification
 * about the task, the next request for its status is sent sooner.
 */
const using = ({ inUse, watch }: Self, taskId: string, own: OpenTask): Effect.Effect<OpenTask, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const entry = inUse.get(taskId) ?? { task: own, users: 0, stop: watch.onChange(taskId, own.poll.wake) }
      inUse.set(taskId, entry)
      entry.users++
      return entry.task
    }),
    () =>
      Effect.sync(() => {
        const entry = inUse.get(taskId)!
        if (--entry.users > 0) return
        inUse.delete(taskId)
        entry.stop()
      })
  )

const resultOf = (
  self: Self,
  taskId: string,
  own: OpenTask,
  onProgress?: OnProgress
): Effect.Effect<CallToolResult, ClientError> =>
  Effect.scoped(Effect.flatMap(using(self, taskId, own), ({ poll, result }) => {
    if (onProgress === undefined || self.era.decides === "client") return result
    // The status messages are the only progress of such a task.
    const messages = poll.states.pipe(
      Stream.filterMap(({ status, statusMessage }) =>
        Tasks.isTerminal(status) ? Option.none() : Option.fromNullable(statusMessage)
      ),
      Stream.changes,
      Stream.zipWithIndex,
      Stream.runForEach(([message, index]) => told(onProgress)({ progress: index + 1, message }))
    )
    return Effect.zipRight(Effect.forkScoped(Effect.ignore(messages)), result)
  }))

/** Runs an effect, and calls `onProgress` for the progress that arrives after `listen` was called with the token of the call. */
const reporting = <A>(
  { era, watch }: Self,
  onProgress: OnProgress | undefined,
  run: (listen: (token: RequestId) => void) => Effect.Effect<A, ClientError>
): Effect.Effect<A, ClientError> =>
  onProgress === undefined || era.decides !== "client" ? run(() => {}) : Effect.scoped(Effect.gen(function*() {
    const arrived = progressOutbox()
    let stop: Stop | undefined
    yield* Effect.addFinalizer(() => Effect.sync(() => stop?.()))
    const reported = yield* Effect.forkScoped(Stream.runForEach(arrived.stream, told(onProgress)))
    const value = yield* run((token) => {
      stop?.()
      stop = watch.onProgress(token, (one) => arrived.unsafeSlide(one, one.message?.length))
    })
    arrived.end(Exit.void)
    yield* Fiber.join(reported)
    return value
  }))

const handle = (
  self: Self,
  taskId: string,
  open: OpenTask,
  result: Effect.Effect<CallToolResult, ClientError>,
  token: RequestId | undefined
): Task<CallToolResult, ClientError> => ({
  taskId: Option.some(taskId),
  status: Stream.unwrapScoped(Effect.flatMap(using(self, taskId, open), ({ listen, poll }) =>
    Effect.as(
      // When subscribing fails, the states come at the pace of the poll.
      Effect.forkScoped(Effect.ignore(Effect.zipRight(listen, Effect.never))),
      Stream.changesWith(poll.states, isSame)
    ))),
  result,
  cancel: Effect.suspend(() => (self.inUse.get(taskId)?.task ?? open).cancel),
  progress: token === undefined ? Stream.empty : progressOf(self, taskId, open, token)
})

const progressOf = (
  self: Self,
  taskId: string,
  open: OpenTask,
  token: RequestId
): Stream.Stream<Progress, ClientError> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const { poll } = yield* using(self, taskId, open)
    const arrived = progressOutbox()
    const stop = self.watch.onProgress(token, (one) => arrived.unsafeSlide(one, one.message?.length))
    yield* Effect.addFinalizer(() => Effect.sync(stop))
    yield* Effect.forkScoped(Effect.onExit(Effect.asVoid(poll.ended), (exit) => Effect.sync(() => arrived.end(exit))))
    return arrived.stream
  }))

/** Makes the task for a call that did not become a task. */
const answered = (result: CallToolResult): Task<CallToolResult, ClientError> => ({
  taskId: Option.none(),
  status: Stream.empty,
  result: Effect.succeed(result),
  cancel: Effect.void,
  progress: Stream.empty
})

/** Waits for the result of the task that a call has become. */
const waiting = (
  self: Self,
  task: Tasks.Task,
  began: number,
  options: CallToolOptions | undefined,
  restore: Restore
): Effect.Effect<CallToolResult, ClientError> =>
  Effect.flatMap(Effect.zip(self.era.open(task.taskId, task, options), Clock.currentTimeMillis), ([open, now]) => {
    const result = resultOf(self, task.taskId, open, options?.onProgress)
    const total = options?.maxTotalTimeout === undefined ? Infinity : Duration.toMillis(options.maxTotalTimeout)
    const limited = total === Infinity
      ? result
      : TimeLimit.call(
        result,
        began + total - now,
        () => Effect.fail(new RequestTimeout({ method: "tools/call", millis: total }))
      )
    return Effect.onError(restore(limited), (cause) => giveUp(open, options, cause))
  })

/** Cancels a task for which nobody waits any more, unless it has ended. */
const giveUp = (
  { cancel, poll }: OpenTask,
  options: CallToolOptions | undefined,
  cause: Cause.Cause<ClientError>
): Effect.Effect<void> => {
  const state = poll.latest()
  const isGone = Option.exists(Cause.failureOption(cause), ({ _tag }) => _tag === "TaskEnded")
  const isOver = isGone || (state !== undefined && Tasks.isTerminal(state.status))
  return isOver || options?.cancelOnAbandon === false
    ? Effect.void
    : Effect.ignore(TimeLimit.end(cancel, CANCEL_WAIT))
}

type OnProgress = (progress: Progress) => Effect.Effect<void>

const told = (onProgress: OnProgress) => (one: Progress): Effect.Effect<void> =>
  Effect.catchAllCause(onProgress(one), (cause) => Effect.logError("onProgress died", cause))

/** Whether two states of a task are equal, because the task has not changed since it was last requested. */
const isSame = (a: Tasks.Task, b: Tasks.Task): boolean =>
  a.status === b.status && a.statusMessage === b.statusMessage && a.lastUpdatedAt === b.lastUpdatedAt

/** Makes an outbox for progress. At most 256 notifications wait for a slow reader; then the oldest are dropped. */
const progressOutbox = () => Outbox.make<Progress, ClientError>(256)

/** Returns the options of a call with another `onId`. `note` gets the id of the call, which is also its progress token. */
const noting = (options: CallToolOptions | undefined, note: (id: RequestId) => void): CallToolOptions => ({
  ...options,
  onId: (id) => {
    note(id)
    options?.onId?.(id)
  }
})

export const toParams = (name: string, args: JsonObject | undefined): CallToolParams =>
  args === undefined ? { name } : { name, arguments: args }

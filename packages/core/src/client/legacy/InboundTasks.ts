/**
 * The tasks of a client at 2025-11-25: questions of the server that were answered with a task at once. Their handlers run on,
 * and the server fetches what they have answered. The tasks belong to one session, and end with it.
 *
 * Each session has a table in memory. A status that has ended never changes, and a task leaves the table when its time to live
 * has passed.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Conversation } from "../../jsonrpc/Conversation.js"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import { INTERNAL_ERROR } from "../../jsonrpc/JsonRpcError.js"
import * as Outcome from "../../jsonrpc/Outcome.js"
import type { OwnLimit } from "../../jsonrpc/Side.js"
import * as Edition from "../../kit/Edition.js"
import { Permits } from "../../kit/Semaphore.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import { REQUEST_CANCELLED } from "../../protocol/ErrorCodes.js"
import type { JsonObject } from "../../protocol/Json.js"
import { taskStatus } from "../../protocol/legacy/TaskMethods.js"
import { InternalError, InvalidParams } from "../../protocol/McpError.js"
import { related } from "../../protocol/rules/RelatedTask.js"
import * as Tasks from "../../protocol/Tasks.js"
import type { TaskOptions } from "../ClientFeatures.js"
import type { Report } from "../session/Decoding.js"

export interface InboundTasks {
  /** Begins a task, whose work starts after the response was sent. Fails when a limit is reached. */
  readonly begin: <R>(
    method: string,
    ttl: number | undefined,
    work: (taskId: string) => Effect.Effect<Outcome.Outcome, never, R>
  ) => Effect.Effect<Tasks.CreateTaskResult, InternalError, R>
  readonly get: (taskId: string) => Effect.Effect<Tasks.Task, InvalidParams>
  /** Waits until the task has ended. */
  readonly result: (taskId: string) => Effect.Effect<Outcome.Outcome, InvalidParams>
  /** The limit of the requests for results: as many as tasks may run. */
  readonly resultLimit: OwnLimit
  readonly cancel: (taskId: string) => Effect.Effect<Tasks.Task, InvalidParams>
  /** All tasks on one page: their number is limited. */
  readonly list: (cursor: string | undefined) => Effect.Effect<Tasks.ListTasksResult, InvalidParams>
}

interface Entry {
  task: Tasks.Task
  /** Of a task that has ended, unless it was cancelled. */
  outcome: Outcome.Outcome | undefined
  size: number
  isFetched: boolean
  /** Done when the task has ended, and when it has left the table. */
  readonly over: Deferred.Deferred<void>
  fibers: ReadonlyArray<Fiber.RuntimeFiber<void>>
}

/** The table of a session. It ends with the scope, or when `ended` does: then the handlers are interrupted. */
export const make = (
  options: TaskOptions,
  { ended, notify }: Pick<Conversation, "ended" | "notify">,
  report: Report,
  closeTimeout: Duration.DurationInput = TimeLimit.CLOSE
): Effect.Effect<InboundTasks, never, Scope.Scope> => {
  const { maxRunning = 16, maxSize = 16 * 1024 * 1024, maxTasks = 256 } = options
  const millis = (given: Duration.DurationInput | undefined, byDefault: Duration.DurationInput) =>
    Duration.toMillis(given ?? byDefault)
  const defaultTtl = millis(options.ttl, "1 hour")
  const maxTtl = millis(options.maxTtl, "1 day")
  const pollInterval = millis(options.pollInterval, "1 second")
  const entries = new Map<string, Entry>()
  let size = 0

  const find = (taskId: string): Effect.Effect<Entry, InvalidParams> =>
    Effect.suspend(() => {
      const entry = entries.get(taskId)
      return entry === undefined ? Effect.fail(unknown) : Effect.succeed(entry)
    })

  const remove = (entry: Entry): void => {
    if (!entries.delete(entry.task.taskId)) return
    size -= entry.size
    Edition.done(entry.over, Effect.void)
    for (const fiber of entry.fibers) Edition.interrupt(fiber)
  }

  /** Removes tasks whose results were fetched, the oldest first, until there is room. */
  const makeRoom = (hasRoom: () => boolean): boolean => {
    for (const entry of entries.values()) {
      if (hasRoom()) break
      if (entry.isFetched) remove(entry)
    }
    return hasRoom()
  }

  /** Ends a task. `false` when it had ended before. */
  const end = (entry: Entry, status: Tasks.TaskStatus, statusMessage?: string, outcome?: Outcome.Outcome) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (Tasks.isTerminal(entry.task.status) || !entries.has(entry.task.taskId)) return Effect.succeed(false)
      const message = statusMessage === undefined ? undefined : { statusMessage }
      entry.task = { ...entry.task, status, ...message, lastUpdatedAt: Edition.iso(now) }
      entry.outcome = outcome
      Edition.done(entry.over, Effect.void)
      return Effect.as(notify(taskStatus.name, entry.task as unknown as JsonObject), true)
    })

  const finish = (method: string, entry: Entry, { died, ...outcome }: Outcome.Outcome, length: number) => {
    const fits = makeRoom(() => size + length <= maxSize)
    const message = `The client has no room for a result of ${length} characters`
    const stored: Outcome.Outcome = fits ? outcome : { error: { code: INTERNAL_ERROR, message } }
    if (fits && entries.has(entry.task.taskId)) size += entry.size = length
    const reported = died === undefined ? Effect.void : report(Diagnostic.HandlerDied({ method, cause: died }))
    const ending = stored.error === undefined
      ? end(entry, "completed", undefined, stored)
      : end(entry, "failed", stored.error.message, stored)
    return Effect.zipRight(reported, ending)
  }

  const begin: InboundTasks["begin"] = (method, ttl, work) =>
    Effect.uninterruptible(Effect.gen(function*() {
      const running = [...entries.values()].filter(({ task }) => !Tasks.isTerminal(task.status)).length
      if (running >= maxRunning) {
        const message = `${running} tasks are running, and no more may: wait for one, or cancel one`
        return yield* new InternalError({ message })
      }
      if (!makeRoom(() => entries.size < maxTasks)) {
        const message = `${entries.size} tasks are stored, and no more may: fetch the result of one`
        return yield* new InternalError({ message })
      }
      const answered = yield* Edition.ended
      const now = yield* Clock.currentTimeMillis
      const taskId = Encoding.encodeBase64Url(crypto.getRandomValues(new Uint8Array(16)))
      const kept = Math.max(1, Math.min(ttl ?? defaultTtl, maxTtl))
      const entry: Entry = {
        task: {
          taskId,
          status: "working",
          createdAt: Edition.iso(now),
          lastUpdatedAt: Edition.iso(now),
          ttl: Number.isFinite(kept) ? kept : null,
          pollInterval
        },
        outcome: undefined,
        size: 0,
        isFetched: false,
        over: yield* Deferred.make<void>(),
        fibers: []
      }
      entries.set(taskId, entry)
      const working = Deferred.await(answered).pipe(
        Effect.zipRight(Effect.suspend(() => work(taskId))),
        Effect.map((outcome) => [outcome, JSON.stringify(outcome.result ?? outcome.error).length] as const),
        Effect.catchAllCause((cause) => Effect.succeed([Outcome.died(cause), 0] as const)),
        Effect.flatMap(([outcome, length]) => finish(method, entry, outcome, length)),
        Effect.asVoid,
        Effect.interruptible
      )
      const expiring = Effect.delay(Effect.sync(() => remove(entry)), kept)
      entry.fibers = [yield* Effect.forkDaemon(working), yield* Effect.forkDaemon(Effect.interruptible(expiring))]
      return { task: entry.task }
    }))

  const outcomeOf = (entry: Entry): Effect.Effect<Outcome.Outcome, InvalidParams> => {
    const { outcome, task: { status, taskId } } = entry
    if (!Tasks.isTerminal(status)) return Effect.fail(unknown)
    entry.isFetched = true
    return Effect.succeed(
      outcome?.result === undefined
        ? outcome ?? { error: { code: REQUEST_CANCELLED, message: "The task was cancelled" } }
        : { ...outcome, result: related(outcome.result as JsonObject, taskId) }
    )
  }

  const tasks: InboundTasks = {
    begin,
    get: (taskId) => Effect.map(find(taskId), ({ task }) => task),
    result: (taskId) =>
      Effect.flatMap(find(taskId), (entry) => Effect.flatMap(Deferred.await(entry.over), () => outcomeOf(entry))),
    resultLimit: new Permits({ running: maxRunning, waiting: 0, text: 0 }),
    cancel: (taskId) =>
      Effect.flatMap(
        find(taskId),
        (entry) =>
          Effect.flatMap(end(entry, "cancelled", "The server cancelled the task"), (isCancelled) => {
            if (!isCancelled) {
              const message = `Invalid params: the task has ended already, it is ${entry.task.status}`
              return Effect.fail(new InvalidParams({ message }))
            }
            entry.isFetched = true
            const [worker] = entry.fibers
            return Effect.as(worker === undefined ? Effect.void : Fiber.interruptFork(worker), entry.task)
          })
      ),
    list: (cursor) =>
      cursor === undefined
        ? Effect.sync(() => ({ tasks: [...entries.values()].map(({ task }) => task) }))
        : Effect.fail(new InvalidParams({ message: "Invalid params: the cursor is not one of this list" }))
  }

  const stop = Effect.suspend(() => {
    const fibers = [...entries.values()].flatMap(({ fibers }) => fibers)
    for (const entry of entries.values()) remove(entry)
    return Effect.ignore(TimeLimit.end(Fiber.interruptAll(fibers), closeTimeout))
  })
  return Effect.acquireRelease(Effect.succeed(tasks), () => stop).pipe(
    Effect.tap(Effect.forkScoped(Effect.interruptible(Effect.ensuring(Effect.ignore(ended), stop))))
  )
}

const unknown = new InvalidParams({ message: "Invalid params: there is no such task, or it has expired" })

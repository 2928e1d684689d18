/**
 * The tasks of a client with revision 2025-11-25. When the server asks a question as a task, `InboundHandlers` answers immediately with the
 * task. The handler of the question goes on, and the server fetches its answer later. The tasks belong to one session and end with it.
 *
 * Each session has a `Ledger` in memory: the list of its tasks, and the rules for how a task begins and ends. `works` has the fibers of the
 * tasks, by the ids of the tasks. A task leaves the ledger when its time to live has passed. `Connect` makes the tasks of its session with
 * this module.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Fiber from "effect/Fiber"
import * as MutableRef from "effect/MutableRef"
import type * as Scope from "effect/Scope"
import type { Conversation } from "../../jsonrpc/Conversation.js"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import * as Outcome from "../../jsonrpc/Outcome.js"
import type { OwnLimit } from "../../jsonrpc/Side.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { Permits } from "../../kit/Semaphore.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { JsonObject } from "../../protocol/Json.js"
import { taskStatus } from "../../protocol/legacy/TaskMethods.js"
import { type InternalError, InvalidParams } from "../../protocol/McpError.js"
import type * as Tasks from "../../protocol/Tasks.js"
import type { TaskOptions } from "../ClientFeatures.js"
import type { Report } from "../session/Decoding.js"
import * as Ledger from "./Ledger.js"

export interface InboundTasks {
  /** Begins a task. Its work starts after the response was sent. Fails when a limit is reached. */
  readonly begin: <R>(
    method: string,
    ttl: number | undefined,
    work: (taskId: string) => Effect.Effect<Outcome.Outcome, never, R>
  ) => Effect.Effect<Tasks.CreateTaskResult, InternalError, R>
  readonly get: (taskId: string) => Effect.Effect<Tasks.Task, InvalidParams>
  /** Waits until the task has ended, and gives its outcome. */
  readonly result: (taskId: string) => Effect.Effect<Outcome.Outcome, InvalidParams>
  /** The limit for requests that wait for the result of a task. It is equal to the number of tasks that may run. */
  readonly resultLimit: OwnLimit
  readonly cancel: (taskId: string) => Effect.Effect<Tasks.Task, InvalidParams>
  /** Gives all tasks on one page, because their number is limited. Fails for a cursor. */
  readonly list: (cursor: string | undefined) => Effect.Effect<Tasks.ListTasksResult, InvalidParams>
}

interface Self {
  readonly notify: Conversation["notify"]
  readonly report: Report
  /** How long a task is stored by default, in milliseconds. `maxTtl` and `pollInterval` are in milliseconds, too. */
  readonly defaultTtl: number
  readonly maxTtl: number
  readonly pollInterval: number
  /** The tasks of the session. `change` and `stop` set it. */
  readonly ledger: MutableRef.MutableRef<Ledger.Ledger>
  /** The work of each task in the ledger, by the id of the task. */
  readonly works: Map<string, Work>
}

interface Work {
  /** Completes with the entry of the task when the task has ended; with `undefined` when the task leaves the ledger before its end. */
  readonly over: Deferred.Deferred<Ledger.Entry | undefined>
  /** The fiber of the handler, and the fiber that removes the task when its time to live has passed. `begin` sets them. */
  fibers: ReadonlyArray<Fiber.RuntimeFiber<void>>
}

/** Makes the tasks of a session. They end when the scope closes or the conversation has ended. Then their handlers are interrupted. */
export const make = (
  options: TaskOptions,
  { ended, notify }: Pick<Conversation, "ended" | "notify">,
  report: Report,
  closeTimeout: Duration.DurationInput = TimeLimit.CLOSE
): Effect.Effect<InboundTasks, never, Scope.Scope> => {
  const self: Self = { ...settingsOf(options), notify, report, works: new Map() }
  const { limits: { maxRunning } } = MutableRef.get(self.ledger)
  const tasks: InboundTasks = {
    begin: (method, ttl, work) => begin(self, method, ttl, work),
    get: (taskId) => Effect.map(find(self, taskId), ({ task }) => task),
    result: (taskId) => result(self, taskId),
    resultLimit: new Permits({ running: maxRunning, waiting: 0, text: 0 }),
    cancel: (taskId) => cancel(self, taskId),
    list: (cursor) => list(self, cursor)
  }
  const stopping = stop(self, closeTimeout)
  return Effect.acquireRelease(Effect.succeed(tasks), () => stopping).pipe(
    Effect.tap(Effect.forkScoped(Effect.interruptible(Effect.ensuring(Effect.ignore(ended), stopping))))
  )
}

const settingsOf = (options: TaskOptions): Pick<Self, "defaultTtl" | "ledger" | "maxTtl" | "pollInterval"> => {
  const { maxRunning = 16, maxSize = 16 * 1024 * 1024, maxTasks = 256 } = options
  return {
    defaultTtl: Duration.toMillis(options.ttl ?? "1 hour"),
    maxTtl: Duration.toMillis(options.maxTtl ?? "1 day"),
    pollInterval: Duration.toMillis(options.pollInterval ?? "1 second"),
    ledger: MutableRef.make(Ledger.make({ maxRunning, maxTasks, maxSize }))
  }
}

/** Changes the ledger in one step, and releases the tasks that have left it. */
const change = <A, E>(
  { ledger, works }: Self,
  run: (ledger: Ledger.Ledger) => Either.Either<Ledger.Change<A>, E>
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const changed = run(MutableRef.get(ledger))
    if (Either.isLeft(changed)) return Effect.fail(changed.left)
    const [next, evicted, value] = changed.right
    MutableRef.set(ledger, next)
    for (const taskId of evicted) release(works, taskId)
    return Effect.succeed(value)
  })

const release = (works: Map<string, Work>, taskId: string): void => {
  const work = works.get(taskId)
  if (work === undefined) return
  works.delete(taskId)
  EffectInternals.done(work.over, Effect.succeed(undefined))
  for (const fiber of work.fibers) EffectInternals.interrupt(fiber)
}

const find = ({ ledger }: Self, taskId: string): Effect.Effect<Ledger.Entry, InvalidParams> =>
  Effect.suspend(() => EffectInternals.fromEither(Ledger.find(MutableRef.get(ledger), taskId)))

const begin = <R>(
  self: Self,
  method: string,
  ttl: number | undefined,
  work: (taskId: string) => Effect.Effect<Outcome.Outcome, never, R>
): Effect.Effect<Tasks.CreateTaskResult, InternalError, R> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const answered = yield* EffectInternals.ended
    const kept = Math.max(1, Math.min(ttl ?? self.defaultTtl, self.maxTtl))
    const task = taskOf(self, kept, yield* Clock.currentTimeMillis)
    const { taskId } = task
    const own: Work = { over: yield* Deferred.make<Ledger.Entry | undefined>(), fibers: [] }
    yield* change(self, (ledger) => Ledger.begin(ledger, task))
    self.works.set(taskId, own)
    const working = Deferred.await(answered).pipe(
      Effect.zipRight(Effect.suspend(() => work(taskId))),
      Effect.map((outcome) => [outcome, JSON.stringify(outcome.result ?? outcome.error).length] as const),
      Effect.catchAllCause((cause) => Effect.succeed([Outcome.died(cause), 0] as const)),
      Effect.flatMap(([outcome, length]) => finish(self, method, taskId, outcome, length)),
      Effect.interruptible
    )
    const expiring = Effect.delay(change(self, (ledger) => Either.right(Ledger.remove(ledger, taskId))), kept)
    own.fibers = [yield* Effect.forkDaemon(working), yield* Effect.forkDaemon(Effect.interruptible(expiring))]
    return { task }
  }))

const taskOf = ({ pollInterval }: Self, ttl: number, now: number): Tasks.Task => ({
  taskId: Encoding.encodeBase64Url(crypto.getRandomValues(new Uint8Array(16))),
  status: "working",
  createdAt: EffectInternals.iso(now),
  lastUpdatedAt: EffectInternals.iso(now),
  ttl: Number.isFinite(ttl) ? ttl : null,
  pollInterval
})

/** Ends a task with the outcome of its handler. */
const finish = Effect.fnUntraced(function*(
  self: Self,
  method: string,
  taskId: string,
  { died, ...outcome }: Outcome.Outcome,
  length: number
) {
  if (died !== undefined) yield* self.report(Diagnostic.HandlerDied({ method, cause: died }))
  const now = yield* Clock.currentTimeMillis
  const entry = yield* change(self, (ledger) => Either.right(Ledger.end(ledger, taskId, outcome, length, now)))
  if (entry !== undefined) yield* settle(self, entry)
})

/** Tells the server that the task has ended, and then everyone who waits for the task. */
const settle = ({ notify, works }: Self, entry: Ledger.Entry): Effect.Effect<void> =>
  Effect.suspend(() => {
    const work = works.get(entry.task.taskId)
    // Those who wait send the result to the server. They continue after the notification was sent.
    if (work !== undefined) EffectInternals.later(() => EffectInternals.done(work.over, Effect.succeed(entry)))
    return notify(taskStatus.name, entry.task as unknown as JsonObject)
  })

const result = (self: Self, taskId: string): Effect.Effect<Outcome.Outcome, InvalidParams> =>
  Effect.suspend(() => {
    const work = self.works.get(taskId)
    return work === undefined ?
      Effect.fail(Ledger.unknown) :
      Effect.flatMap(Deferred.await(work.over), (entry) =>
        entry === undefined
          ? Effect.fail(Ledger.unknown)
          : Effect.as(
            change(self, (ledger) => Either.right(Ledger.fetched(ledger, taskId))),
            Ledger.outcomeOf(entry)
          ))
  })

const cancel = Effect.fnUntraced(function*(self: Self, taskId: string) {
  const now = yield* Clock.currentTimeMillis
  const entry = yield* change(self, (ledger) => Ledger.cancel(ledger, taskId, now))
  yield* settle(self, entry)
  const worker = self.works.get(taskId)?.fibers[0]
  if (worker !== undefined) yield* Fiber.interruptFork(worker)
  return entry.task
})

const list = ({ ledger }: Self, cursor: string | undefined): Effect.Effect<Tasks.ListTasksResult, InvalidParams> =>
  cursor === undefined
    ? Effect.sync(() => ({ tasks: [...MutableRef.get(ledger).entries.values()].map(({ task }) => task) }))
    : Effect.fail(new InvalidParams({ message: "Invalid params: the cursor does not belong to this list" }))

/** Ends all tasks, and waits for the end of their handlers, at most for `closeTimeout`. */
const stop = (self: Self, closeTimeout: Duration.DurationInput): Effect.Effect<void> =>
  Effect.suspend(() => {
    const fibers = [...self.works.values()].flatMap(({ fibers }) => fibers)
    const { limits } = MutableRef.get(self.ledger)
    MutableRef.set(self.ledger, Ledger.make(limits))
    for (const taskId of self.works.keys()) release(self.works, taskId)
    return Effect.ignore(TimeLimit.end(Fiber.interruptAll(fibers), closeTimeout))
  })

/**
 * Reads and changes the tasks of a server in the `TaskStore`. Each reader is a `Viewer`, who can read only its own tasks. A task that has
 * ended never changes.
 *
 * `TaskRunner` supervises the fibers of the tasks that this process runs. `legacy/TaskWire` serves the methods about tasks of revision
 * 2025-11-25, and `TasksServer` serves the methods of the extension. `features/TaskCall` and `nodes/NodeTasks` also change tasks.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ErrorObject, INTERNAL_ERROR } from "../../jsonrpc/JsonRpcError.js"
import type { Progress } from "../../jsonrpc/Progress.js"
import { SerialQueue } from "../../kit/SerialQueue.js"
import { InternalError, InvalidParams } from "../../protocol/McpError.js"
import * as Tasks from "../../protocol/Tasks.js"
import type { Version } from "../../protocol/Version.js"
import type { Refuses } from "../Authenticator.js"
import { CODE, HttpRefusal } from "../HttpRefusal.js"
import {
  type StoredTask,
  type TaskOutcome,
  type TaskQuestion,
  TaskStoreError,
  type TaskStoreService
} from "../TaskStore.js"
import * as StoreFailure from "../telemetry/StoreFailure.js"

/** The greatest length of a status message, in characters. Longer messages are cut. */
const MAX_MESSAGE = 1000

/**
 * The sender of a request about tasks. A viewer can read a task if three conditions hold: the viewer is the owner, the viewer's revision
 * has the methods of this task, and the viewer has the scopes that the call required.
 */
export interface Viewer<out E = Refuses> {
  readonly owner: string | null
  readonly isOfEra: (revision: Version) => boolean
  /** Gives the refusal when the token of this request does not have these scopes; otherwise `undefined`. */
  readonly refusal: (scopes: ReadonlyArray<string>) => E | undefined
}

/** The end of a task. */
export interface Ended {
  readonly status: Tasks.TaskStatus
  readonly statusMessage?: string | undefined
  readonly outcome?: TaskOutcome | undefined
  /** The cause of a defect, for the log, because the outcome does not show a defect to the client; otherwise `undefined`. */
  readonly died?: Cause.Cause<unknown> | undefined
  readonly subject?: string | undefined
}

/**
 * Wraps a store. The wrapper logs when the store begins to fail, and turns a defect of the store into a failure, because an application may
 * have written the store itself.
 */
export const logging = (store: TaskStoreService): TaskStoreService => {
  const total = StoreFailure.total(STORE, unanswered, isFailure)
  const followed = StoreFailure.once<TaskStoreError>(CHANGES, isFailure)
  return {
    create: (task) => total(() => store.create(task)),
    get: (owner, taskId) => total(() => store.get(owner, taskId)),
    replace: (task) => total(() => store.replace(task)),
    list: (owner, options) => total(() => store.list(owner, options)),
    changes: (owner, taskId) =>
      Stream.suspend(() => {
        let given = 0
        const counted = Stream.map(Stream.suspend(() => store.changes(owner, taskId)), (task) => {
          given++
          return task
        })
        return Stream.catchAllCause(counted, (cause) => {
          const error = Cause.isDie(cause) ? Cause.fail(unanswered(StoreFailure.messageOf(Cause.squash(cause)))) : cause
          const failed = followed(Effect.failCause(error))
          // The first element is the current task. Only a further element shows that the store delivers changes.
          return Stream.fromEffect(given > 1 ? Effect.zipRight(followed(Effect.void), failed) : failed)
        })
      })
  }
}

const unanswered = (message: string): TaskStoreError => new TaskStoreError({ reason: "Unavailable", message })

/** The functions with which this server notifies the engine of detached tasks. */
export interface Engine {
  /**
   * The client answers the questions with these keys. Runs before the answers are stored. When this effect dies, the client gets an error.
   */
  readonly answered: (task: StoredTask, keys: ReadonlyArray<string>) => Effect.Effect<void>
  /** The end of the task is stored, so the work of the task should stop. */
  readonly stopped: (task: StoredTask) => Effect.Effect<void>
}

/** Fails with the reason when an answer does not fit its question. With revision 2025-11-25 or earlier this check never fails. */
export type Check = (key: string, answer: TaskOutcome) => Effect.Effect<void, InvalidParams>

/**
 * Fields: `listeners` run for every change that this server makes. `checks` contains the checks of the tasks that wait for answers at this
 * node, by the ids of the tasks. `engines` contains the engines of detached tasks, by their names.
 */
export class StoredTasks {
  private readonly checks = new Map<string, Set<Check>>()
  private readonly listeners = new Set<(task: StoredTask) => Effect.Effect<void>>()

  constructor(
    readonly store: TaskStoreService,
    private readonly engines: ReadonlyMap<string, Engine> = new Map()
  ) {}

  /** Runs the listener for every change of a task that this server makes, until the scope closes. */
  onChange(listener: (task: StoredTask) => Effect.Effect<void>): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => this.listeners.add(listener)),
      () => Effect.sync(() => this.listeners.delete(listener))
    )
  }

  /**
   * Notifies the engine of a detached task that the task has ended. Only logs a failure, because the engine also learns of the end from the
   * store.
   */
  stop(task: StoredTask): Effect.Effect<void> {
    return Effect.suspend(() => {
      const engine = this.engines.get(task.detached ?? "")
      return engine === undefined
        ? Effect.void
        : Effect.catchAllCause(
          Effect.suspend(() => engine.stopped(task)),
          (cause) => Effect.logWarning(`${ENGINE} "${task.detached}" was not told that a task has ended`, cause)
        )
    })
  }

  /**
   * Changes a task. Gives `false` when the task has ended, or when there is no such task. When `f` returns the task unchanged, this effect
   * writes nothing.
   */
  private update(
    { owner, taskId }: Pick<StoredTask, "owner" | "taskId">,
    f: (task: StoredTask) => Partial<StoredTask>
  ): Effect.Effect<boolean, TaskStoreError> {
    const change = this.change(ofOwner(owner), taskId, (task) => {
      const changes = Tasks.isTerminal(task.status) ? task : f(task)
      return changes === task ? undefined : changes
    })
    return change.pipe(
      Effect.map(([task, isChanged]) => isChanged || !Tasks.isTerminal(task.status)),
      Effect.catchTag("InvalidParams", () => Effect.succeed(false))
    )
  }

  /**
   * Stores the end of a detached task. Gives `false` when the task has already ended. When the store has no room for the result, the task
   * ends as `failed`.
   */
  endOnce(
    task: Pick<StoredTask, "owner" | "taskId">,
    { died, outcome, status, statusMessage, subject }: Ended
  ): Effect.Effect<boolean, TaskStoreError> {
    const end = (ended: Partial<StoredTask>) => this.update(task, () => ({ ...ended, questions: {}, answers: {} }))
    const ended = Effect.catchIf(
      end({ status, statusMessage, outcome }),
      ({ reason }) => reason === "Full",
      ({ message }) => end(tooLarge(message))
    )
    return died === undefined
      ? ended
      : Effect.tap(
        ended,
        (isEnded) => isEnded ? Effect.logError(`The task of ${subject ?? "a request"} died`, died) : Effect.void
      )
  }

  /**
   * Gives a task of the viewer. For a task of another owner, fails with the error of an unknown task. When the viewer does not have the
   * scopes of the task's tool, fails in the same way as a call of the tool.
   */
  get(viewer: Viewer, taskId: string): Effect.Effect<StoredTask, Refuses | InvalidParams> {
    return answered(this.find(viewer, taskId))
  }

  private find<E>(viewer: Viewer<E>, taskId: string): Effect.Effect<StoredTask, TaskStoreError | E | InvalidParams> {
    return Effect.flatMap(
      this.store.get(viewer.owner, taskId),
      (found): Effect.Effect<StoredTask, E | InvalidParams> => {
        if (Option.isNone(found) || !viewer.isOfEra(found.value.revision)) return Effect.fail(unknown)
        const refused = viewer.refusal(requiresOf(found.value))
        return refused === undefined ? Effect.succeed(found.value) : Effect.fail(refused)
      }
    )
  }

  /**
   * Gives the scopes that a request about a task requires. Gives no scopes when there is no such task, or when the store does not answer.
   */
  requires(owner: string | null, taskId: string): Effect.Effect<ReadonlyArray<string>> {
    return Effect.match(this.store.get(owner, taskId), {
      onFailure: () => [],
      onSuccess: Option.match({ onNone: () => [], onSome: requiresOf })
    })
  }

  /** Gives the current task, and then the task after each change. */
  changes(viewer: Viewer, taskId: string): Stream.Stream<StoredTask, Refuses | InvalidParams> {
    return Stream.unwrap(
      Effect.as(
        this.get(viewer, taskId),
        Stream.catchAll(this.store.changes(viewer.owner, taskId), (error) => Stream.fromEffect(unavailable(error)))
      )
    )
  }

  /** Gives a page of the tasks that the viewer can read. */
  list(viewer: Viewer, after: string | undefined, limit: number) {
    return Effect.catchAll(
      Effect.map(this.store.list(viewer.owner, { after, limit }), ({ next, tasks }) => ({
        next,
        tasks: tasks.filter((task) => viewer.isOfEra(task.revision) && viewer.refusal(requiresOf(task)) === undefined)
      })),
      (error): Effect.Effect<never, HttpRefusal | InternalError | InvalidParams> =>
        error.reason === "UnknownPage"
          ? Effect.fail(new InvalidParams({ message: "Invalid params: the cursor does not belong to this list" }))
          : unavailable(error)
    )
  }

  /** Cancels a task. Gives the task, and a boolean that is `false` when the task had already ended. */
  cancel(
    viewer: Viewer,
    taskId: string
  ): Effect.Effect<readonly [StoredTask, boolean], Refuses | InvalidParams> {
    const cancel = this.change(viewer, taskId, (task) =>
      Tasks.isTerminal(task.status)
        ? undefined
        : { status: "cancelled", statusMessage: "The client cancelled the task", questions: {}, answers: {} })
    // Also notifies the engine when the task was cancelled earlier, because the earlier notification may not have reached the engine.
    return answered(Effect.tap(cancel, ([task]) => task.status === "cancelled" ? this.stop(task) : Effect.void))
  }

  /**
   * Stores the client's answers to questions of a task, by the keys of the questions. A question without an answer stays open. Answers to
   * other keys are ignored: the loop visits only the questions of the task, because a client may send any number of answers. With revision
   * 2026-07-28 or later, one answer that does not fit its question makes this effect refuse all answers. Only the node that runs the task
   * checks answers. Before this effect stores the answers to a detached task, it notifies the engine of the task.
   */
  answer(
    viewer: Viewer,
    taskId: string,
    answerOf: (key: string) => TaskOutcome | undefined
  ): Effect.Effect<unknown, Refuses | InvalidParams> {
    const knownOf = (task: StoredTask) =>
      Record.filterMap(task.questions, (_, key) => Option.fromNullable(answerOf(key)))
    const checks = this.checks.get(taskId)
    const check = (task: StoredTask) =>
      Object.entries(knownOf(task)).flatMap(([key, answer]) => [...checks ?? []].map((one) => one(key, answer)))
    const checking = checks === undefined
      ? Effect.void
      : Effect.flatMap(this.find(viewer, taskId), (task) => Effect.all(check(task), { discard: true }))
    const change = this.change(viewer, taskId, (task) => {
      const known = knownOf(task)
      if (Tasks.isTerminal(task.status) || Record.isEmptyRecord(known)) return undefined
      const questions = Record.filter(task.questions, (_, key) => !Object.hasOwn(known, key))
      return { questions, answers: { ...task.answers, ...known }, status: statusOf(questions) }
    })
    const telling = Effect.flatMap(
      this.find(viewer, taskId),
      (task) => task.detached === undefined ? Effect.void : this.tell(task, task.detached, Object.keys(knownOf(task)))
    )
    return answered(Effect.zipRight(Effect.zipRight(checking, telling), change))
  }

  private tell(task: StoredTask, detached: string, keys: ReadonlyArray<string>): Effect.Effect<void, InternalError> {
    if (keys.length === 0 || Tasks.isTerminal(task.status)) return Effect.void
    const engine = this.engines.get(detached)
    return engine === undefined
      ? Effect.fail(new InternalError({ message: `This node has no engine "${detached}": send the answer again` }))
      : Effect.catchAllCause(Effect.suspend(() => engine.answered(task, keys)), (cause) =>
        Effect.zipRight(
          Effect.logWarning(`${ENGINE} "${detached}" was not told of an answer`, cause),
          Effect.fail(new InternalError({ message: "The engine of the task did not get the answer: send it again" }))
        ))
  }

  /**
   * Asks questions in a task, and waits for all answers. With revision 2026-07-28 or later, this node checks the answers that arrive at
   * this node, before it stores them.
   */
  ask(
    task: StoredTask,
    questions: Readonly<Record<string, TaskQuestion>>,
    check: Check
  ): Effect.Effect<Readonly<Record<string, TaskOutcome>>, InternalError | InvalidParams> {
    const { taskId } = task
    return Effect.acquireUseRelease(
      Effect.sync(() => this.checks.set(taskId, (this.checks.get(taskId) ?? new Set()).add(check))),
      () => this.asking(task, questions),
      () =>
        Effect.sync(() => {
          const checks = this.checks.get(taskId)
          checks?.delete(check)
          if (checks?.size === 0) this.checks.delete(taskId)
        })
    )
  }

  private asking(
    { owner, taskId }: StoredTask,
    questions: Readonly<Record<string, TaskQuestion>>
  ): Effect.Effect<Readonly<Record<string, TaskOutcome>>, InternalError | InvalidParams> {
    const self = ofOwner(owner)
    const keys = Object.keys(questions)
    const take = this.change(self, taskId, (task) =>
      keys.every((key) => Object.hasOwn(task.answers, key))
        ? { answers: Record.filter(task.answers, (_, key) => !keys.includes(key)) }
        : undefined)
    // A task that has ended gets no answers.
    const taken = this.store.changes(owner, taskId).pipe(
      Stream.takeUntil(({ status }) => Tasks.isTerminal(status)),
      Stream.filter(({ answers }) => keys.every((key) => Object.hasOwn(answers, key))),
      Stream.runHead,
      Effect.retry(readAgain),
      Effect.flatMap(Option.match({ onNone: () => Effect.interrupt, onSome: ({ answers }) => Effect.succeed(answers) }))
    )
    return this.change(self, taskId, (task) =>
      Tasks.isTerminal(task.status)
        ? undefined
        : { questions: { ...task.questions, ...questions }, status: "input_required" }).pipe(
        Effect.flatMap(([, isAsked]) => isAsked ? taken : Effect.interrupt),
        Effect.onInterrupt(() => Effect.ignore(this.withdraw(self, taskId, keys))),
        Effect.tap(Effect.retry(take, { schedule: writeAgain, while: isUnavailable })),
        // The request of the task was already answered, so the failure cannot have an HTTP status.
        Effect.catchTag("TaskStoreError", ({ message, reason }) => Effect.fail(failure(message, reason)))
      )
  }

  /** Stores the status message. Gives `false` when the task has ended. */
  progress(task: Pick<StoredTask, "owner" | "taskId">, message: string): Effect.Effect<boolean, TaskStoreError> {
    const statusMessage = message.slice(0, MAX_MESSAGE)
    return this.update(task, (found) => found.statusMessage === statusMessage ? found : { statusMessage })
  }

  /** Asks one question, if there is no question and no answer with this key. Gives `false` when the task has ended. */
  askOnce(
    task: Pick<StoredTask, "owner" | "taskId">,
    key: string,
    question: TaskQuestion
  ): Effect.Effect<boolean, TaskStoreError> {
    return this.update(task, (found) =>
      Object.hasOwn(found.questions, key) || Object.hasOwn(found.answers, key)
        ? found
        : { questions: { ...found.questions, [key]: question }, status: "input_required" })
  }

  /** Removes a question and its answer. Gives `false` when the task has ended. */
  forget(task: Pick<StoredTask, "owner" | "taskId">, key: string): Effect.Effect<boolean, TaskStoreError> {
    return this.update(task, (found) => {
      const { [key]: _, ...questions } = found.questions
      const { [key]: __, ...answers } = found.answers
      const isKnown = Object.hasOwn(found.questions, key) || Object.hasOwn(found.answers, key)
      return isKnown ? { questions, answers, status: statusOf(questions) } : found
    })
  }

  /**
   * Makes the function that stores the progress of a task's handler as the status message. The function does not wait for the store. One
   * write runs at a time. When several reports come during a write, the function writes only the newest of these reports. A report that
   * cannot be stored is lost.
   */
  reports(task: StoredTask): (progress: Progress) => Effect.Effect<void> {
    const writes = new SerialQueue()
    return ({ message, progress, total }) => {
      const text = message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)
      return writes.fork(Effect.ignore(this.progress(task, text)), "progress")
    }
  }

  private withdraw(viewer: Viewer<never>, taskId: string, keys: ReadonlyArray<string>) {
    return this.change(viewer, taskId, (task) => {
      const questions = Record.filter(task.questions, (_, key) => !keys.includes(key))
      return Tasks.isTerminal(task.status)
        ? undefined
        : {
          questions,
          answers: Record.filter(task.answers, (_, key) => !keys.includes(key)),
          status: statusOf(questions)
        }
    })
  }

  /**
   * Stores the end of a task, and gives the task as the store then has it. A task that has already ended keeps its earlier end. While the
   * store does not answer, tries again. If this effect is interrupted, it ends only between two attempts. Gives `None` when the store does
   * not have the task any more, or refuses its end.
   */
  end(
    { owner, taskId }: StoredTask,
    { died, subject, ...ended }: Ended,
    again: Schedule.Schedule<unknown> = writeAgain
  ): Effect.Effect<Option.Option<StoredTask>> {
    const logged = died === undefined
      ? Effect.void
      : Effect.logError(`The task of ${subject ?? "a request"} died`, died)
    // The end of a task interrupts a handler that waits for an answer, and then the fiber that supervises the handler. Such an interruption
    // is not a defect.
    const isInterrupted = died !== undefined && Cause.isInterruptedOnly(died)
    const store = (ended: Pick<Ended, "status" | "statusMessage" | "outcome">) =>
      Effect.tap(
        this.change(
          ofOwner(owner),
          taskId,
          (task) =>
            Tasks.isTerminal(task.status)
              ? undefined
              : { statusMessage: undefined, ...ended, questions: {}, answers: {} }
        ),
        ([, isChanged]) => isInterrupted && isChanged ? logged : Effect.void
      )
    const stored = (ended: Parameters<typeof store>[0]) =>
      Effect.retry(Effect.uninterruptible(store(ended)), { schedule: again, while: isUnavailable })
    const end = isInterrupted ? stored(ended) : Effect.zipRight(logged, stored(ended))
    return end.pipe(
      Effect.catchIf(
        (error): error is TaskStoreError => error._tag === "TaskStoreError" && error.reason === "Full",
        ({ message }) => stored(tooLarge(message))
      ),
      Effect.map(([task]) => task),
      Effect.option
    )
  }

  /** Changes a task. Tries again when another change came first. When `f` gives `undefined`, changes nothing. */
  private change<E>(
    viewer: Viewer<E>,
    taskId: string,
    f: (task: StoredTask) => Partial<StoredTask> | undefined
  ): Effect.Effect<readonly [StoredTask, boolean], TaskStoreError | E | InvalidParams> {
    return Effect.flatMap(Effect.zip(this.find(viewer, taskId), Clock.currentTimeMillis), ([task, now]) => {
      const changes = f(task)
      if (changes === undefined) return Effect.succeed([task, false] as const)
      const next: StoredTask = { ...task, ...changes, version: task.version + 1, lastUpdatedAt: now }
      return Effect.flatMap(
        this.store.replace(next),
        (isReplaced): Effect.Effect<readonly [StoredTask, boolean], TaskStoreError | E | InvalidParams> =>
          isReplaced
            ? Effect.as(Effect.forEach([...this.listeners], (listener) => listener(next), { discard: true }), [
              next,
              true
            ])
            : this.change(viewer, taskId, f)
      )
    })
  }
}

/** The schedule with which changes are read again after a failure of the store. */
export const readAgain = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("30 seconds"))

/** The schedule with which the end of a task, and the name of its node, are written again after a failure of the store. It has no end. */
export const untilStored = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("1 second"))

/**
 * The schedule with which the end of a task, or an answer, is written again after a failure of the store. It ends after about 3 seconds.
 */
export const writeAgain = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(5))

const isFailure = ({ reason }: TaskStoreError): boolean => reason === "Refused" || reason === "Unavailable"

const isUnavailable = (error: TaskStoreError | InvalidParams): boolean =>
  error._tag === "TaskStoreError" && isFailure(error)

/** Makes the client's error from a failure of the store. */
const answered = <A>(effect: Effect.Effect<A, TaskStoreError | Refuses | InvalidParams>) =>
  Effect.catchTag(effect, "TaskStoreError", unavailable)

/** The viewer for the handler of a task. This viewer can read the task, whatever the revision and the scopes of the task are. */
const ofOwner = (owner: string | null): Viewer<never> => ({ owner, isOfEra: () => true, refusal: () => undefined })

const requiresOf = ({ requires = [] }: StoredTask): ReadonlyArray<string> => requires

const statusOf = (questions: Readonly<Record<string, TaskQuestion>>): Tasks.TaskStatus =>
  Object.keys(questions).length === 0 ? "working" : "input_required"

const unknown = new InvalidParams({ message: "Invalid params: there is no such task, or it has expired" })

/**
 * Makes the client's error from a failure of the store. The client gets the message of the store only when a limit of the store is reached.
 */
export const unavailable = ({ message, reason }: TaskStoreError): Effect.Effect<never, HttpRefusal | InternalError> =>
  Effect.fail(reason === "Refused" ? refused : failure(message, reason))

const failure = (message: string, reason: TaskStoreError["reason"]): InternalError =>
  new InternalError({ message: reason === "Full" ? message : StoreFailure.sentence(STORE) })

const STORE = "The store of tasks"

const refused = new HttpRefusal({
  status: 503,
  headers: { "retry-after": "1" },
  error: { code: CODE, message: `Service Unavailable: ${StoreFailure.sentence(STORE, true)}` }
})

const ENGINE = "The engine of detached tasks"

/** Makes the end of a task whose result does not fit into the store. */
const tooLarge = (message: string): Pick<Ended, "status" | "statusMessage" | "outcome"> => ({
  status: "failed",
  statusMessage: message,
  outcome: { error: errorOf(message) }
})

const CHANGES = "Waiting for changes in the store of tasks"

export const errorOf = (message: string): ErrorObject => ({ code: INTERNAL_ERROR, message })

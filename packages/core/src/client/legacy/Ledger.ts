/**
 * The list of the tasks that a client stores for a session, the oldest first, with the outcomes of their handlers. When room is needed,
 * tasks whose outcome the server has fetched are removed. The functions here are pure. `InboundTasks` runs the work of the tasks, and
 * releases tasks that have left the ledger.
 *
 * - `begin`: may one more task run and be stored?
 * - `end`, `cancel`: does the task end in this way, and is there room for its outcome?
 * - `outcomeOf`: what does the server get when it fetches the outcome of a task?
 */
import * as Either from "effect/Either"
import { INTERNAL_ERROR } from "../../jsonrpc/JsonRpcError.js"
import type { Outcome } from "../../jsonrpc/Outcome.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { REQUEST_CANCELLED } from "../../protocol/ErrorCodes.js"
import type { JsonObject } from "../../protocol/Json.js"
import { InternalError, InvalidParams } from "../../protocol/McpError.js"
import { related } from "../../protocol/rules/RelatedTask.js"
import * as Tasks from "../../protocol/Tasks.js"

export interface Ledger {
  readonly limits: Limits
  readonly entries: ReadonlyMap<string, Entry>
  /** How many characters the outcomes of all entries have together. */
  readonly size: number
}

export interface Limits {
  /** How many tasks may run. `maxTasks` is how many tasks may be stored. */
  readonly maxRunning: number
  readonly maxTasks: number
  /** How many characters all outcomes may have together. */
  readonly maxSize: number
}

export interface Entry {
  readonly task: Tasks.Task
  /** The outcome of a task that has ended; `undefined` while the task runs, and when it was cancelled. */
  readonly outcome: Outcome | undefined
  /** How many characters the outcome has. */
  readonly size: number
  /** Whether the server has fetched the outcome, so that the entry may be removed when room is needed. Also `true` for a cancelled task. */
  readonly isFetched: boolean
}

/** The new ledger, the ids of the tasks that have left it, and the value of the change. */
export type Change<A> = readonly [ledger: Ledger, evicted: ReadonlyArray<string>, value: A]

export const make = (limits: Limits): Ledger => ({ limits, entries: new Map(), size: 0 })

export const find = ({ entries }: Ledger, taskId: string): Either.Either<Entry, InvalidParams> =>
  Either.fromNullable(entries.get(taskId), () => unknown)

export const unknown = new InvalidParams({ message: "Invalid params: there is no such task, or it has expired" })

export const begin = (ledger: Ledger, task: Tasks.Task): Either.Either<Change<void>, InternalError> => {
  const { entries, limits: { maxRunning, maxTasks } } = ledger
  const running = [...entries.values()].filter(isRunning).length
  if (running >= maxRunning) {
    return refused(`${running} tasks are running, which is the limit: wait for a task to end, or cancel a task`)
  }
  const [roomy, evicted] = withRoom(ledger, ({ entries }) => entries.size < maxTasks)
  if (roomy.entries.size >= maxTasks) {
    return refused(`${roomy.entries.size} tasks are stored, which is the limit: fetch the result of a task`)
  }
  return Either.right([withEntry(roomy, { task, outcome: undefined, size: 0, isFetched: false }), evicted, undefined])
}

/** Ends a task with the outcome of its handler, which has `length` characters. The value is `undefined` when the task has ended before. */
export const end = (
  ledger: Ledger,
  taskId: string,
  outcome: Outcome,
  length: number,
  now: number
): Change<Entry | undefined> => {
  const running = ledger.entries.get(taskId)
  if (running === undefined || !isRunning(running)) return [ledger, [], undefined]
  const hasRoom = ({ limits: { maxSize }, size }: Ledger) => size + length <= maxSize
  const [roomy, evicted] = withRoom(ledger, hasRoom)
  const entry = hasRoom(roomy)
    ? ended(running, outcome, length, now)
    : ended(running, tooLarge(length), 0, now)
  return [withEntry(roomy, entry), evicted, entry]
}

/** Cancels a task because the server asks for it. The server does not fetch the outcome of a cancelled task. */
export const cancel = (ledger: Ledger, taskId: string, now: number): Either.Either<Change<Entry>, InvalidParams> =>
  Either.flatMap(find(ledger, taskId), (entry) => {
    if (!isRunning(entry)) {
      const message = `Invalid params: the task has ended already, it is ${entry.task.status}`
      return Either.left(new InvalidParams({ message }))
    }
    const task = withStatus(entry.task, "cancelled", "The server cancelled the task", now)
    const cancelled = { ...entry, task, isFetched: true }
    return Either.right([withEntry(ledger, cancelled), [], cancelled])
  })

/** Notes that the server has fetched the outcome of a task. */
export const fetched = (ledger: Ledger, taskId: string): Change<void> => {
  const entry = ledger.entries.get(taskId)
  return [entry === undefined ? ledger : withEntry(ledger, { ...entry, isFetched: true }), [], undefined]
}

/** Removes a task in any state. */
export const remove = (ledger: Ledger, taskId: string): Change<void> =>
  ledger.entries.has(taskId) ? [without(ledger, taskId), [taskId], undefined] : [ledger, [], undefined]

/** Returns the outcome of a task that has ended, as the server gets it. */
export const outcomeOf = ({ outcome, task: { taskId } }: Entry): Outcome =>
  outcome?.result === undefined
    ? outcome ?? { error: { code: REQUEST_CANCELLED, message: "The task was cancelled" } }
    : { ...outcome, result: related(outcome.result as JsonObject, taskId) }

const isRunning = ({ task }: Entry): boolean => !Tasks.isTerminal(task.status)

const refused = (message: string): Either.Either<never, InternalError> => Either.left(new InternalError({ message }))

const tooLarge = (length: number): Outcome => ({
  error: { code: INTERNAL_ERROR, message: `The client has no room for a result of ${length} characters` }
})

const ended = (entry: Entry, outcome: Outcome, size: number, now: number): Entry => ({
  ...entry,
  task: outcome.error === undefined
    ? withStatus(entry.task, "completed", undefined, now)
    : withStatus(entry.task, "failed", outcome.error.message, now),
  outcome,
  size
})

const withStatus = (
  task: Tasks.Task,
  status: Tasks.TaskStatus,
  statusMessage: string | undefined,
  now: number
): Tasks.Task => ({
  ...task,
  status,
  ...(statusMessage === undefined ? undefined : { statusMessage }),
  lastUpdatedAt: EffectInternals.iso(now)
})

/** Removes tasks whose outcome the server has fetched, the oldest first, until `hasRoom` returns `true` or no such task is left. */
const withRoom = (
  ledger: Ledger,
  hasRoom: (ledger: Ledger) => boolean
): readonly [Ledger, evicted: ReadonlyArray<string>] => {
  const evicted: Array<string> = []
  let roomy = ledger
  for (const [taskId, { isFetched }] of ledger.entries) {
    if (hasRoom(roomy)) break
    if (!isFetched) continue
    roomy = without(roomy, taskId)
    evicted.push(taskId)
  }
  return [roomy, evicted]
}

const withEntry = (ledger: Ledger, entry: Entry): Ledger => {
  const { taskId } = entry.task
  const before = ledger.entries.get(taskId)?.size ?? 0
  return { ...ledger, entries: new Map(ledger.entries).set(taskId, entry), size: ledger.size - before + entry.size }
}

const without = (ledger: Ledger, taskId: string): Ledger => {
  const entries = new Map(ledger.entries)
  const size = ledger.size - (entries.get(taskId)?.size ?? 0)
  entries.delete(taskId)
  return { ...ledger, entries, size }
}

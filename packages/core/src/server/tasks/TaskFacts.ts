/**
 * What both eras say of a task in the same words, and how the response of a call becomes the end of its task. What only one era says is
 * in `legacy/TaskWire` or `modern/TaskWire`.
 */
import { toObject } from "../../jsonrpc/JsonRpcError.js"
import type * as Outcome from "../../jsonrpc/Outcome.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { Task } from "../../protocol/Tasks.js"
import type { StoredTask } from "../TaskStore.js"
import type { Ended } from "./StoredTasks.js"

/** The members that a task has in both eras. */
export const common = (
  { createdAt, lastUpdatedAt, status, statusMessage, taskId }: StoredTask
): Pick<Task, "taskId" | "status" | "statusMessage" | "createdAt" | "lastUpdatedAt"> => ({
  taskId,
  status,
  ...(statusMessage === undefined ? undefined : { statusMessage }),
  createdAt: EffectInternals.iso(createdAt),
  lastUpdatedAt: EffectInternals.iso(lastUpdatedAt)
})

/** The end of a task: a JSON-RPC error fails it, and so does a result for which `isFailure` holds. */
export const endOf = (
  { died, error, result, subject }: Outcome.Outcome,
  isFailure: (result: JsonObject) => boolean = () => false
): Ended =>
  error === undefined
    ? { status: isFailure(result) ? "failed" : "completed", outcome: { result }, died, subject }
    : { status: "failed", statusMessage: error.message, outcome: { error: toObject(error) }, died, subject }

/**
 * The code that tasks of revision 2025-11-25 and tasks of revision 2026-07-28 share. It makes the members that all encoded tasks have, and
 * the end of a task. `legacy/TaskWire` and `modern/TaskWire` contain the other parts.
 */
import { toObject } from "../../jsonrpc/JsonRpcError.js"
import type * as Outcome from "../../jsonrpc/Outcome.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { Task } from "../../protocol/Tasks.js"
import type { StoredTask } from "../TaskStore.js"
import type { Ended } from "./StoredTasks.js"

/** Gives the members that every encoded task has. */
export const common = (
  { createdAt, lastUpdatedAt, status, statusMessage, taskId }: StoredTask
): Pick<Task, "taskId" | "status" | "statusMessage" | "createdAt" | "lastUpdatedAt"> => ({
  taskId,
  status,
  ...(statusMessage === undefined ? undefined : { statusMessage }),
  createdAt: EffectInternals.iso(createdAt),
  lastUpdatedAt: EffectInternals.iso(lastUpdatedAt)
})

/** Makes the end of a task. The task ends as `failed` after a JSON-RPC error, and after a result for which `isFailure` gives `true`. */
export const endOf = (
  { died, error, result, subject }: Outcome.Outcome,
  isFailure: (result: JsonObject) => boolean = () => false
): Ended =>
  error === undefined
    ? { status: isFailure(result) ? "failed" : "completed", outcome: { result }, died, subject }
    : { status: "failed", statusMessage: error.message, outcome: { error: toObject(error) }, died, subject }

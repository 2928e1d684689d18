/**
 * Finds the call to which a message of the upstream belongs, for `Link`. A message is a question or a notification, and a call is a request
 * of a client that runs at the upstream. The rules are:
 *
 * - A message that names a task belongs to the call that has become this task.
 * - A message without a task that arrives on the stream of a request, as over HTTP, belongs to the call that has sent this request.
 * - When no call has this task or this request, the message may belong to any call that runs as a task. Such a call may still wait for the
 *   id of its task, and its task uses several requests.
 * - A message without a task and without a request may belong to any running call. If only one call runs, the message belongs to this call.
 */
import type { RequestId } from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { keys } from "@effect-mcp/core/protocol/Meta"

/** The ids with which messages of the upstream refer to a call. `Forward` adds the ids of the requests of the call, and sets the task. */
export interface Marks {
  readonly requests: Set<RequestId>
  /** The id of the task that the call has become. `true` while the call waits for this id; `undefined` when the call is not a task. */
  task: string | true | undefined
  /** The number of questions of the call that wait for an answer of its client. `Link` counts them. */
  questions: number
}

export const marks = (): Marks => ({ requests: new Set(), task: undefined, questions: 0 })

/** The information in a message about its call. */
export interface Named {
  /** The request on whose stream the message came. */
  readonly call?: RequestId | undefined
  readonly meta?: JsonObject | undefined
}

export type Found<Running> =
  | { readonly _tag: "Call"; readonly running: Running }
  /** The message belongs to no call. */
  | { readonly _tag: "Outside" }
  /** The message may belong to any of these calls. */
  | { readonly _tag: "Several"; readonly calls: ReadonlyArray<Running> }

export const of = <Running>(running: ReadonlyMap<Running, Marks>, { call, meta }: Named): Found<Running> => {
  const named = taskOf(meta)
  const isNamed = named !== undefined || call !== undefined
  const calls = [...running]
  const byName = calls.filter(([, { requests, task }]) =>
    named === undefined ? call !== undefined && requests.has(call) : task === named
  )
  const found = !isNamed ? calls : byName.length > 0 ? byName : calls.filter(([, { task }]) => task !== undefined)
  const [first, ...others] = found.map(([one]) => one)
  if (first === undefined) return { _tag: "Outside" }
  return others.length === 0 ? { _tag: "Call", running: first } : { _tag: "Several", calls: [first, ...others] }
}

const taskOf = (meta: JsonObject | undefined): string | undefined => {
  const related = meta?.[keys.relatedTask] as { readonly taskId?: unknown } | null | undefined
  return typeof related?.taskId === "string" ? related.taskId : undefined
}

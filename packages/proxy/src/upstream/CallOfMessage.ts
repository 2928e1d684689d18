/**
 * Says which call of a client a message of the upstream belongs to. `Link` asks. Nothing here has effects.
 *
 * - Does the message name a task? Then it belongs to the call that became the task.
 * - Did the message come on the stream of a request, as over HTTP? Then it belongs to the call that sent the request.
 * - Is the task or the request of no call that is known? Then the message may belong to any call that runs as a task: other requests read
 *   its task, and the task may ask before the call knows it.
 * - A message that names neither may belong to any call that runs: with one call it belongs to this call.
 */
import type { RequestId } from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { keys } from "@effect-mcp/core/protocol/Meta"

/** What the messages of the upstream name a call by. The call adds its requests, and writes what it knows of its task. */
export interface Marks {
  readonly requests: Set<RequestId>
  /** The task that the call has become; `true` while the call waits for the id, and `undefined` for a call that is not a task. */
  task: string | true | undefined
  /** How many questions of the call wait for an answer of its client; `Link` counts them. */
  questions: number
}

export const marks = (): Marks => ({ requests: new Set(), task: undefined, questions: 0 })

/** What a message says of its call. */
export interface Named {
  /** The request on whose stream the message came. */
  readonly call?: RequestId | undefined
  readonly meta?: JsonObject | undefined
}

export type Found<Running> =
  | { readonly _tag: "Call"; readonly running: Running }
  /** The message belongs to no call. */
  | { readonly _tag: "Outside" }
  /** Each of these calls may be the one. */
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

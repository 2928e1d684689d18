/**
 * The client of one durable task of a run. It begins the task, answers its question or cancels the task, and waits for the end of the task.
 * Each request goes to any node, and is sent again until a node has answered. A call whose response was lost may have begun a task. The
 * client ignores this task, and the job of the next call has another name.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import type { Balancer } from "../nemesis/Balancer.js"
import * as Http from "../nemesis/Http.js"
import * as Message from "../nemesis/Message.js"
import { requestOf } from "../nemesis/ModernClient.js"
import type { Job } from "./Report.js"

export interface Plan extends Job {
  /** How many characters the answer has. */
  readonly answer: number
  /** After how many milliseconds the client cancels the task; `undefined` for a task that is not cancelled. */
  readonly cancel: number | undefined
}

/** The report of the client about a task. Times are in milliseconds since 1970. */
export interface Seen {
  readonly plan: Plan
  readonly began: number
  readonly answered: number | undefined
  readonly cancelled: number | undefined
  readonly ended: number
  readonly status: string
  readonly result: unknown
  /** Whether the client has got the same end when it read the task again later. */
  readonly isSame: boolean
}

const PAUSE = "1 second"

/** How long the client waits for the answer of a node. A node that is stopped does not answer. */
const ANSWER = "8 seconds"

/** Sends a request, and returns the response; `undefined` when there was no response. */
const send = (balancer: Balancer, method: string, named: string, params: object) =>
  Effect.gen(function*() {
    const response = yield* balancer.send(requestOf("client", 1, method, named, params, { elicitation: { form: {} } }))
    if (!Http.isEventStream(response)) return Message.parse(yield* Http.text(response))
    const messages = Stream.map(Http.events(response), ({ data }) => Message.parse(data))
    const found = yield* Stream.runHead(Stream.filter(messages, Message.isResponse))
    return Option.getOrUndefined(found)
  }).pipe(Effect.scoped, Effect.timeout(ANSWER), Effect.orElseSucceed(() => undefined))

const ENDS: ReadonlyArray<unknown> = ["completed", "failed", "cancelled", "gone"]

const isOver = (status: unknown) => ENDS.includes(status)

/** Begins the job, and follows its task to the end. `at` returns the present time in milliseconds since 1970. */
export const follow = (balancer: Balancer, planned: Plan, at: () => number): Effect.Effect<Seen> =>
  Effect.gen(function*() {
    let plan = planned
    let taskId: unknown
    for (let n = 1; taskId === undefined; n++) {
      plan = { ...planned, job: `${planned.job}.${n}` }
      const { answer: _, cancel: __, ...args } = plan
      taskId = (yield* send(balancer, "tools/call", "report", { name: "report", arguments: args }))?.result?.taskId
      if (taskId === undefined) yield* Effect.sleep(PAUSE)
    }
    const named = String(taskId)
    const began = at()
    const get = send(balancer, "tasks/get", named, { taskId })
    let answered: number | undefined
    let cancelled: number | undefined
    for (;;) {
      const read = yield* get
      // After the end of its time to live, the task is unknown to the server.
      const task: Message.Message["result"] = read?.error?.code === -32602 ? { status: "gone" } : read?.result
      if (isOver(task?.status)) {
        const ended = at()
        const later = yield* Effect.repeat(Effect.delay(get, "2 seconds"), {
          until: (read) => read?.result !== undefined,
          times: 20
        })
        const { result, status } = task!
        return {
          ...{ plan, began, answered, cancelled, ended, status: String(status), result },
          isSame: isDeepStrictEqual({ result, status }, {
            result: later?.result?.result,
            status: later?.result?.status
          })
        }
      }
      if (plan.cancel !== undefined && at() - began > plan.cancel) {
        if ((yield* send(balancer, "tasks/cancel", named, { taskId }))?.result !== undefined) {
          cancelled ??= at()
        }
      } else if (task?.status === "input_required") {
        const content = { text: "x".repeat(plan.answer) }
        const answers = Object.keys(task.inputRequests as object).map((key) => [key, { action: "accept", content }])
        const params = { taskId, inputResponses: Object.fromEntries(answers) }
        if ((yield* send(balancer, "tasks/update", named, params))?.result !== undefined) answered ??= at()
      }
      yield* Effect.sleep(PAUSE)
    }
  })

/**
 * A client of revision 2026-07-28. It calls tools, gets the results of tasks, and listens to changes of boards (resources of the server).
 * This revision has no sessions, so each request may go to any node. The client cannot resume a stream that was cut.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { now, type Outcome } from "./History.js"
import type { Request } from "./Http.js"
import * as Http from "./Http.js"
import * as Message from "./Message.js"
import { boards, CALL_LIMIT, nextBoard, Run } from "./Run.js"

const prefix = "io.modelcontextprotocol/"

const TASKS = "io.modelcontextprotocol/tasks"

const PAUSE = "100 millis"

/** Makes a request of revision 2026-07-28. */
export const requestOf = (
  client: string,
  id: number,
  method: string,
  named: string | undefined,
  params: object,
  capabilities: object = {}
): Request => ({
  method: "POST",
  headers: {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...named === undefined ? undefined : { "mcp-name": named }
  },
  body: Message.request(id, method, {
    ...params,
    _meta: {
      [`${prefix}protocolVersion`]: "2026-07-28",
      [`${prefix}clientInfo`]: { name: client, version: "1" },
      [`${prefix}clientCapabilities`]: { ...capabilities, extensions: { [TASKS]: {} } },
      progressToken: client
    }
  })
})

const responseOf = (client: string, request: Request) =>
  Effect.gen(function*() {
    const { balancer, write } = yield* Run
    const receive = (data: string) => {
      write(Message.seen(client, data))
      return Message.parse(data)
    }
    const response = yield* balancer.send(request)
    const status = response.statusCode!
    if (status === 503) return { status, message: undefined }
    if (!Http.isEventStream(response)) return { status, message: receive(yield* Http.text(response)) }
    const messages = Stream.map(Http.events(response), ({ data }) => receive(data))
    const message = Option.getOrUndefined(yield* Stream.runHead(Stream.filter(messages, Message.isResponse)))
    return { status: message === undefined ? 0 : status, message }
  }).pipe(Effect.scoped)

/** Reads a task again and again until the task has ended, and returns its result. */
const resultOf = (client: string, taskId: string): Effect.Effect<Outcome, never, Run> =>
  Effect.gen(function*() {
    const { message } = yield* responseOf(client, requestOf(client, 1, "tasks/get", taskId, { taskId }))
    if (message?.error !== undefined) return Option.some<Outcome>({ type: "error", code: message.error.code })
    const task = message?.result
    if (task?.status === "completed") {
      return Option.some(Message.outcomeOf({ result: task.result as Message.Message["result"] }))
    }
    return task?.status === "failed" || task?.status === "cancelled"
      ? Option.some<Outcome>({ type: "error", code: 1 })
      : Option.none()
  }).pipe(
    Effect.orElseSucceed(() => Option.none<Outcome>()),
    Effect.delay("250 millis"),
    Effect.repeat({ until: Option.isSome }),
    Effect.map(Option.getOrThrow)
  )

/** Calls a tool once. A call that could not be sent, or that a node has refused with 503, is sent again. */
const outcomeOf = (client: string, tool: string, args: object): Effect.Effect<Outcome, never, Run> =>
  Effect.gen(function*() {
    const request = requestOf(client, 1, "tools/call", tool, { name: tool, arguments: args })
    const { message, status } = yield* responseOf(client, request)
    if (message === undefined) return status === 503 ? undefined : { type: "broken" } as const
    const { result } = message
    return result?.resultType === "task" ? yield* resultOf(client, result.taskId as string) : Message.outcomeOf(message)
  }).pipe(
    Effect.catchAll(({ reason }) => Effect.succeed(reason === "unreachable" ? undefined : { type: "broken" } as const)),
    Effect.flatMap((outcome) =>
      outcome === undefined ? Effect.delay(outcomeOf(client, tool, args), PAUSE) : Effect.succeed<Outcome>(outcome)
    )
  )

/** Calls tools one after another until the run is over. */
export const calling = (name: string): Effect.Effect<void, never, Run> =>
  Effect.gen(function*() {
    const { isOver, write } = yield* Run
    let calls = 0
    const call = (tool: string, args: object) =>
      Effect.gen(function*() {
        const nonce = `${name}/${++calls}`
        const about = { client: name, call: nonce, session: undefined }
        write({ _tag: "Called", at: now(), ...about })
        const outcome = yield* Effect.timeoutOption(outcomeOf(name, tool, { nonce, ...args }), CALL_LIMIT)
        if (Option.isSome(outcome)) write({ _tag: "Ended", at: now(), ...about, outcome: outcome.value })
      })
    const next = Effect.suspend(() => {
      const chance = Math.random()
      if (chance < 0.4) return call("work", { steps: Math.floor(Math.random() * 8), millis: 20 })
      if (chance < 0.7) return call("change", { uri: nextBoard() })
      return call("report", { millis: 100 + Math.random() * 400 | 0 })
    })
    yield* Effect.repeat(Effect.delay(next, PAUSE), { until: isOver })
  })

/** Listens to all boards. Listens again each time the stream has ended. Never ends. */
export const listening = (name: string): Effect.Effect<never, never, Run> =>
  Effect.gen(function*() {
    const { balancer, write } = yield* Run
    let streams = 0
    const listen = Effect.gen(function*() {
      const listener = `${name}#${++streams}`
      const notifications = { resourceSubscriptions: boards }
      const response = yield* balancer.send(requestOf(name, 1, "subscriptions/listen", undefined, { notifications }))
      const receive = ({ data }: Http.Event) =>
        Effect.sync(() => {
          write(Message.seen(name, data))
          const { method, params } = Message.parse(data)
          if (method === "notifications/subscriptions/acknowledged") write({ _tag: "Listening", at: now(), listener })
          if (method !== "notifications/resources/updated") return
          write({ _tag: "Heard", at: now(), listener, uri: String(params?.uri) })
        })
      yield* Effect.ensuring(
        Stream.runForEach(Http.events(response), receive),
        Effect.sync(() => write({ _tag: "Deaf", at: now(), listener }))
      )
    })
    return yield* Effect.forever(Effect.delay(Effect.ignore(Effect.scoped(listen)), PAUSE))
  })

/** Calls a tool again and again. Such a call is a canary: it is lost only by a fault that a load balancer cannot notice at once. */
export const canary = (name: string): Effect.Effect<void, never, Run> =>
  Effect.gen(function*() {
    const { isOver, write } = yield* Run
    let calls = 0
    const once = Effect.suspend(() => {
      const nonce = `${name}/${++calls}`
      return outcomeOf(name, "work", { nonce, steps: 0, millis: 0 }).pipe(
        Effect.timeoutOption("2 seconds"),
        Effect.map((outcome) => {
          write({ _tag: "Canary", at: now(), client: name, call: nonce, outcome: Option.getOrUndefined(outcome) })
        })
      )
    })
    yield* Effect.repeat(Effect.delay(once, "50 millis"), { until: isOver })
  })

/**
 * Asks questions with legacy revisions (up to 2025-11-25), for `Era` and `TaskWire`. Each question is a request to the client, on the
 * channel of the handler's request. The handler waits for the answer. With revision 2025-11-25, a client may answer a question as a task.
 * Then this server sends the question, and polls the status of the client's task at the interval that the client gives. When the task has
 * ended, the server fetches the answer.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { JsonRpcError, METHOD_NOT_FOUND } from "../../jsonrpc/JsonRpcError.js"
import { RequestTimeout, TransportError } from "../../jsonrpc/LocalError.js"
import type { Params } from "../../jsonrpc/Message.js"
import type { CallError, Outbound, RequestOptions } from "../../jsonrpc/Outbound.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import { REQUEST_CANCELLED } from "../../protocol/ErrorCodes.js"
import * as Issue from "../../protocol/Issue.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as TaskMethods from "../../protocol/legacy/TaskMethods.js"
import * as McpError from "../../protocol/McpError.js"
import * as Method from "../../protocol/Method.js"
import * as Mend from "../../protocol/schema/Mend.js"
import * as Tasks from "../../protocol/Tasks.js"
import * as TaskPoll from "../../protocol/tasks/TaskPoll.js"
import * as TraceContext from "../../protocol/telemetry/TraceContext.js"
import type { Question } from "../Ask.js"
import * as QuestionCapability from "../runtime/QuestionCapability.js"
import type { Server } from "../runtime/Server.js"
import type { AskAsTaskOptions, AskedTask, AskError } from "../ServerSession.js"
import type { TaskQuestion } from "../TaskStore.js"
import type { Connection } from "./Connection.js"

const methods = {
  elicit: Methods.elicit,
  sample: Methods.createMessage,
  roots: Methods.listRoots
} as const

/**
 * Asks one question. When the client lacks the capability, or the question is not valid, the effect fails without sending a request.
 */
export const ask = <A>(
  connection: Connection,
  outbound: Outbound,
  settings: Settings,
  question: Question<A>,
  options?: RequestOptions
): Effect.Effect<A, AskError> =>
  Effect.suspend(() => {
    const encoded = encode(connection, question)
    if (Either.isLeft(encoded)) return Effect.fail(encoded.left)
    // A person needs more time than a program.
    const timeout = options?.timeout ?? (question.kind === "elicit" ? settings.elicitationTimeout : undefined)
    return Effect.flatMap(
      post(connection, outbound, settings, encoded.right, { ...options, timeout }),
      (answer) => decode(question, answer)
    )
  })

/** Sends a request of a handler. If the handler has a current span, the request contains the trace context of this span. */
export const post = (
  connection: Connection,
  outbound: Outbound,
  settings: Settings,
  { method, params }: TaskQuestion,
  options?: RequestOptions
): Effect.Effect<Params, AskError> =>
  Effect.mapError(
    Effect.contextWithEffect((context: Context.Context<never>) =>
      send(connection, outbound, settings, method, traced(params, context), options)
    ),
    fromCall
  )

/** Makes the request that asks a question. Left: the client lacks the capability, or the question is not valid. */
export const encode = (
  connection: Pick<Connection, "clientCapabilities" | "version">,
  { kind, params, problem, requires }: Question<any>
): Either.Either<TaskQuestion, McpError.McpError> => {
  const method = methods[kind] as Method.Request
  const missing = Capabilities.missing(connection.clientCapabilities, requires)
  if (missing !== undefined) return Either.left(new McpError.MissingClientCapability({ required: missing }))
  if (problem !== undefined) {
    return Either.left(new McpError.InternalError({ message: `"${method.name}" cannot be sent: ${problem}` }))
  }
  const narrowed = method.narrowParams(connection.version)(identified(params)) as JsonObject
  return Either.right({ method: method.name, params: narrowed })
}

/**
 * Adds an `elicitationId` to the parameters of an elicitation in URL mode, because revision 2025-11-25 demands an id. The id is missing
 * when a proxy passes on a question of a server of revision 2026-07-28. The server sends no `notifications/elicitation/complete` with the
 * added id.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
 */
const identified = (params: JsonObject): JsonObject =>
  params.mode === "url" && params.elicitationId === undefined
    ? { ...params, elicitationId: globalThis.crypto.randomUUID() }
    : params

export const decode = <A>({ decode, kind }: Question<A>, answer: JsonObject): Effect.Effect<A, AskError> => {
  const method = methods[kind] as unknown as Method.Request<string, JsonObject, unknown>
  const result = method.decodeResult(answer)
  return Either.isLeft(result)
    ? Effect.fail(invalid(method.name, Issue.sentence(result.left.issue)))
    : Effect.mapError(decode(result.right), (why) => invalid(method.name, why))
}

/** The default timeouts of requests to the client. */
export type Settings = Pick<Server["limits"], "elicitationTimeout" | "requestTimeout">

/**
 * Sends a request. A server SHOULD NOT send a request other than `ping` before the client has sent `notifications/initialized` (2025-11-25
 * basic/lifecycle#initialization). So this function first waits for this notification, at most for the timeout of the request.
 */
export const send = (
  connection: Connection,
  outbound: Outbound,
  { requestTimeout }: Settings,
  method: string,
  params?: Params,
  options?: RequestOptions
): Effect.Effect<Params, CallError> =>
  Effect.suspend(() => {
    const known = Methods.table.get(method)
    if (known !== undefined && (!Method.isIn(known, connection.version) || known.from === "client")) {
      const message = `Method not found: revision ${connection.version} has no "${method}" that a server sends`
      return Effect.fail(new JsonRpcError({ code: METHOD_NOT_FOUND, message }))
    }
    const sent = params === undefined ? params : QuestionCapability.withoutContext(method, params, connection)
    const request = Effect.suspend(() => outbound.request(method, sent, options))
    if (connection.initialized || connection.reach === "request" || method === Methods.ping.name) return request
    const timeout = Duration.decode(options?.timeout ?? requestTimeout)
    return Effect.zipRight(
      TimeLimit.call(
        connection.awaitInitialized,
        timeout,
        () => Effect.fail(new RequestTimeout({ method, millis: Duration.toMillis(timeout) }))
      ),
      request
    )
  })

const traced = (params: JsonObject, context: Context.Context<never>): JsonObject =>
  Option.match(Context.getOption(context, Tracer.ParentSpan), {
    onNone: () => params,
    onSome: (span) => ({
      ...params,
      _meta: { ...(params._meta as JsonObject | undefined), ...TraceContext.inject(span) }
    })
  })

const fromCall = (error: JsonRpcError | Exclude<AskError, McpError.McpError>): AskError =>
  error instanceof JsonRpcError ? McpError.fromWire(error) : error

export const invalid = (method: string, why: string): TransportError =>
  new TransportError({ reason: "Decode", message: `The client's answer to "${method}" is not valid: ${why}` })

/** Sends a request to the client. */
type PostQuestion = (request: TaskQuestion, options: { readonly isWaiting: boolean }) => Effect.Effect<Params, AskError>

/** Asks a question as a task. If the handler itself runs as a task, `mark` adds this task to the parameters. */
export const asTask = <A>(
  connection: Connection,
  mark: (params: JsonObject) => Params,
  question: Question<A>,
  options: AskAsTaskOptions | undefined,
  post: PostQuestion
): Effect.Effect<AskedTask<A>, AskError> =>
  Effect.suspend(() => {
    if (question.kind === "roots") {
      return Effect.fail(
        new McpError.InternalError({ message: "Ask.roots cannot be asked as a task: use listRoots" })
      )
    }
    const task = options?.ttl === undefined ? {} : { ttl: Math.ceil(Duration.toMillis(options.ttl)) }
    const encoded = encode(connection, {
      ...question,
      requires: { ...question.requires, ...QuestionCapability.asTask(question) },
      params: { ...question.params, task }
    })
    if (Either.isLeft(encoded)) return Effect.fail(encoded.left)
    const { method, params } = encoded.right
    return Effect.flatMap(
      post({ method, params: mark(params) as JsonObject }, { isWaiting: false }),
      (answer): Effect.Effect<AskedTask<A>, AskError> =>
        answer["task"] === undefined
          // A client that ignores the parameter `task` has already answered.
          ? Effect.map(decode(question, answer as JsonObject), answeredAtOnce)
          : Effect.flatMap(
            decodedAnswer(method, decodeCreated, answer),
            ({ task }) => following(task, question, post)
          )
    )
  })

const following = <A>(
  task: Tasks.Task,
  question: Question<A>,
  post: PostQuestion
): Effect.Effect<AskedTask<A>> => {
  const params = { taskId: task.taskId }
  const request = ({ name }: Method.Request, isWaiting = false) => post({ method: name, params }, { isWaiting })
  const get = Effect.flatMap(
    request(TaskMethods.getTask),
    (answer) => decodedAnswer(TaskMethods.getTask.name, TaskMethods.getTask.decodeResult, answer)
  )
  const fetch = (isWaiting: boolean) =>
    Effect.flatMap(
      request(TaskMethods.getTaskPayload, isWaiting),
      (answer) => decode(question, answer as JsonObject)
    )
  return Effect.map(TaskPoll.make<Tasks.Task, AskError>(get, task), (poll) => ({
    taskId: Option.some(task.taskId),
    status: poll.states,
    result: TaskPoll.result(
      poll,
      fetch,
      ({ statusMessage = "The task was cancelled" }): AskError =>
        new McpError.PeerError({ code: REQUEST_CANCELLED, message: statusMessage })
    ),
    cancel: TaskPoll.cancel(poll, get, request(TaskMethods.cancelTask))
  }))
}

const answeredAtOnce = <A>(answer: A): AskedTask<A> => ({
  taskId: Option.none(),
  status: Stream.empty,
  result: Effect.succeed(answer),
  cancel: Effect.void
})

const decodedAnswer = <A>(method: string, decode: Method.Decode<A>, answer: Params): Effect.Effect<A, AskError> =>
  Either.match(decode(answer), {
    onLeft: ({ issue }) => Effect.fail(invalid(method, Issue.sentence(issue))),
    onRight: Effect.succeed
  })

const decodeCreated = Mend.decoder(Tasks.CreateTaskResult, "client")

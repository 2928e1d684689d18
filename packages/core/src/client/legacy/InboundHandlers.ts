/**
 * Answers the requests of a legacy server, for `Connect`: `ping`, and the requests that features of the client handle. The client answers
 * any other request with "Method not found", and also any request that the agreed revision does not have. Each request runs on its own
 * fiber, and the server may cancel it. While the client answers a question of the server (sampling, elicitation, roots), it pauses the
 * timeouts of its own calls. Answers have only the members of the agreed revision. `InboundTasks` stores the questions that the server asks
 * as tasks.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type { Conversation } from "../../jsonrpc/Conversation.js"
import { type Params, type Request, type RequestId, stream } from "../../jsonrpc/Message.js"
import * as Outcome from "../../jsonrpc/Outcome.js"
import * as Progress from "../../jsonrpc/Progress.js"
import type { IncomingRequest, Work } from "../../jsonrpc/Side.js"
import { ClientCapabilities, declares } from "../../protocol/Capabilities.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as TaskMethods from "../../protocol/legacy/TaskMethods.js"
import type { ElicitParams } from "../../protocol/legacy/UrlElicitation.js"
import * as McpError from "../../protocol/McpError.js"
import type { RequestMeta } from "../../protocol/Meta.js"
import * as Method from "../../protocol/Method.js"
import type { ProgressParams } from "../../protocol/Progress.js"
import { related } from "../../protocol/rules/RelatedTask.js"
import * as ResultMeta from "../../protocol/rules/ResultMeta.js"
import type { CreateMessageParams } from "../../protocol/Sampling.js"
import * as Projection from "../../protocol/schema/Projection.js"
import type { TaskMetadata } from "../../protocol/Tasks.js"
import type { LegacyVersion } from "../../protocol/Version.js"
import type { FeatureHandler, FeaturesService } from "../ClientFeatures.js"
import { FeatureContext, type FeatureContextService } from "../FeatureContext.js"
import * as DeclaredCapabilities from "../session/DeclaredCapabilities.js"
import * as Decoding from "../session/Decoding.js"
import * as FeatureAnswers from "../session/FeatureAnswers.js"
import type { Options } from "../session/NegotiatedSession.js"
import type { InboundTasks } from "./InboundTasks.js"

/**
 * Makes the function that answers requests of the server.
 *
 * @param tasks The tasks of this session; `undefined` when the client does not have the feature.
 * @param versionNow Returns the agreed revision; before the handshake has ended, the requested revision.
 */
export const make = (
  conversation: Pick<Conversation, "notify" | "pauseTimeouts" | "pending">,
  { extensions, features, refuseUnassociated }: Options<LegacyVersion>,
  report: Decoding.Report,
  tasks: InboundTasks | undefined,
  versionNow: () => LegacyVersion
): (request: Request, incoming: IncomingRequest) => Work => {
  const routesOf = routes(features)
  return (request, incoming) => {
    const version = versionNow()
    const work = (
      feature: FeatureHandler<unknown>,
      answer: Effect.Effect<unknown, McpError.McpError, any>,
      reply: (value: unknown) => Outcome.Outcome
    ): Work => ({
      effect: Effect.scoped(answer) as Effect.Effect<unknown, unknown>,
      context: Context.add(feature.context, FeatureContext, new LegacyFeatureContext(request, incoming, version)),
      reply: Exit.match({ onFailure: failed, onSuccess: reply })
    })
    const custom = features.custom.get(request.method)
    const isOwn = custom?.request === undefined || ExtensionTable.has(extensions, custom.request, version)
    if (custom !== undefined && isOwn) {
      return work(custom, custom.handler(request.params), (value) => ResultMeta.outcome(value as {}))
    }
    const route = routesOf(version).get(request.method)
    if (route === undefined) return refuse(new McpError.MethodNotFound({ method: request.method.slice(0, MAX_NAME) }))
    const { answer, feature, isQuestion, mayBeTask, method } = route
    const { mended, value: params } = Decoding.decode(method.name, method.decodeParams, request.params)
    if (Either.isLeft(params)) return refuse(McpError.ofIssue(params.left.issue))
    const handling = Effect.suspend(() => answer(params.right, tasks))
    const answering = mended === undefined ? handling : Effect.zipRight(report(mended), handling)
    const reply = route.reply ?? ((value: unknown) => encode(method, value, version))
    if (!isQuestion) return work(feature, answering, reply)
    if (refuseUnassociated && conversation.pending() === 0) {
      return refuse(new McpError.InvalidParams({ message: `"${method.name}" belongs to no request of this client` }))
    }
    // The client pauses its timeouts, because the server may not answer a call while it waits for the answer to its own question.
    const asked = conversation.pauseTimeouts(answering)
    const { task } = params.right as { readonly task?: TaskMetadata | undefined }
    if (!mayBeTask || tasks === undefined || task === undefined) return work(feature, asked, reply)
    const toOutcome = Exit.match({ onFailure: failed, onSuccess: reply })
    const begin = tasks.begin(method.name, task.ttl, (taskId) =>
      Effect.scoped(asked).pipe(
        Effect.exit,
        Effect.map(toOutcome),
        Effect.provideService(FeatureContext, new LegacyFeatureContext(request, sending(conversation, taskId), version))
      ))
    return work(feature, begin, (result) => ({ result: result as {} }))
  }
}

/** How many characters of the name of an unknown method are repeated to the server. */
const MAX_NAME = 128

interface Route {
  readonly method: Method.Request
  readonly feature: FeatureHandler<unknown>
  readonly answer: (params: any, tasks: InboundTasks | undefined) => Effect.Effect<unknown, McpError.McpError, any>
  /** Makes the response of an answer that needs no encoding. */
  readonly reply?: (answer: any) => Outcome.Outcome
  /** Whether the request asks for something that only this client can answer. Default: `false`. */
  readonly isQuestion?: boolean
  /** Whether the server may send the request as a task. Default: `false`. */
  readonly mayBeTask?: boolean
}

/**
 * Returns the functions with which the handler of a task sends. The request of the task was already answered, so the client sends these
 * notifications outside of the request, with the id of the task.
 */
const sending = ({ notify }: Pick<Conversation, "notify">, taskId: string) => ({
  cancelReason: undefined,
  notify: (method: string, params?: Params) => notify(method, related(params as JsonObject | undefined, taskId))
})

/**
 * Makes the routes of a revision, by method. A method has a route if the revision has the method and the client declares its capability.
 */
const routes = (features: FeaturesService): (version: LegacyVersion) => ReadonlyMap<string, Route> => {
  const compiled: Partial<Record<LegacyVersion, ReadonlyMap<string, Route>>> = {}
  return (version) =>
    compiled[version] ??= new Map(
      routesOf(
        features,
        Projection.compile(ClientCapabilities, version)(DeclaredCapabilities.of(features)) as ClientCapabilities
      )
        .filter(({ method }) => Method.isIn(method, version))
        .map((route) => [route.method.name, route])
    )
}

const routesOf = (
  features: FeaturesService,
  declared: ClientCapabilities
): ReadonlyArray<Route> => {
  const { roots, sampling } = features
  const question = (
    method: Method.Request,
    feature: FeatureHandler<unknown>,
    answer: (params: any) => Effect.Effect<unknown, McpError.McpError, any>
  ): Route => {
    const mayBeTask = declares(declared, `tasks.requests.${method.name.replace("/", ".")}`)
    return { method, feature, answer, isQuestion: true, mayBeTask }
  }
  return [
    { method: Methods.ping, feature: noFeature, answer: () => Effect.succeed({}) },
    ...(sampling === undefined ? [] : [
      question(
        Methods.createMessage,
        sampling,
        (params: CreateMessageParams) => FeatureAnswers.sample(sampling, declared, params)
      )
    ]),
    ...(declared.elicitation === undefined ? [] : [
      // One method has two handlers. The layer of each handler has a context of its own.
      question(
        Methods.elicit,
        noFeature,
        (params: ElicitParams) => FeatureAnswers.elicit(features, declared, params)
      )
    ]),
    ...(roots === undefined
      ? []
      : [question(Methods.listRoots, roots, () => FeatureAnswers.listRoots(roots))]),
    ...(declared.tasks === undefined ? [] : taskRoutes)
  ]
}

const taskRoute = <P>(
  method: Method.Request<string, P, any>,
  answer: (tasks: InboundTasks, params: P) => Effect.Effect<unknown, McpError.McpError>
): Route => ({ method, feature: noFeature, answer: (params: P, tasks) => answer(tasks!, params) })

const noFeature: FeatureHandler<unknown> = { handler: undefined, context: Context.empty() }

const taskRoutes: ReadonlyArray<Route> = [
  taskRoute(TaskMethods.getTask, (tasks, { taskId }) => tasks.get(taskId)),
  { ...taskRoute(TaskMethods.getTaskPayload, (tasks, { taskId }) => tasks.result(taskId)), reply: identity },
  taskRoute(TaskMethods.cancelTask, (tasks, { taskId }) => tasks.cancel(taskId)),
  taskRoute(TaskMethods.listTasks, (tasks, { cursor }) => tasks.list(cursor))
]

const encode = (method: Method.Request, value: unknown, version: LegacyVersion): Outcome.Outcome =>
  method.isResult(value)
    ? ResultMeta.outcome(method.narrowResult(version)(value) as {})
    : Outcome.died(Cause.die(new Error(`The handler of "${method.name}" returned an invalid result`)))

const failed = (cause: Cause.Cause<unknown>): Outcome.Outcome => {
  const failures = Cause.isDie(cause) ? [] : [...Cause.failures(cause)]
  const [failure] = failures.filter(McpError.isMcpError)
  return failure === undefined ? Outcome.died(cause) : { error: McpError.toWire(failure, "legacy") }
}

const refuse = (error: McpError.McpError): Work => ({
  effect: Effect.fail(error),
  reply: () => ({ error: McpError.toWire(error, "legacy") })
})

/**
 * The facts of one request of the server, and the notifications that belong to the request. A class with getters, because most handlers
 * read none of the facts. Its one mutable field is the last progress that was sent.
 */
class LegacyFeatureContext implements FeatureContextService {
  private lastProgress = -Infinity

  constructor(
    private readonly request: Request,
    private readonly incoming: Pick<IncomingRequest, "cancelReason" | "notify">,
    private readonly version: LegacyVersion
  ) {}

  get id(): RequestId {
    return this.request.id
  }

  get method(): string {
    return this.request.method
  }

  get call(): RequestId | undefined {
    return this.request[stream]
  }

  get meta(): RequestMeta {
    return (this.request.params?._meta ?? {}) as RequestMeta
  }

  get cancelReason(): FeatureContextService["cancelReason"] {
    return Effect.sync(() => Option.fromNullable(this.incoming.cancelReason))
  }

  // A getter returns the function, so that a handler can take the function out of the context and call it.
  get progress(): FeatureContextService["progress"] {
    return (progress, options) =>
      Effect.suspend(() => {
        const params = Progress.toParams(this.meta.progressToken, { progress, ...options }, this.lastProgress)
        if (params === undefined) return Effect.void
        this.lastProgress = progress
        const known = Methods.progress.narrowParams(this.version)(params as unknown as ProgressParams)
        return this.incoming.notify(Progress.METHOD, known as Params)
      })
  }

  get notify(): FeatureContextService["notify"] {
    return (method, params) => this.incoming.notify(method, params)
  }
}

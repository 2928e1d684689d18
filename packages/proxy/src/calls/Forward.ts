/**
 * Makes the function that sends a request of a client to the upstream, and returns the result of the upstream. `Proxy` makes this function,
 * and the handlers of `EntryRegistration` call it. The function passes on the parameters, `_meta` and progress. An interruption cancels the
 * request at the upstream. When the upstream asks a question, the client gets the question. How the question reaches the client depends on
 * the revisions of the client and of the upstream. In this module "legacy" means revision 2025-11-25 or earlier, and "modern" means
 * revision 2026-07-28. This module also passes on the requests and notifications of extensions.
 *
 * `Link` finds the client that gets a question of a legacy upstream. `WaitingCalls` keeps a call at a legacy upstream while a modern client
 * answers with a new request. When a call becomes a task at the upstream, `UpstreamTask` waits for the task.
 */
import type { ConnectionClosed } from "@effect-mcp/core/LocalError"
import type { RequestId } from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import type { Progress } from "@effect-mcp/core/Progress"
import { type ClientCapabilities, declares } from "@effect-mcp/core/protocol/Capabilities"
import type * as Extension from "@effect-mcp/core/protocol/Extension"
import { JsonObject } from "@effect-mcp/core/protocol/Json"
import { InvalidRequest, type McpError } from "@effect-mcp/core/protocol/McpError"
import { keys } from "@effect-mcp/core/protocol/Meta"
import type { Era } from "@effect-mcp/core/protocol/Version"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import type { AskError, PassedRound, ServerSessionService } from "@effect-mcp/core/ServerSession"
import { extension as tasks } from "@effect-mcp/core/TasksClient"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as TraceContext from "@effect-mcp/core/unstable/protocol/TraceContext"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { Marks } from "../upstream/CallOfMessage.js"
import type { Link, Running } from "../upstream/Link.js"
import * as UpstreamError from "../upstream/UpstreamError.js"
import * as UpstreamQuestions from "../upstream/UpstreamQuestions.js"
import * as UpstreamTask from "./UpstreamTask.js"
import type { WaitingCalls } from "./WaitingCalls.js"

export interface Options {
  readonly name: string
  readonly link: (session: ServerSessionService) => Effect.Effect<Link, McpError, Scope.Scope>
  /** The protocol era of the upstream: "legacy" for revision 2025-11-25 or earlier, "modern" for revision 2026-07-28. */
  readonly era: Effect.Effect<Era, McpError>
  readonly waitingCalls: WaitingCalls
  /**
   * When a call could not be sent because its session had ended, the call waits until no new request gets the link. This option is the
   * longest time of this wait. Then the call uses the next link.
   */
  readonly connectTimeout: Duration.DurationInput
  /** The extensions that the proxy passes on. */
  readonly extensions: ReadonlyArray<Extension.Extension.Any>
}

/**
 * Sends a request to the upstream for the client of `session`. `support` is the member `taskSupport` of a tool that an upstream of revision
 * 2025-11-25 or earlier lists.
 */
export type Forward = (
  session: ServerSessionService,
  method: string,
  params: JsonObject,
  support?: "optional" | "required"
) => Effect.Effect<JsonObject, McpError>

/** The key of `_meta` for the number of proxies of this library through which a request has passed. */
export const HOPS = "io.github.effect-mcp/hops"

const MAX_HOPS = 16

const CREATED = tasks.results.created

/** Says whether a tool can run as a task (`optional`) or must run as a task (`required`). */
type Support = Parameters<Forward>[3]

/**
 * The most times that an upstream of revision 2026-07-28 may ask questions in one call. The limit applies when the client of the call
 * cannot get questions as the result of its request. Then the proxy asks the client and sends the request again.
 */
const MAX_ROUNDS = 10

interface Self extends Options {
  /** The extension that adds a method, by the name of the method. */
  readonly extensionOf: ReadonlyMap<string, string>
  /**
   * The ids of the extensions that consist only of settings and metadata: they do not add requests, notifications or results. If the client
   * declares such an extension, every request to the upstream declares the extension.
   */
  readonly always: ReadonlyArray<string>
  /** Whether the proxy passes tasks on. */
  readonly runsTasks: boolean
}

/** A request of a client, with the parameters that the upstream gets. */
interface Request {
  readonly session: ServerSessionService
  /**
   * The responses and the state that the client has sent with this request. The member is `undefined` when the client cannot get questions
   * as the result of a request.
   */
  readonly round: PassedRound | undefined
  readonly method: string
  readonly params: JsonObject
  readonly support: Support
}

export const make = (options: Options): Forward => {
  const { extensions } = options
  const self: Self = {
    ...options,
    extensionOf: new Map(
      extensions.flatMap(({ id, requests }) =>
        (Object.values(requests) as ReadonlyArray<Extension.Request>).map(({ name }) => [name, id] as const)
      )
    ),
    always: extensions.filter(addsNothing).map(({ id }) => id),
    runsTasks: extensions.some(({ id }) => id === tasks.id)
  }
  return (session, method, params, support) => {
    const before = session.meta[HOPS] ?? 0
    const hops = typeof before === "number" ? before + 1 : NaN
    if (!(hops >= 1 && hops <= MAX_HOPS)) {
      return Effect.fail(
        new InvalidRequest({ message: `The request has passed ${MAX_HOPS} proxies: a proxy may be its own upstream` })
      )
    }
    return Effect.flatMap(passedMeta(session.meta), (meta) =>
      forward(self, {
        session,
        round: session.round,
        method,
        params: { ...params, _meta: { ...meta, [HOPS]: hops } },
        support
      }))
  }
}

/**
 * The error of a call whose session with the upstream had ended before the first request of the call was sent. So the upstream did not get
 * the call.
 */
class NotSent extends Data.TaggedError("NotSent")<{
  readonly link: Link
  readonly error: ConnectionClosed
}> {}

const forward = (self: Self, request: Request): Effect.Effect<JsonObject, McpError> => {
  const { round, session } = request
  const calling = inLink(self, request, (link) =>
    link.session.era === "modern"
      ? modern(self, link, request)
      : legacy(self, link, request, { session: () => session, ask: UpstreamQuestions.ask(session) }))
  if (round === undefined) return calling
  const { call: id } = stateOf(round)
  const keeping = self.waitingCalls.serve(
    session,
    round,
    id,
    (running) => inLink(self, request, (link) => legacy(self, link, request, running))
  )
  return id === undefined
    // An upstream of revision 2026-07-28 does not wait between the requests of a call, so `WaitingCalls` is not needed. The encrypted state
    // that the client sends back contains the state of the upstream.
    ? Effect.flatMap(self.era, (era) => era === "modern" ? calling : keeping)
    : keeping
}

/**
 * Runs a call in the link of its client. When the call could not be sent because the session of the link had ended, the call runs once more
 * in the next link. A call that was sent never runs again, because the upstream may have served the call.
 */
const inLink = (
  self: Self,
  { method, session }: Request,
  run: (link: Link) => Effect.Effect<JsonObject, McpError | NotSent>
): Effect.Effect<JsonObject, McpError> => {
  const attempt = Effect.scoped(Effect.flatMap(self.link(session), run))
  return attempt.pipe(
    Effect.catchTag(
      "NotSent",
      ({ link }) => Effect.zipRight(TimeLimit.end(Deferred.await(link.gone), self.connectTimeout), attempt)
    ),
    Effect.catchTag("NotSent", ({ error }) => UpstreamError.fail(self.name, method, error))
  )
}

/** Runs a call at an upstream of revision 2026-07-28, which sends its questions in a result. */
const modern = (self: Self, link: Link, request: Request): Effect.Effect<JsonObject, McpError | NotSent> => {
  const { method, params, round, session } = request
  const { state, task } = stateOf(round)
  return link.during({ session: () => session, ask: UpstreamQuestions.ask(session) }, (marks) => {
    const called = task === undefined
      ? inRounds(self, link, request, marks, { ...params, ...retry(round?.responses, state) })
      : ofTask(self, link, request, task, round?.responses)
    // A client of revision 2025-11-25 that wants a task gets the task at once, even if the upstream does not make a task.
    return isLegacy(session.version)
      ? Effect.zipRight(
        Effect.catchAll(session.startTask, (error) => UpstreamError.fail(self.name, method, error)),
        called
      )
      : called
  })
}

/** Sends the request. When the result has questions of the upstream, asks the client, and sends the request again with the answers. */
const inRounds = Effect.fnUntraced(function*(
  self: Self,
  link: Link,
  request: Request,
  marks: Marks,
  first: JsonObject
) {
  const { method, params, round, session } = request
  let sent = first
  for (let rounds = 0;; rounds++) {
    const sending = send(self, link, () => session, method, sent, marks)
    const result = yield* rounds === 0 ? sending : begun(self, method, sending)
    const { resultType, taskId } = result
    if (resultType === undefined || resultType === "complete") return withoutStamp(result)
    if (resultType === CREATED.type && method === CREATED.method && typeof taskId === "string") {
      return yield* ofTask(self, link, request, taskId, undefined)
    }
    if (resultType !== "input_required") return yield* invalid(self, method)
    const { questions, state } = yield* asked(self, method, result)
    if (round !== undefined) return yield* round.pass(questions, JSON.stringify({ state }))
    if (rounds >= MAX_ROUNDS) return yield* UpstreamError.of(self.name, `asks too many times to serve "${method}"`)
    const responses = yield* Effect.catchAll(
      answers(session, questions),
      (error) => UpstreamError.fail(self.name, method, error)
    )
    sent = { ...params, ...retry(responses, state) }
  }
})

/**
 * Sends a further request of a call. When this request cannot be sent, the call fails and does not start again, because the upstream has
 * already got the first request.
 */
const begun = (
  { name }: Self,
  method: string,
  sending: Effect.Effect<JsonObject, McpError | NotSent>
): Effect.Effect<JsonObject, McpError> =>
  Effect.catchTag(sending, "NotSent", ({ error }) => UpstreamError.fail(name, method, error))

/** Returns the questions and the `requestState` in a result of the type "input_required". */
const asked = (
  self: Self,
  method: string,
  { inputRequests, requestState }: JsonObject
): Effect.Effect<{ readonly questions: UpstreamQuestions.Questions; readonly state: string | undefined }, McpError> => {
  const questions = UpstreamQuestions.of(inputRequests)
  if (questions === undefined || (requestState !== undefined && typeof requestState !== "string")) {
    return Effect.fail(invalid(self, method))
  }
  if (Object.keys(questions).length > UpstreamQuestions.MAX) {
    return Effect.fail(
      UpstreamError.of(self.name, `asks more than ${UpstreamQuestions.MAX} questions at once to serve "${method}"`)
    )
  }
  return Effect.succeed({ questions, state: requestState })
}

/** Asks the client the questions, one after another. Returns the answers, by the keys of the questions. */
const answers = (
  session: ServerSessionService,
  questions: UpstreamQuestions.Questions
): Effect.Effect<JsonObject, AskError> =>
  Effect.map(
    Effect.forEach(
      Object.entries(questions),
      ([key, question]) => Effect.map(UpstreamQuestions.ask(session)(question), (answer) => [key, answer] as const)
    ),
    Object.fromEntries
  )

/**
 * Waits for the task that a call has become at an upstream of revision 2026-07-28. `responses` are the client's answers to questions of the
 * task.
 */
const ofTask = (
  self: Self,
  link: Link,
  { method, session }: Request,
  taskId: string,
  responses: JsonObject | undefined
): Effect.Effect<JsonObject, McpError> => {
  const waiting = UpstreamTask.modern(link.session, taskId, {
    start: session.startTask,
    ask: UpstreamQuestions.ask(session),
    // When the client's call is not a task, the client answers with a new request, and this request continues the call.
    pass: () => {
      const now = session.round
      return now === undefined ? undefined : (questions) => now.pass(questions, JSON.stringify({ task: taskId }))
    },
    responses,
    capabilities: declared(self, session, method)
  })
  return Effect.map(Effect.catchAll(waiting, (error) => UpstreamError.fail(self.name, method, error)), withoutStamp)
}

/** Runs a call at an upstream of revision 2025-11-25 or earlier. Such an upstream asks its questions while the call runs. */
const legacy = (
  self: Self,
  link: Link,
  request: Request,
  running: Running
): Effect.Effect<JsonObject, McpError | NotSent> => {
  const { method, params, support } = request
  // As a task the call has no timeout, and continues when the connection is lost.
  const isTask = declares(link.session.serverCapabilities, "tasks.requests.tools.call") &&
    (support === "required" || (support === "optional" && running.session().taskId !== undefined))
  return link.during(
    running,
    (marks) =>
      isTask
        ? asTask(self, link, request, running, marks)
        : send(self, link, running.session, method, params, marks)
  )
}

/** Sends a call that the upstream runs as a task, and waits for the task. */
const asTask = (self: Self, link: Link, { method, params }: Request, { session }: Running, marks: Marks) =>
  link.reporting(
    reportTo(session),
    Effect.fnUntraced(function*(listen: (token: RequestId) => void) {
      marks.task = true
      const result = yield* send(self, link, session, method, { ...params, task: {} }, marks, listen)
      const { taskId } = (result.task ?? {}) as JsonObject
      if (typeof taskId !== "string") {
        marks.task = undefined
        return result
      }
      marks.task = taskId
      const ended = yield* Effect.catchAll(
        UpstreamTask.legacy(link.session, taskId),
        (error) => UpstreamError.fail(self.name, method, error)
      )
      return withoutTask(ended)
    })
  )

const send = (
  self: Self,
  link: Link,
  session: () => ServerSessionService,
  method: string,
  params: JsonObject,
  marks: Marks,
  listen?: (id: RequestId) => void
): Effect.Effect<JsonObject, McpError | NotSent> => {
  const { client: { logLevel }, meta, version } = session()
  const isModern = link.session.era === "modern"
  // A client of revision 2026-07-28 sends its log level with each request. A legacy upstream needs a separate request for the level.
  const leveled = isModern || logLevel === undefined || isLegacy(version) ? Effect.void : link.setLevel(logLevel)
  const requested = Effect.catchAll(
    link.session.request(method, params, {
      onId: (id) => {
        marks.requests.add(id)
        listen?.(id)
      },
      // A client of revision 2025-11-25 or earlier that has set no level gets every message.
      ...(isModern
        ? {
          capabilities: declared(self, session(), method),
          logLevel: logLevel ?? (isLegacy(version) ? "debug" : undefined)
        }
        : undefined),
      ...(meta.progressToken === undefined ? undefined : {
        onProgress: reportTo(session),
        resetTimeoutOnProgress: true
      })
    }),
    (error): Effect.Effect<never, McpError | NotSent> =>
      error._tag === "ConnectionClosed" && error.isUnsent === true
        ? new NotSent({ link, error })
        : UpstreamError.fail(self.name, method, error)
  )
  return leveled === Effect.void ? requested : Effect.zipRight(leveled, requested)
}

/**
 * Returns the capabilities that a request declares to the upstream. For a method that an extension adds, the request declares this
 * extension if the client declares it. For any other method, the request declares the extension of tasks if the proxy passes on tasks.
 * Every request declares the extensions in `always` that the client declares.
 */
const declared = (self: Self, session: ServerSessionService, method: string): ClientCapabilities => {
  const { capabilities } = session.client
  const id = self.extensionOf.get(method)
  const settings = (id: string) => {
    const given = capabilities.extensions?.[id]
    return given === undefined ? undefined : { [id]: given }
  }
  const own = id === undefined ? undefined : settings(id)
  const extensions = Object.assign(
    {},
    own ?? (self.runsTasks ? { [tasks.id]: {} } : undefined),
    ...self.always.map(settings)
  )
  return {
    ...UpstreamQuestions.passed(capabilities),
    ...(Object.keys(extensions).length === 0 ? undefined : { extensions })
  }
}

const invalid = ({ name }: Self, method: string) => UpstreamError.of(name, `sent no valid result of "${method}"`)

const reportTo =
  (session: () => ServerSessionService) => ({ message, progress, total }: Progress): Effect.Effect<void> =>
    Effect.suspend(() => session().progress(progress, { total, message }))

/**
 * Returns whether an extension consists only of settings and metadata. Such an extension does not add requests, notifications or results. A
 * proxy passes on its settings and metadata.
 */
const addsNothing = ({ notifications, requests, results }: Extension.Extension.Any): boolean =>
  [notifications, requests, results].every((parts) => Object.keys(parts).length === 0)

const isLegacy = (version: string): boolean => version < "2026-07-28"

/**
 * Returns the state that the proxy has sent to the client together with the last questions, and that the client has sent back. `call` is
 * the id of a call in `WaitingCalls`, `state` is the state of the upstream, `task` is the id of a task at the upstream.
 */
const stateOf = (
  round: PassedRound | undefined
): { readonly call?: string; readonly state?: string; readonly task?: string } =>
  round?.state === undefined ? {} : JSON.parse(round.state)

const retry = (inputResponses: JsonObject | undefined, requestState: string | undefined): JsonObject => ({
  ...(inputResponses === undefined ? undefined : { inputResponses }),
  ...(requestState === undefined ? undefined : { requestState })
})

/**
 * Returns the `_meta` of a message for the upstream, without the members that belong to the connection of the client. The upstream
 * continues the trace of the proxy, which may differ from the trace of the client (`newTrace` of `ServerTelemetry`). When the proxy has no
 * span, the upstream continues the trace of the client.
 */
const passedMeta = (meta: JsonObject): Effect.Effect<JsonObject> =>
  Effect.map(Effect.serviceOption(Tracer.ParentSpan), (span) => {
    const passed = { ...meta }
    for (const key of own) delete passed[key]
    return Option.isNone(span) ? passed : { ...passed, ...TraceContext.inject(span.value) }
  })

const own = [
  keys.progressToken,
  keys.protocolVersion,
  keys.clientCapabilities,
  keys.clientInfo,
  keys.logLevel,
  // `ClientTelemetry` adds the next two members if the application wants them.
  keys.tracestate,
  keys.baggage,
  HOPS
]

/** Returns the result without the id of the task at the upstream. */
const withoutTask = ({ _meta, ...result }: JsonObject): JsonObject => {
  const { [keys.relatedTask]: _, ...meta } = (_meta ?? {}) as JsonObject
  return Object.keys(meta).length === 0 ? result : { ...result, _meta: meta }
}

/**
 * Returns the result without its `resultType` and without the `serverInfo` of the upstream. The proxy's own server adds its own values for
 * these members.
 */
const withoutStamp = ({ _meta, resultType: _, ...result }: JsonObject): JsonObject => {
  const { [keys.serverInfo]: __, ...meta } = (_meta ?? {}) as JsonObject
  return Object.keys(meta).length === 0 ? result : { ...result, _meta: meta }
}

/** The object that `RequestContext` provides also implements `ServerSession`. */
const requestSession = RequestContext as unknown as Effect.Effect<ServerSessionService, never, RequestContext>

/**
 * Makes the handlers that pass on the requests and notifications of extensions from clients to the upstream, if the client has declared the
 * extension. The proxy does not pass on requests and notifications that an upstream sends by an extension. It also does not pass on the
 * results that an extension adds to other methods.
 */
export const extensionRequests = (
  extensions: ReadonlyArray<Extension.Extension.Any>,
  forward: Forward,
  notify: (session: ServerSessionService, method: string, params: JsonObject) => Effect.Effect<void, McpError>
): Layer.Layer<never, never, Registry> => {
  const ofClients = <Part extends { readonly from: string }>(parts: Readonly<Record<string, Part>>) =>
    Object.values(parts).filter(({ from }) => from === "client")
  const requests = extensions.flatMap(({ requests }) => ofClients(requests as Record<string, Extension.Request>))
  const notifications = extensions.flatMap(({ notifications }) =>
    ofClients(notifications as Record<string, Extension.Notification>)
  )
  return Layer.mergeAll(
    Layer.empty,
    ...requests.map((one) =>
      MethodHandler.request(
        { ...one, params: JsonObject, result: JsonObject } as Extension.Request<"client", JsonObject, JsonObject>,
        (params) => Effect.flatMap(requestSession, (session) => forward(session, one.name, params))
      )
    ),
    ...notifications.map((one) =>
      MethodHandler.notification(
        { ...one, params: JsonObject } as Extension.Notification<"client", JsonObject>,
        (params) =>
          Effect.gen(function*() {
            const session = yield* requestSession
            const sent = { ...params, _meta: yield* passedMeta(session.meta) }
            yield* Effect.ignore(notify(session, one.name, sent))
          })
      )
    )
  ) as Layer.Layer<never, never, Registry>
}

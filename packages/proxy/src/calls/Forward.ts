/**
 * Sends a request of a client to the upstream, and gives the result as the upstream sent it. Parameters, `_meta` and progress are
 * passed on; interrupting the effect cancels the request at the upstream. Questions of the upstream go to the client, in the way that
 * the eras of both sides have. Requests and notifications of extensions are passed on in the same way.
 *
 * `Link` chooses the client that gets a question; `WaitingCalls` keeps the calls of clients that answer with another request;
 * `UpstreamTask` waits for the tasks that calls become.
 */
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
import type { PassedRound, ServerSessionService } from "@effect-mcp/core/ServerSession"
import { extension as tasks } from "@effect-mcp/core/TasksClient"
import * as Session from "@effect-mcp/core/unstable/server/Session"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Link, Running } from "../upstream/Link.js"
import * as Questions from "../upstream/Questions.js"
import * as UpstreamError from "../upstream/UpstreamError.js"
import * as UpstreamTask from "./UpstreamTask.js"
import type { WaitingCalls } from "./WaitingCalls.js"

export interface Options {
  readonly name: string
  readonly link: (session: ServerSessionService) => Effect.Effect<Link, McpError, Scope.Scope>
  /** The era of the upstream. */
  readonly era: Effect.Effect<Era, McpError>
  readonly kept: WaitingCalls
  /** The extensions that the proxy passes on. */
  readonly extensions: ReadonlyArray<Extension.Extension.Any>
}

/**
 * Sends a request to the upstream for the client of `session`. `support` is the `taskSupport` of a tool, as an upstream up to
 * 2025-11-25 lists the tool.
 */
export type Forward = (
  session: ServerSessionService,
  method: string,
  params: JsonObject,
  support?: "optional" | "required"
) => Effect.Effect<JsonObject, McpError>

/** The key of `_meta` that counts how many proxies of this library a request has passed. */
export const HOPS = "io.github.effect-mcp/hops"

const MAX_HOPS = 16

const CREATED = tasks.results.created

/** The support of a tool for tasks. */
type Support = Parameters<Forward>[3]

/** How many times an upstream of 2026-07-28 may ask in one call of a client that does not see the rounds. */
const MAX_ROUNDS = 10

export const make = (options: Options): Forward => {
  const { extensions, kept, name } = options
  const extensionOf = new Map(
    extensions.flatMap(({ id, requests }) =>
      (Object.values(requests) as ReadonlyArray<Extension.Request>).map(({ name }) => [name, id] as const)
    )
  )
  const runsTasks = extensions.some(({ id }) => id === tasks.id)
  const always = extensions.filter(addsNothing).map(({ id }) => id)
  /**
   * The capabilities that a request declares to the upstream. The proxy declares tasks itself. It declares another extension as the
   * client does: only in the requests that the extension adds, or in every request when the extension adds no requests.
   */
  const declared = (session: ServerSessionService, method: string): ClientCapabilities => {
    const { capabilities } = session.client
    const id = extensionOf.get(method)
    const settings = (id: string) => {
      const given = capabilities.extensions?.[id]
      return given === undefined ? undefined : { [id]: given }
    }
    const own = id === undefined ? undefined : settings(id)
    const declared = Object.assign({}, own ?? (runsTasks ? { [tasks.id]: {} } : undefined), ...always.map(settings))
    return {
      ...Questions.passed(capabilities),
      ...(Object.keys(declared).length === 0 ? undefined : { extensions: declared })
    }
  }

  const send = (
    link: Link,
    session: () => ServerSessionService,
    method: string,
    params: JsonObject,
    onId?: (id: RequestId) => void
  ): Effect.Effect<JsonObject, McpError> => {
    const { client: { logLevel }, meta, version } = session()
    const isModern = link.session.era === "modern"
    // A client of 2026-07-28 sends its log level with each request.
    const leveled = isModern || logLevel === undefined || isLegacy(version) ? Effect.void : link.setLevel(logLevel)
    const requested = Effect.catchAll(
      link.session.request(method, params, {
        onId,
        // A legacy client that has set no level receives every message.
        ...(isModern
          ? {
            capabilities: declared(session(), method),
            logLevel: logLevel ?? (isLegacy(version) ? "debug" : undefined)
          }
          : undefined),
        ...(meta.progressToken === undefined ? undefined : {
          onProgress: reportTo(session),
          resetTimeoutOnProgress: true
        })
      }),
      (error) => UpstreamError.fail(name, method, error)
    )
    return leveled === Effect.void ? requested : Effect.zipRight(leveled, requested)
  }

  const invalid = (method: string) => UpstreamError.of(name, `sent no valid result of "${method}"`)

  /** A call at an upstream of 2026-07-28, which asks by its result. */
  const modern = (
    link: Link,
    session: ServerSessionService,
    round: PassedRound | undefined,
    method: string,
    params: JsonObject
  ): Effect.Effect<JsonObject, McpError> => {
    /** Waits for the task that the call has become. `responses` are the client's answers to questions of the task. */
    const awaited = (taskId: string, responses: JsonObject | undefined): Effect.Effect<JsonObject, McpError> => {
      const waiting = UpstreamTask.modern(link.session, taskId, {
        start: session.startTask,
        ask: Questions.ask(session),
        // A client whose call is no task answers with another request, which goes on with the call.
        pass: () => {
          const now = session.round
          return now === undefined ? undefined : (questions) => now.pass(questions, JSON.stringify({ task: taskId }))
        },
        responses,
        capabilities: declared(session, method)
      })
      return Effect.map(Effect.catchAll(waiting, (error) => UpstreamError.fail(name, method, error)), withoutStamp)
    }
    const calling = (sent: JsonObject, count: number): Effect.Effect<JsonObject, McpError> =>
      Effect.flatMap(send(link, () => session, method, sent), (result): Effect.Effect<JsonObject, McpError> => {
        const { resultType } = result
        if (resultType === undefined || resultType === "complete") return Effect.succeed(withoutStamp(result))
        if (resultType === CREATED.type && method === CREATED.method && typeof result.taskId === "string") {
          return awaited(result.taskId, undefined)
        }
        if (resultType !== "input_required") return Effect.fail(invalid(method))
        const questions = Questions.of(result.inputRequests)
        const state = result.requestState
        if (questions === undefined || (state !== undefined && typeof state !== "string")) {
          return Effect.fail(invalid(method))
        }
        if (Object.keys(questions).length > Questions.MAX) {
          return Effect.fail(
            UpstreamError.of(name, `asks more than ${Questions.MAX} questions at once to serve "${method}"`)
          )
        }
        if (round !== undefined) return round.pass(questions, JSON.stringify({ state }))
        if (count >= MAX_ROUNDS) return Effect.fail(UpstreamError.of(name, `asks too many times to serve "${method}"`))
        const answers = Effect.forEach(
          Object.entries(questions),
          ([key, question]) => Effect.map(Questions.ask(session)(question), (answer) => [key, answer] as const)
        )
        return Effect.flatMap(
          Effect.catchAll(answers, (error) => UpstreamError.fail(name, method, error)),
          (answers) => calling({ ...params, ...retry(Object.fromEntries(answers), state) }, count + 1)
        )
      })
    const { state, task } = stateOf(round)
    const called = task === undefined
      ? calling({ ...params, ...retry(round?.responses, state) }, 0)
      : awaited(task, round?.responses)
    return link.during(
      { session: () => session, ask: Questions.ask(session) },
      // A client of 2025-11-25 that wants a task has it at once, whatever the upstream does.
      isLegacy(session.version)
        ? Effect.zipRight(
          Effect.catchAll(session.startTask, (error) => UpstreamError.fail(name, method, error)),
          called
        )
        : called
    )
  }

  /** A call at an upstream up to 2025-11-25, which asks while the call runs. */
  const legacy = (link: Link, method: string, params: JsonObject, support: Support) => (running: Running) => {
    // A task has no time-out, and goes on when the connection is lost.
    const isTask = declares(link.session.serverCapabilities, "tasks.requests.tools.call") &&
      (support === "required" || (support === "optional" && Session.isTask(running.session())))
    return link.during(
      running,
      !isTask
        ? send(link, running.session, method, params)
        : link.reporting(
          reportTo(running.session),
          (listen) =>
            Effect.flatMap(send(link, running.session, method, { ...params, task: {} }, listen), (result) => {
              const { taskId } = (result.task ?? {}) as JsonObject
              return typeof taskId !== "string" ? Effect.succeed(result) : Effect.map(
                Effect.catchAll(
                  UpstreamTask.legacy(link.session, taskId),
                  (error) => UpstreamError.fail(name, method, error)
                ),
                withoutTask
              )
            })
        )
    )
  }

  return (session, method, params, support) => {
    const before = session.meta[HOPS] ?? 0
    const hops = typeof before === "number" ? before + 1 : NaN
    if (!(hops >= 1 && hops <= MAX_HOPS)) {
      return Effect.fail(
        new InvalidRequest({ message: `The request has passed ${MAX_HOPS} proxies: a proxy may be its own upstream` })
      )
    }
    const sent = { ...params, _meta: { ...passedMeta(session.meta), [HOPS]: hops } }
    const { round } = session
    const { kept: id } = stateOf(round)
    const calling = Effect.flatMap(options.link(session), (link) => {
      if (link.session.era === "modern") return modern(link, session, round, method, sent)
      return legacy(link, method, sent, support)({ session: () => session, ask: Questions.ask(session) })
    })
    if (round === undefined) return Effect.scoped(calling)
    const keeping = kept.serve(
      session,
      round,
      id,
      (running) =>
        Effect.scoped(Effect.flatMap(options.link(session), (link) => legacy(link, method, sent, support)(running)))
    )
    return id === undefined
      // An upstream of 2026-07-28 keeps nothing between the rounds: its state travels in the sealed state of the client.
      ? Effect.flatMap(options.era, (era) => era === "modern" ? Effect.scoped(calling) : keeping)
      : keeping
  }
}

const reportTo =
  (session: () => ServerSessionService) => ({ message, progress, total }: Progress): Effect.Effect<void> =>
    Effect.suspend(() => session().progress(progress, { total, message }))

/** Whether an extension consists of settings and metadata only, all of which a proxy passes on. */
const addsNothing = ({ notifications, requests, results }: Extension.Extension.Any): boolean =>
  [notifications, requests, results].every((parts) => Object.keys(parts).length === 0)

const isLegacy = (version: string): boolean => version < "2026-07-28"

/** The state that this module gave the client in the round before. */
const stateOf = (
  round: PassedRound | undefined
): { readonly kept?: string; readonly state?: string; readonly task?: string } =>
  round?.state === undefined ? {} : JSON.parse(round.state)

const retry = (inputResponses: JsonObject | undefined, requestState: string | undefined): JsonObject => ({
  ...(inputResponses === undefined ? undefined : { inputResponses }),
  ...(requestState === undefined ? undefined : { requestState })
})

/** `_meta` of a request without the members that belong to one connection. */
const passedMeta = (meta: JsonObject): JsonObject => {
  const passed = { ...meta }
  for (const key of own) delete passed[key]
  return passed
}

const own = [keys.progressToken, keys.protocolVersion, keys.clientCapabilities, keys.clientInfo, keys.logLevel, HOPS]

/** A result without the id of the upstream's task that the result comes from. */
const withoutTask = ({ _meta, ...result }: JsonObject): JsonObject => {
  const { [keys.relatedTask]: _, ...meta } = (_meta ?? {}) as JsonObject
  return Object.keys(meta).length === 0 ? result : { ...result, _meta: meta }
}

/** A result without its type and without the name of the upstream: the server writes its own. */
const withoutStamp = ({ _meta, resultType: _, ...result }: JsonObject): JsonObject => {
  const { [keys.serverInfo]: __, ...meta } = (_meta ?? {}) as JsonObject
  return Object.keys(meta).length === 0 ? result : { ...result, _meta: meta }
}

/** The service of `RequestContext` is the object that implements `ServerSession`, too. */
const requestSession = RequestContext as unknown as Effect.Effect<ServerSessionService, never, RequestContext>

/**
 * Passes on the requests and notifications that extensions let clients send, for clients that have declared the extensions. The
 * notifications and requests that extensions let servers send are not passed on, nor are the results that extensions add to other
 * methods.
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
        (params) => Effect.flatMap(requestSession, (session) => Effect.ignore(notify(session, one.name, params)))
      )
    )
  ) as Layer.Layer<never, never, Registry>
}

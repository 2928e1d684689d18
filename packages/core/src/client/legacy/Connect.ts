/**
 * Makes a session of the legacy era (revisions up to 2025-11-25), when `Negotiation` has chosen that era. It sends `initialize`, or
 * continues a session that an earlier connection has begun. It answers requests of the server with the features of the client, and calls
 * tools as tasks of revision 2025-11-25. `modern/Connect` does the same for the modern era.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Params } from "../../jsonrpc/Message.js"
import type { Outbound } from "../../jsonrpc/Outbound.js"
import * as SingleFlight from "../../kit/SingleFlight.js"
import { type ClientCapabilities, declares } from "../../protocol/Capabilities.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as TaskMethods from "../../protocol/legacy/TaskMethods.js"
import type * as Method from "../../protocol/Method.js"
import * as Mend from "../../protocol/schema/Mend.js"
import * as Tasks from "../../protocol/Tasks.js"
import * as TaskPoll from "../../protocol/tasks/TaskPoll.js"
import type { CallToolResult } from "../../protocol/Tools.js"
import * as Version from "../../protocol/Version.js"
import { type ClientError, type ConnectError, fromCall, NoCommonVersion, TaskEnded } from "../ClientError.js"
import type { CallOptions } from "../ClientSession.js"
import * as EraEvidence from "../http/EraEvidence.js"
import * as DeclaredCapabilities from "../session/DeclaredCapabilities.js"
import * as Decoding from "../session/Decoding.js"
import { type EraTasks, goneOr, type OpenTask, type RequestOptions } from "../session/EraTasks.js"
import * as ExtensionMethods from "../session/ExtensionMethods.js"
import * as ListPages from "../session/ListPages.js"
import * as MethodCalls from "../session/MethodCalls.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import type { EraHandlers, Opening } from "../session/Opening.js"
import * as InboundHandlers from "./InboundHandlers.js"
import * as InboundTasks from "./InboundTasks.js"
import * as MethodTable from "./MethodTable.js"

export const connect = (
  { conversation, hub, scope, setEra, transport }: Opening,
  options: Options<Version.LegacyVersion>,
  requested: Version.LegacyVersion
): Effect.Effect<NegotiatedSession, ConnectError> =>
  Effect.gen(function*() {
    const { enforceCapabilities, extensions, features, prior, timeouts, versions } = options
    const resumed = transport.exchanges?.isResumed === true && prior !== undefined && isSpoken(prior, versions)
      ? prior
      : undefined
    const tasks = features.tasks === undefined ? undefined : yield* Scope.extend(
      InboundTasks.make(features.tasks, conversation, hub.report, options.closeTimeout),
      scope
    )
    // Requests that arrive before the handshake has ended are answered in the requested revision.
    let version = resumed?.version ?? requested
    const handlers: EraHandlers = {
      onRequest: InboundHandlers.make(conversation, options, hub.report, tasks, () => version),
      ownLimit: ({ method }) => method === TaskMethods.getTaskPayload.name ? tasks?.resultLimit : undefined
    }
    setEra(handlers)
    const outbound = options.tracing?.traced(conversation, () => version, Methods.table, extensions) ?? conversation
    const capabilities = DeclaredCapabilities.of(features, extensions.declared(version))
    const facts = resumed ?? (yield* initialize(outbound, options, requested, capabilities, hub.report))
    version = facts.version
    // Pings begin only now, because a server that is still starting may answer no pings, and would count as gone.
    setEra({ ...handlers, ping: Methods.ping.name })
    const declared = { client: capabilities, server: facts.serverCapabilities }
    const calls = MethodCalls.make({
      outbound,
      version,
      timeouts,
      report: hub.report,
      table: MethodTable.calls,
      refusal: MethodCalls.refusals(Methods.table, version, declared, enforceCapabilities, extensions)
    })
    return {
      facts,
      ...calls,
      extended: ExtensionMethods.make(options, hub, facts, { request: calls.request, notify: outbound.notify }, {
        call: calls.request,
        // Results of this era have no type.
        either: ({ method }, params, options) => Effect.map(calls.call(method, params as never, options), Either.right),
        subscribe: undefined
      }),
      tasks: eraTasks(calls, facts, hub.report),
      notify: outbound.notify,
      notifications: hub.streams,
      report: hub.report,
      awaitSubscription: Effect.void,
      ended: conversation.ended
    }
  })

const isSpoken = (
  prior: ServerFacts,
  versions: ReadonlyArray<Version.LegacyVersion>
): prior is ServerFacts<Version.LegacyVersion> => (versions as ReadonlyArray<string>).includes(prior.version)

interface TaskRequests {
  readonly calls: MethodCalls.Calls
  readonly report: Decoding.Report
}

const eraTasks = (
  calls: MethodCalls.Calls,
  { serverCapabilities, version }: ServerFacts<Version.LegacyVersion>,
  report: Decoding.Report
): EraTasks => {
  const self: TaskRequests = { calls, report }
  return {
    // The client MUST NOT send `task` to a server that has not declared this capability.
    decides: version === "2025-11-25" && declares(serverCapabilities, "tasks.requests.tools.call")
      ? "client"
      : undefined,
    call: (params, options, task) =>
      task === undefined
        ? Effect.map(calls.call("tools/call", params, options), Either.right)
        : callAsTask(self, Methods.callTool.narrowParams(version)({ ...params, task }) as Params, options),
    open: (taskId, first, options) => openTask(self, taskId, first, options),
    list: (options) => listTasks(self, options)
  }
}

const request = <A>(
  self: TaskRequests,
  { name }: Pick<Method.Request, "name">,
  decode: Method.Decode<A>,
  params: Params | undefined,
  options: CallOptions | undefined
): Effect.Effect<A, ClientError> =>
  Effect.flatMap(self.calls.request(name, params, options), (result) => decoded(self, name, decode, result))

const decoded = <A>(
  { report }: TaskRequests,
  name: string,
  decode: Method.Decode<A>,
  result: Params
): Effect.Effect<A, ClientError> => Decoding.decodeOrFail(name, decode, result, report)

const callAsTask = (
  self: TaskRequests,
  params: Params,
  options: CallOptions | undefined
): Effect.Effect<Either.Either<any, Tasks.Task>, ClientError> => {
  const { decodeResult, name } = Methods.callTool
  return Effect.flatMap(
    self.calls.request(name, params, options),
    (result): Effect.Effect<Either.Either<any, Tasks.Task>, ClientError> =>
      result["task"] === undefined
        ? Effect.map(decoded(self, name, decodeResult, result), Either.right)
        : Effect.map(decoded(self, name, decodeCreated, result), ({ task }) => Either.left(task))
  )
}

const openTask = (
  self: TaskRequests,
  taskId: string,
  first: Tasks.Task | undefined,
  options: RequestOptions | undefined
): Effect.Effect<OpenTask> => {
  const params = { taskId }
  const limits = { timeout: options?.timeout }
  const get = Effect.mapError(
    request(self, TaskMethods.getTask, TaskMethods.getTask.decodeResult, params, limits),
    goneOr(taskId)
  )
  const fetch = (isWaiting: boolean) =>
    // The result of the task has the schema of the result of the call.
    request(
      self,
      TaskMethods.getTaskPayload,
      Methods.callTool.decodeResult,
      params,
      isWaiting ? { timeout: Duration.infinity } : limits
    ).pipe(
      // The error may mean that the server has refused the parameters of the call, or that it no longer has the task. `get` finds out.
      Effect.tapErrorTag("InvalidParams", () => get)
    )
  return Effect.map(TaskPoll.make<Tasks.Task, ClientError>(get, first), (poll) => ({
    poll,
    result: SingleFlight.make<CallToolResult, ClientError>().join(TaskPoll.result(
      poll,
      fetch,
      ({ statusMessage }) => new TaskEnded({ taskId, reason: "Cancelled", statusMessage })
    )),
    cancel: TaskPoll.cancel(poll, get, self.calls.request(TaskMethods.cancelTask.name, params, limits)),
    // The server notifies only the session that has begun the task, and may send no notifications at all.
    listen: Effect.void
  }))
}

const listTasks = (self: TaskRequests, options: CallOptions | undefined): Stream.Stream<Tasks.Task, ClientError> => {
  const { decodeResult, name } = TaskMethods.listTasks
  return ListPages.stream(
    name,
    (cursor) =>
      request(self, TaskMethods.listTasks, decodeResult, cursor === undefined ? undefined : { cursor }, options),
    ({ tasks }) => tasks,
    self.report
  )
}

const decodeCreated = Mend.decoder(Tasks.CreateTaskResult, "client")

/** Sends `initialize`. The client never cancels this request, because it MUST NOT cancel `initialize`. */
const initialize = (
  outbound: Outbound,
  { clientInfo, timeouts, versions }: Options<Version.LegacyVersion>,
  requested: Version.LegacyVersion,
  capabilities: ClientCapabilities,
  report: Decoding.Report
): Effect.Effect<ServerFacts<Version.LegacyVersion>, ConnectError> =>
  Effect.gen(function*() {
    const { name } = Methods.initialize
    const answered = yield* Effect.mapError(
      EraEvidence.patiently(outbound.request(
        name,
        // The parameters have only members of the requested revision, because a server may know no later revision.
        Methods.initialize.narrowParams(requested)({
          protocolVersion: requested,
          capabilities,
          clientInfo
        }) as JsonObject,
        { cancelOnAbandon: false, timeout: timeouts.get(name) }
      )),
      fromCall
    )
    const result = yield* Decoding.decodeOrFail(name, Methods.initialize.decodeResult, answered, report)
    const agreed = Version.agreed(result.protocolVersion, versions)
    if (Option.isNone(agreed)) {
      return yield* new NoCommonVersion({ offered: result.protocolVersion, supported: versions })
    }
    yield* outbound.notify(Methods.initialized.name)
    return {
      version: agreed.value,
      serverInfo: result.serverInfo,
      serverCapabilities: result.capabilities,
      instructions: result.instructions
    }
  })

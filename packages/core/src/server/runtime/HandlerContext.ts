/**
 * The context of the handler of one message. This object implements `RequestContext` and `ServerSession`, for all protocol revisions and
 * for tasks. `ClientFacts` are the facts about the client. `Speech` contains the functions that depend on the revision (legacy: up to
 * 2025-11-25; modern: 2026-07-28). An `Asker` asks the handler's questions.
 *
 * `Serve` makes a context for each request. The class uses getters, because most handlers read few members. A getter returns a function, so
 * that the function also works without the object. Mutable fields: `lastProgress` is the last progress that was sent. `Pipeline` and
 * `Serve` set `fiber`. `TaskCall` sets `startTask`. `begin` sets `task`, and replaces `outbound` and the asker. The other fields are made
 * when first needed.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as SchemaParser from "../../definition/schema/SchemaParser.js"
import { JsonRpcError } from "../../jsonrpc/JsonRpcError.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import type { Notification, Params, Request, RequestId } from "../../jsonrpc/Message.js"
import type { CallError, Outbound, RequestOptions } from "../../jsonrpc/Outbound.js"
import type { Outcome } from "../../jsonrpc/Outcome.js"
import * as Progress from "../../jsonrpc/Progress.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import type * as Extension from "../../protocol/Extension.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import type { Implementation } from "../../protocol/Implementation.js"
import * as Issue from "../../protocol/Issue.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { LoggingLevel } from "../../protocol/Logging.js"
import * as McpError from "../../protocol/McpError.js"
import type { RequestMeta } from "../../protocol/Meta.js"
import type * as Method from "../../protocol/Method.js"
import type { Root } from "../../protocol/Roots.js"
import type { Version } from "../../protocol/Version.js"
import * as Ask from "../Ask.js"
import type { Principal, Refuses } from "../Authenticator.js"
import type { Hints } from "../CacheHints.js"
import type { Call } from "../Middleware.js"
import type { ClientOfRequest, RequestContextService } from "../RequestContext.js"
import type { AskError, PassedRound, ServerSessionService } from "../ServerSession.js"
import type { StoredTask } from "../TaskStore.js"
import type { Asker, Keyed, RequestChannel } from "./Asker.js"
import * as HandlerOutcome from "./HandlerOutcome.js"
import * as RequestOrigin from "./RequestOrigin.js"
import type { Route } from "./Route.js"
import type { KeptSession } from "./SessionLayer.js"
import type { TaskDialect } from "./TaskDialect.js"

/** The facts about the client that sent a message. `RequestContext` describes the members. */
export interface ClientFacts {
  readonly version: Version
  readonly requestedVersion: string | undefined
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: Capabilities.ClientCapabilities
  /**
   * Whether the server knows the client's capabilities. `false` for a request of revision 2025-11-25 or earlier without a conversation.
   */
  readonly hasDeclared: boolean
  readonly clientKey: object | string | undefined
  readonly logLevel: LoggingLevel | undefined
  readonly sessionScope: Scope.Scope | undefined
  /** Whether the session of the client exists. With revision 2025-11-25 or earlier, the handshake begins the session. */
  readonly accepted: boolean
  /** The services of the session layer for this client; `undefined` when the layer has not built services. */
  readonly services: Context.Context<never> | undefined
  /**
   * With revision 2026-07-28 or later: the session layer of the pipe of the message. There is no handshake, so the first request builds the
   * layer.
   */
  readonly pipe?: KeptSession | undefined
  /** The cache hints of the result of this request; `undefined` when the result has no hints of its own. */
  readonly hints: Hints | undefined
}

/** The functions of a handler that differ between legacy revisions (up to 2025-11-25) and modern revisions (2026-07-28). */
export interface Speech<F extends ClientFacts> {
  /** The extensions of the server. */
  readonly extensions: ExtensionTable.ExtensionTable
  readonly notifications: { readonly message: Method.Notification; readonly progress: Method.Notification }
  /** Whether a client receives log messages of a level. */
  readonly receives: (client: F, level: LoggingLevel) => boolean
  /** Whether a client may get a notification that a handler sends. */
  readonly allows: (client: F, notification: string) => boolean
  /** Makes the functions that send outside of any request. */
  readonly standalone: (client: F) => Outbound
  readonly changed: (handler: HandlerContext<F>) => RequestContextService["changed"]
  readonly elicitationComplete: (client: F, elicitationId: string) => Effect.Effect<void>
  readonly asker: (handler: HandlerContext<F>) => Asker
  /** Makes the functions with which a call becomes a task; `undefined` where calls cannot become tasks. */
  readonly tasks: (handler: HandlerContext<F>) => TaskDialect | undefined
  /** Makes the outcome of a request from the end of its handler. `refused` is the reason when the server has refused the request. */
  readonly outcome: (handler: HandlerContext<F>, exit: Exit.Exit<unknown, unknown>, refused?: Refuses) => Outcome
}

/** Encodes the results of a request for a client, with the cache hints of the result. */
export interface Encodes<F extends ClientFacts> {
  /** See `Route.seen`. */
  readonly seen?: Route["seen"]
  readonly encode: (result: unknown, hints: Hints | undefined, client: F) => Outcome
}

export class HandlerContext<F extends ClientFacts = ClientFacts> implements ServerSessionService {
  /** The fiber of the request; `undefined` before the request runs, after the request has ended, and in a task. */
  fiber: Fiber.RuntimeFiber<any, any> | undefined
  startTask: Effect.Effect<void, AskError> = Effect.void
  /** The task that the call has become; `undefined` before the task begins. */
  task: StoredTask | undefined
  /** Whether the handler may go on as a task after the response to its request. */
  outlivesRequest = false
  /** Stores the progress of the task; `undefined` before the task begins. */
  private report: ((progress: Progress.Progress) => Effect.Effect<void>) | undefined
  private lastProgress = -Infinity
  private ownAsker: Asker | undefined
  private ownClient: ClientOfRequest | undefined

  constructor(
    readonly facts: F,
    readonly received: Request | Notification,
    /** Sends messages to the client. For a request: until the response. For a notification: outside of any request. */
    public outbound: RequestChannel,
    private readonly speech: Speech<F>,
    /** The route of the request; `undefined` for a notification, and for a request without a route. */
    private readonly route?: Encodes<F> | undefined
  ) {}

  get id(): RequestId | undefined {
    return (this.received as Request).id
  }

  get method(): string {
    return this.received.method
  }

  get version(): F["version"] {
    return this.facts.version
  }

  get call(): Call {
    const { id, method, received: { params }, route } = this
    return { id, method, params: route?.seen === undefined ? params : route.seen(params) }
  }

  get meta(): RequestMeta {
    return (this.received.params?._meta ?? {}) as RequestMeta
  }

  get headers(): RequestOrigin.RequestOrigin["headers"] {
    return this.origin.headers
  }

  get principal(): Principal | undefined {
    return this.origin.principal
  }

  get taskId(): string | undefined {
    return this.task?.taskId
  }

  get cancelReason(): RequestContextService["cancelReason"] {
    return Effect.sync(() => Option.fromNullable(this.outbound.cancelReason))
  }

  get client(): ClientOfRequest {
    return this.ownClient ??= new Client(this.facts, this.origin.sessionId, this.speech.extensions)
  }

  get progress(): RequestContextService["progress"] {
    return (progress, options) =>
      Effect.suspend(() => {
        const report = { progress, ...options }
        const stored = this.report?.(report)
        const params = Progress.toParams(this.meta.progressToken, report, this.lastProgress)
        if (params === undefined) return stored ?? Effect.void
        this.lastProgress = progress
        const sent = this.send(this.speech.notifications.progress, params)
        return stored === undefined ? sent : Effect.zipRight(stored, sent)
      })
  }

  get log(): RequestContextService["log"] {
    return (level, data, logger) =>
      Effect.suspend(() => {
        if (!this.speech.receives(this.facts, level)) return Effect.void
        // `data` is required, and JSON has no `undefined`, so this code sends null.
        const params = { level, data: data === undefined ? null : data }
        return this.send(this.speech.notifications.message, logger === undefined ? params : { ...params, logger })
      })
  }

  get notify(): RequestContextService["notify"] {
    return (method: string | Extension.Notification, params?: any) =>
      Effect.suspend(() => {
        const notify = this.allowed(this.outbound)
        if (typeof method === "string") return notify(method, params)
        // Drops the notification when the client or the server does not have the extension.
        return isPresent(this.facts, this.speech.extensions, method)
          ? Effect.flatMap(ExtensionTable.encodeParams(method, params), (params) => notify(method.name, params))
          : Effect.void
      })
  }

  get standalone(): Outbound {
    const outbound = this.speech.standalone(this.facts)
    return { request: outbound.request, notify: this.allowed(outbound) }
  }

  get changed(): RequestContextService["changed"] {
    return this.speech.changed(this)
  }

  get elicitationComplete(): RequestContextService["elicitationComplete"] {
    return (elicitationId) => Effect.suspend(() => this.speech.elicitationComplete(this.facts, elicitationId))
  }

  get closeStream(): Effect.Effect<void> {
    return this.origin.closeStream
  }

  get ask(): ServerSessionService["ask"] {
    return (questions, options) => {
      const keyed = Object.entries(questions)
      return Effect.map(
        Effect.suspend(() => this.asker.ask(keyed, options)),
        (answers) => Object.fromEntries(keyed.map(([key], i) => [key, answers[i]]))
      ) as Effect.Effect<any, AskError>
    }
  }

  get elicit(): ServerSessionService["elicit"] {
    return (question: any, options?: RequestOptions): Effect.Effect<any, AskError> =>
      this.one<any>(() => "url" in question ? Ask.url(question) : Ask.elicit(question), options)
  }

  get createMessage(): ServerSessionService["createMessage"] {
    return (params, options) => this.one(() => Ask.sample(params), options)
  }

  get listRoots(): Effect.Effect<ReadonlyArray<Root>, AskError> {
    return this.one(() => Ask.roots)
  }

  get askAsTask(): ServerSessionService["askAsTask"] {
    return (question, options) => Effect.suspend(() => this.asker.askAsTask(question, options))
  }

  get request(): ServerSessionService["request"] {
    return (method: string | Extension.Request, params?: any, options?: RequestOptions): Effect.Effect<any, any> =>
      Effect.suspend((): Effect.Effect<any, any> => {
        const { request } = this.asker
        return typeof method === "string"
          ? request(method, params, options)
          : requestOf(this.facts, this.speech.extensions, request, method, params, options)
      })
  }

  get round(): PassedRound | undefined {
    return this.asker.round
  }

  /** The functions with which this call becomes a task; `undefined` where this call cannot become a task. */
  get tasks(): TaskDialect | undefined {
    return this.speech.tasks(this)
  }

  get asker(): Asker {
    return this.ownAsker ??= this.speech.asker(this)
  }

  /** Encodes a result in the form in which the client receives it. */
  encode(result: unknown): Outcome {
    const { facts, route } = this
    return route === undefined || result instanceof HandlerOutcome.Encoded
      ? HandlerOutcome.passedOn(result)
      : route.encode(result, facts.hints, facts)
  }

  /** Makes the response from the end of the handler. */
  outcomeOf(exit: Exit.Exit<unknown, unknown>): Outcome {
    return this.speech.outcome(this, exit)
  }

  /** Makes a context for the handler of a call that may become a task. The middleware around the handler keeps the original context. */
  ofHandler(): HandlerContext<F> {
    const own = new HandlerContext(this.facts, this.received, this.outbound, this.speech, this.route)
    own.fiber = this.fiber
    return own
  }

  /** The call has become a task. From now on, the handler's messages and questions belong to the task. */
  begin(task: StoredTask, outbound: RequestChannel, asker: Asker, report: HandlerContext["report"]): void {
    this.task = task
    this.report = report
    this.fiber = undefined
    this.outbound = outbound
    this.ownAsker = asker
  }

  get origin(): RequestOrigin.RequestOrigin {
    return RequestOrigin.of(this.outbound.channel)
  }

  private one<A>(question: () => Ask.Question<A>, options?: RequestOptions): Effect.Effect<A, AskError> {
    const keyed = (): Keyed => [undefined, question()]
    return Effect.map(Effect.suspend(() => this.asker.ask([keyed()], options)), ([answer]) => answer as A)
  }

  /** Makes a function that drops notifications which the client's revision does not have, or whose capability is not declared. */
  private allowed(outbound: Outbound): Outbound["notify"] {
    return (method, params) =>
      Effect.suspend(() => this.speech.allows(this.facts, method) ? outbound.notify(method, params) : Effect.void)
  }

  /** Sends a notification with only the parameters that the client's revision defines. */
  private send(method: Method.Notification, params: Params): Effect.Effect<void> {
    return this.outbound.notify(method.name, method.narrowParams(this.version)(params) as Params)
  }
}

/**
 * Whether only programs of this machine can reach the HTTP server that received the request. `undefined` where this is unknown, and on
 * other transports.
 */
export const isLocal = (session: ServerSessionService): boolean | undefined =>
  (session as HandlerContext).origin.listener?.isLocal

class Client implements ClientOfRequest {
  constructor(
    private readonly facts: ClientFacts,
    readonly sessionId: string | undefined,
    private readonly extensions: ExtensionTable.ExtensionTable
  ) {}

  get info(): Implementation | undefined {
    return this.facts.clientInfo
  }

  get capabilities(): Capabilities.ClientCapabilities {
    return this.facts.clientCapabilities
  }

  get requestedVersion(): string | undefined {
    return this.facts.requestedVersion
  }

  get key(): object | string | undefined {
    return this.facts.clientKey
  }

  get logLevel(): LoggingLevel | undefined {
    return this.facts.logLevel
  }

  get sessionScope(): Scope.Scope | undefined {
    return this.facts.sessionScope
  }

  get supports(): ClientOfRequest["supports"] {
    return (required) => isSupported(this.facts, this.extensions, required)
  }

  get extension(): ClientOfRequest["extension"] {
    return (extension) => Effect.suspend(() => settingsOf(this.facts, this.extensions, extension))
  }
}

/**
 * Gives the settings of client and server for an extension. Gives `None` when the client or the server has not declared the extension.
 * Fails when the settings of the client do not decode.
 */
const settingsOf = (
  { clientCapabilities, version }: ClientFacts,
  extensions: ExtensionTable.ExtensionTable,
  { id, settings, since, until }: Extension.Extension.Any
): Effect.Effect<Option.Option<any>, McpError.InvalidParams> => {
  const declared = clientCapabilities.extensions?.[id]
  return declared === undefined || !ExtensionTable.has(extensions, { extension: id, since, until }, version)
    ? Effect.succeedNone
    : Effect.mapBoth(SchemaParser.decodeUnknown(settings.client)(declared), {
      onFailure: (issue) => McpError.ofIssue(issue, `settings of the extension "${id}"`),
      onSuccess: (client) => Option.some({ client, server: extensions.own.get(id) })
    })
}

/**
 * Whether the client of a request has declared these capabilities. For a part of an extension: whether a handler can use the part with this
 * client.
 */
const isSupported = (
  facts: ClientFacts,
  extensions: ExtensionTable.ExtensionTable,
  required: Capabilities.ClientCapabilities | Extension.Part
): boolean =>
  isPart(required)
    ? isPresent(facts, extensions, required)
    : Capabilities.missing(facts.clientCapabilities, required) === undefined

// The members of capabilities are objects, so a text `extension` shows a part of an extension.
const isPart = (required: Capabilities.ClientCapabilities | Extension.Part): required is Extension.Part =>
  typeof (required as Extension.Part).extension === "string"

/** Sends a request of an extension to the client, and decodes its result. */
const requestOf = (
  facts: ClientFacts,
  extensions: ExtensionTable.ExtensionTable,
  send: (method: string, params: JsonObject, options?: RequestOptions) => Effect.Effect<JsonObject, CallError>,
  request: Extension.Request,
  params: unknown,
  options: RequestOptions | undefined
): Effect.Effect<any, AskError> => {
  const { extension, name, result } = request
  if (!ExtensionTable.has(extensions, request, facts.version)) {
    return Effect.fail(new McpError.MethodNotFound({ method: name }))
  }
  if (!isPresent(facts, extensions, request)) {
    return Effect.fail(new McpError.MissingClientCapability({ required: ExtensionTable.capability(extension) }))
  }
  return ExtensionTable.encodeParams(request, params).pipe(
    Effect.flatMap((params) => send(name, params, options)),
    Effect.mapError((error) => error instanceof JsonRpcError ? McpError.fromWire(error) : error),
    Effect.flatMap((answer) =>
      Effect.mapError(SchemaParser.decodeUnknown(result)(answer), (issue) =>
        new TransportError({
          reason: "Decode",
          message: `The client's answer to "${name}" is not valid: ${Issue.sentence(issue)}`
        }))
    )
  )
}

/**
 * Whether client and server have declared the extension that contains this part (for example a method), and the client's revision has the
 * part.
 */
const isPresent = (
  { clientCapabilities, version }: ClientFacts,
  extensions: ExtensionTable.ExtensionTable,
  part: Extension.Part
): boolean =>
  ExtensionTable.has(extensions, part, version) && clientCapabilities.extensions?.[part.extension] !== undefined

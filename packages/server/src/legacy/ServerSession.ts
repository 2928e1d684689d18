/**
 * What a handler of one legacy request or notification has: the object behind `RequestContext` and `ServerSession`. It
 * adds the facts of the connection to those of the message, and sends requests to the client on the channel of its own
 * request.
 */
import { JsonRpcError, toObject } from "@effect-mcp/jsonrpc/JsonRpcError"
import type { Notification, Params, Request } from "@effect-mcp/jsonrpc/Message"
import type { Outbound, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import { none } from "@effect-mcp/jsonrpc/Outbound"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import * as Logging from "@effect-mcp/protocol/Logging"
import type * as Method from "@effect-mcp/protocol/Method"
import type { Root } from "@effect-mcp/protocol/Roots"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type * as Scope from "effect/Scope"
import type { Question } from "../Ask.js"
import * as Ask from "../Ask.js"
import * as QuestionCapability from "../runtime/QuestionCapability.js"
import type { RequestChannel } from "../runtime/RequestFacts.js"
import { RequestFacts } from "../runtime/RequestFacts.js"
import type { Server } from "../runtime/Server.js"
import type { TaskCapable, TaskDialect } from "../runtime/TaskDialect.js"
import type { AskError, ServerSessionService } from "../ServerSession.js"
import type { TaskOutcome } from "../TaskStore.js"
import * as LegacyAsk from "./Ask.js"
import * as AskedTask from "./AskedTask.js"
import type { Connection } from "./Connection.js"
import * as Subscriptions from "./Subscriptions.js"

export class LegacyServerSession extends RequestFacts implements TaskCapable {
  outcomeOf: TaskCapable["outcomeOf"] = Outcome.fromExit

  constructor(
    readonly connection: Connection,
    received: Request | Notification,
    outbound: RequestChannel,
    private readonly server: LegacyAsk.Settings & Pick<Server, "extensions" | "logging" | "router"> & {
      /** How calls of this session become tasks. */
      readonly dialect?: ((session: LegacyServerSession) => TaskDialect | undefined) | undefined
    },
    /** Marks what the handler of a task sends. */
    private readonly mark: (params: Params | undefined) => Params = (params) => params ?? {}
  ) {
    super(received, outbound)
  }

  get version(): LegacyVersion {
    return this.connection.version
  }

  get requestedVersion(): string | undefined {
    return this.connection.requestedVersion
  }

  get clientInfo(): Implementation | undefined {
    return this.connection.clientInfo
  }

  get clientCapabilities(): ClientCapabilities {
    return this.connection.clientCapabilities
  }

  get sessionScope(): Scope.Scope | undefined {
    return this.connection.scope === undefined ? undefined : this.connection.sessionScope
  }

  get clientKey(): object | undefined {
    return this.connection.scope === undefined ? undefined : this.connection
  }

  get logLevel(): LoggingLevel | undefined {
    return this.connection.level
  }

  get round(): undefined {
    return undefined
  }

  get extensions(): Server["extensions"] {
    return this.server.extensions
  }

  get standalone(): Outbound {
    return { request: this.requestOn(this.connection.outbound), notify: this.notifyOn(this.connection.outbound) }
  }

  // Functions of getters, so that a function that was taken out of the session can still be called.
  get log(): ServerSessionService["log"] {
    return (level, data, logger) =>
      Effect.suspend(() => {
        const { level: threshold, scope } = this.connection
        // Without a conversation the server does not declare `logging`: it could not keep the level.
        if (
          !this.server.logging || scope === undefined ||
          (threshold !== undefined && !Logging.isAtLeast(level, threshold))
        ) {
          return Effect.void
        }
        // `data` is required, and JSON has no `undefined`.
        const params = { level, data: data === undefined ? null : data }
        return this.send(Methods.message, logger === undefined ? params : { ...params, logger })
      })
  }

  get notifyStandalone(): ServerSessionService["notifyStandalone"] {
    return this.notifyOn(this.connection.outbound)
  }

  get toolListChanged(): Effect.Effect<void> {
    return this.connection.announce(Methods.toolListChanged)
  }

  get resourceListChanged(): Effect.Effect<void> {
    return this.connection.announce(Methods.resourceListChanged)
  }

  get promptListChanged(): Effect.Effect<void> {
    return this.connection.announce(Methods.promptListChanged)
  }

  get resourceUpdated(): ServerSessionService["resourceUpdated"] {
    return (uri) =>
      Effect.suspend(() =>
        // Where the application handles subscriptions itself, it knows which clients have subscribed.
        this.server.router.handler(Methods.subscribe.name) === undefined
          ? Subscriptions.updated(this.connection, uri)
          : this.connection.announce(Methods.resourceUpdated, { uri }, uri)
      )
  }

  get elicitationComplete(): ServerSessionService["elicitationComplete"] {
    return (elicitationId) =>
      Effect.suspend(() =>
        this.supports({ elicitation: { url: {} } })
          ? this.connection.outbound.notify(Methods.elicitationComplete.name, { elicitationId })
          : Effect.void
      )
  }

  get ask(): ServerSessionService["ask"] {
    return (questions, options) =>
      Effect.all(Record.map(questions, (question) => this.askOne(question, options))) as Effect.Effect<any, AskError>
  }

  get elicit(): ServerSessionService["elicit"] {
    return (options: any, request?: RequestOptions): Effect.Effect<any, AskError> =>
      Effect.suspend(() => this.askOne<any>(Ask.elicit(options), request))
  }

  get elicitUrl(): ServerSessionService["elicitUrl"] {
    return (options, request) => this.askOne(Ask.url(options), request)
  }

  get createMessage(): ServerSessionService["createMessage"] {
    return (params, request) => this.askOne(Ask.sample(params), request)
  }

  get askAsTask(): ServerSessionService["askAsTask"] {
    return (question, options) =>
      AskedTask.make(this.connection, this.mark, question, options, (asked, { isWaiting }) => {
        const timeout = isWaiting ? Duration.infinity : options?.timeout
        const on = (outbound: Outbound) => LegacyAsk.post(this.connection, outbound, this.server, asked, { timeout })
        // The request of the handler may have ended.
        return Effect.catchTag(on(this.asking), "NoBackChannel", () => on(this.connection.outbound))
      })
  }

  get listRoots(): Effect.Effect<ReadonlyArray<Root>, AskError> {
    return this.askOne(Ask.roots)
  }

  get startTask(): Effect.Effect<void> {
    return Effect.void
  }

  get tasks(): TaskDialect | undefined {
    return this.server.dialect?.(this)
  }

  /** The session of the same message after its response. Its notifications leave outside of the request. */
  detached(mark: (params: Params | undefined) => Params): LegacyServerSession {
    const { notify } = this.connection.outbound
    const outbound = {
      ...none,
      notify: (method: string, params?: Params) => notify(method, mark(params)),
      channel: this.outbound.channel
    }
    return new LegacyServerSession(this.connection, this.received, outbound, this.server, mark)
  }

  /**
   * Sends a question of a task on the channel of this request, and waits for the answer, however long a person takes. Where
   * this client has not declared the capability or cannot be reached, it waits for another session to answer.
   */
  askForTask(method: string, params: JsonObject): Effect.Effect<TaskOutcome> {
    return Capabilities.declares(this.clientCapabilities, QuestionCapability.of(method, params))
      ? Effect.matchEffect(
        LegacyAsk.send(this.connection, this.asking, this.server, method, params, { timeout: Duration.infinity }),
        {
          onFailure: (error) =>
            error instanceof JsonRpcError ? Effect.succeed({ error: toObject(error) }) : Effect.never,
          onSuccess: (result) => Effect.succeed({ result: result as JsonObject })
        }
      )
      : Effect.never
  }

  get ping(): Effect.Effect<void, AskError> {
    return LegacyAsk.ping(this.asking)
  }

  private requestOn(outbound: Outbound): Outbound["request"] {
    return (method, params, options) => LegacyAsk.send(this.connection, outbound, this.server, method, params, options)
  }

  // What the revision does not know, or was not declared, is not sent.
  private notifyOn(outbound: Outbound): Outbound["notify"] {
    return (method, params) =>
      Effect.suspend(() => this.connection.allows(method) ? outbound.notify(method, params) : Effect.void)
  }

  protected override sendNotification(method: string, params?: Params): Effect.Effect<void> {
    return this.notifyOn(this.outbound)(method, params)
  }

  protected get back(): Outbound {
    return { ...this.asking, request: this.requestOn(this.asking) }
  }

  protected sendProgress(params: Params): Effect.Effect<void> {
    return this.send(Methods.progress, params)
  }

  private send(method: Method.Notification, params: Params): Effect.Effect<void> {
    return this.outbound.notify(method.name, method.narrowParams(this.connection.version)(params) as Params)
  }

  /** Sends requests to the client; refuses them without a conversation, because no response could come back. */
  private get asking(): Outbound {
    return this.connection.scope === undefined ? none : this.outbound
  }

  private askOne<A>(question: Question<A>, options?: RequestOptions): Effect.Effect<A, AskError> {
    return LegacyAsk.ask(this.connection, this.asking, this.server, question, options)
  }
}

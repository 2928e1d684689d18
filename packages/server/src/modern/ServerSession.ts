/**
 * What a handler of one modern request or notification has: the object behind `RequestContext` and `ServerSession`. The facts
 * of the client come from the envelope of the request. Log messages and progress leave on the channel of the request; nothing
 * leaves outside of it, and the server sends no requests.
 */
import type { Notification, Params, Request } from "@effect-mcp/jsonrpc/Message"
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import { none } from "@effect-mcp/jsonrpc/Outbound"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type { Channel, IncomingRequest } from "@effect-mcp/jsonrpc/Side"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import * as Logging from "@effect-mcp/protocol/Logging"
import { MissingClientCapability } from "@effect-mcp/protocol/McpError"
import type * as Method from "@effect-mcp/protocol/Method"
import type { Envelope } from "@effect-mcp/protocol/modern/Envelope"
import * as InputRequired from "@effect-mcp/protocol/modern/InputRequired"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import type { Root } from "@effect-mcp/protocol/Roots"
import type { ExtensionTable } from "@effect-mcp/protocol/unstable/ExtensionTable"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Ask from "../Ask.js"
import type { Hints } from "../CacheOptions.js"
import type { Kind } from "../Registry.js"
import type { RequestChannel } from "../runtime/RequestFacts.js"
import { RequestFacts } from "../runtime/RequestFacts.js"
import * as TaskCapability from "../runtime/TaskCapability.js"
import type { TaskCapable, TaskDialect } from "../runtime/TaskDialect.js"
import type { AskError, PassedRound, ServerSessionService } from "../ServerSession.js"
import type { Rounds } from "./Ask.js"
import { Round } from "./Ask.js"

/** What all sessions of a server share. */
export interface Shared {
  /** Whether the server sends log messages to clients. */
  readonly logging: boolean
  readonly extensions: ExtensionTable
  readonly rounds: Rounds
  /** How calls of this session become tasks; `undefined` on a server without the extension for tasks. */
  readonly tasks: ((session: ModernServerSession) => TaskDialect) | undefined
  /** Notifies the subscriptions of a client that a list has changed. */
  readonly listChanged: (client: Channel | string | undefined, kind: Kind) => Effect.Effect<void>
}

/**
 * Its mutable fields: `hints` is set by the feature that serves the request, `outcomeOf` and `fiber` when the request starts,
 * `hasEnded` when its handler has ended, the round when something needs it.
 */
export class ModernServerSession extends RequestFacts implements TaskCapable {
  hints: Hints | undefined
  outcomeOf: TaskCapable["outcomeOf"] = Outcome.fromExit
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  hasEnded = false
  private startedRound: Round | undefined

  constructor(
    readonly envelope: Envelope,
    received: Request | Notification,
    outbound: RequestChannel,
    private readonly shared: Shared,
    /** Whether the message came in a POST of its own. */
    readonly isPosted: boolean
  ) {
    super(received, outbound)
  }

  get version(): ModernVersion {
    return this.envelope.version
  }

  get requestedVersion(): undefined {
    return undefined
  }

  get clientInfo(): Implementation | undefined {
    return this.envelope.clientInfo
  }

  get clientCapabilities(): ClientCapabilities {
    return this.envelope.capabilities
  }

  get extensions(): ExtensionTable {
    return this.shared.extensions
  }

  get params(): JsonObject | undefined {
    return this.received.params as JsonObject | undefined
  }

  get standalone(): Outbound {
    return none
  }

  get tasks(): TaskDialect | undefined {
    return this.shared.tasks?.(this)
  }

  get startTask(): Effect.Effect<void> {
    return Effect.void
  }

  /** The session of the same message on another channel. */
  on(outbound: RequestChannel): ModernServerSession {
    return new ModernServerSession(this.envelope, this.received, outbound, this.shared, this.isPosted)
  }

  /** The request that is being answered, for handlers of requests. */
  get incoming(): IncomingRequest {
    return this.outbound as IncomingRequest
  }

  get sessionScope(): undefined {
    return undefined
  }

  get clientKey(): object | string | undefined {
    const { channel } = this.outbound
    // Anonymous HTTP clients cannot be told apart.
    return channel.origin === undefined ? channel : this.principal?.id
  }

  /** Whose subscriptions are those of this client: those of the pipe, or of the principal. */
  get subscriber(): Channel | string | undefined {
    return this.isPosted ? this.principal?.id : this.outbound.channel
  }

  get logLevel(): LoggingLevel | undefined {
    return this.envelope.logLevel
  }

  get round(): PassedRound | undefined {
    return InputRequired.mayRequireInput(this.method) ? this.questions.passed : undefined
  }

  /** The questions of this run, and the answers of earlier ones. */
  get questions(): Round {
    return this.startedRound ??= new Round(this.shared.rounds, this)
  }

  /** The round, if the handler has asked or the client has answered. */
  get existingRound(): Round | undefined {
    return this.startedRound
  }

  // Functions of getters, so that a function that was taken out of the session can still be called.
  get log(): ServerSessionService["log"] {
    return (level, data, logger) =>
      Effect.suspend(() => {
        const threshold = this.envelope.logLevel
        // MUST NOT send log messages for a request that names no level.
        if (!this.shared.logging || threshold === undefined || !Logging.isAtLeast(level, threshold)) return Effect.void
        // `data` is required, and JSON has no `undefined`.
        const params = { level, data: data === undefined ? null : data }
        return this.send(Methods.message, logger === undefined ? params : { ...params, logger })
      })
  }

  get notifyStandalone(): ServerSessionService["notifyStandalone"] {
    return () => Effect.void
  }

  get toolListChanged(): Effect.Effect<void> {
    return this.listChanged("tools")
  }

  get resourceListChanged(): Effect.Effect<void> {
    return this.listChanged("resources")
  }

  get promptListChanged(): Effect.Effect<void> {
    return this.listChanged("prompts")
  }

  // The server announces updates itself to the clients that listen to a resource.
  get resourceUpdated(): ServerSessionService["resourceUpdated"] {
    return () => Effect.void
  }

  get elicitationComplete(): ServerSessionService["elicitationComplete"] {
    return () => Effect.void
  }

  get ask(): ServerSessionService["ask"] {
    return (questions) => {
      const keyed = Object.entries(questions)
      return Effect.map(
        Effect.suspend(() => this.questions.ask(keyed)),
        (answers) => Object.fromEntries(keyed.map(([key], i) => [key, answers[i]]))
      ) as Effect.Effect<any, AskError>
    }
  }

  get elicit(): ServerSessionService["elicit"] {
    return (options: any): Effect.Effect<any, AskError> => Effect.suspend(() => this.askOne<any>(Ask.elicit(options)))
  }

  get elicitUrl(): ServerSessionService["elicitUrl"] {
    return (options) => this.askOne(Ask.url(options))
  }

  get createMessage(): ServerSessionService["createMessage"] {
    return (params) => this.askOne(Ask.sample(params))
  }

  get askAsTask(): ServerSessionService["askAsTask"] {
    return (question) => Effect.fail(new MissingClientCapability({ required: TaskCapability.of(question) }))
  }

  get listRoots(): Effect.Effect<ReadonlyArray<Root>, AskError> {
    return this.askOne(Ask.roots)
  }

  get ping(): Effect.Effect<void, AskError> {
    return none.request("ping") as Effect.Effect<never, AskError>
  }

  protected get back(): Outbound {
    return none
  }

  protected sendProgress(params: Params): Effect.Effect<void> {
    return this.send(Methods.progress, params)
  }

  private send(method: Method.Notification, params: Params): Effect.Effect<void> {
    return this.outbound.notify(method.name, method.narrowParams(this.version)(params) as Params)
  }

  private listChanged(kind: Kind): Effect.Effect<void> {
    return this.shared.listChanged(this.subscriber, kind)
  }

  private askOne<A>(question: Ask.Question<A>): Effect.Effect<A, AskError> {
    return Effect.map(Effect.suspend(() => this.questions.ask([[undefined, question]])), ([answer]) => answer as A)
  }
}

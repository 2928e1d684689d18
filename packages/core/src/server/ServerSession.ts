/**
 * `RequestContext` with requests to the client: questions to its user or its model, its roots. Handlers of tools,
 * prompts and resources have it; in any other handler, a request to the client does not compile.
 *
 * Up to 2025-11-25 the handler waits for the answer. From 2026-07-28 on a question without an answer interrupts the handler
 * and ends its request; the client sends the request again with the answer, and the handler runs again from its beginning.
 * So a handler asks first and acts after, and does not ask in an uninterruptible region.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { LocalError } from "../jsonrpc/LocalError.js"
import type { CallError, Outbound, RequestOptions } from "../jsonrpc/Outbound.js"
import type { ElicitAction, ElicitContent } from "../protocol/Elicitation.js"
import type { RequestedSchema } from "../protocol/ElicitationSchema.js"
import type * as Extension from "../protocol/Extension.js"
import type { JsonObject } from "../protocol/Json.js"
import type { McpError } from "../protocol/McpError.js"
import type { Root } from "../protocol/Roots.js"
import type { CreateMessageParams, CreateMessageResult } from "../protocol/Sampling.js"
import type { Task } from "../protocol/Tasks.js"
import type * as Ask from "./Ask.js"
import type { RequestContextService } from "./RequestContext.js"

/**
 * How a request to the client fails: the client lacks the capability (`MissingClientCapability`), answered with an error,
 * cannot be reached during this request (`NoBackChannel`), or did not answer in time (`RequestTimeout`).
 *
 * A handler may fail with it: the calling program receives an error.
 *
 * @category errors
 */
export type AskError = McpError | LocalError

/**
 * One round of a request whose handler passes questions on as they are. The handler remembers in a state what the questions belong to.
 *
 * @category models
 */
export interface PassedRound {
  /** The state that the handler has given in the round before; `undefined` in the first round. */
  readonly state: string | undefined
  /** The responses to the questions of the round before, by their keys, as the client sent them. */
  readonly responses: JsonObject | undefined
  /**
   * Ends the request with these questions, by keys. The client sends it again with the responses. `state` is sealed: the
   * client cannot read it, and it comes back for this request and this client only. Fails when the client lacks a capability
   * that a question needs, and after too many rounds; then none of the questions is sent.
   */
  readonly pass: (
    questions: { readonly [key: string]: { readonly method: string; readonly params?: JsonObject | undefined } },
    state: string
  ) => Effect.Effect<never, McpError>
}

/**
 * A question that the client answers as a task, or that it has answered at once.
 *
 * @category models
 */
export interface AskedTask<out A> {
  /** The id that the client has given the task. `None` when it has answered at once. */
  readonly taskId: Option.Option<string>
  /**
   * The task as it is and as it becomes, until it has ended. The server requests the task at the pace of the client: at least once a
   * minute, and no more than 20 times a second. Empty when the client has answered at once.
   */
  readonly status: Stream.Stream<Task, AskError>
  /**
   * Waits for the answer, without a limit of time. It can be run again, and interrupting it does not cancel the task. Fails with
   * the error of the client, and with a `PeerError` of the code -32800 when the task was cancelled.
   */
  readonly result: Effect.Effect<A, AskError>
  /** Has the client cancel the task, also after the request of the handler. Succeeds also when the task has ended before. */
  readonly cancel: Effect.Effect<void, AskError>
}

/** @category models */
export interface AskAsTaskOptions {
  /** For how long the client should keep the task after it was created. Default: the client decides. */
  readonly ttl?: Duration.DurationInput | undefined
  /** How long each request about the task waits for its response. Default: `requestTimeout` of the server. */
  readonly timeout?: Duration.DurationInput | undefined
}

/** @category models */
export interface ServerSessionService extends RequestContextService {
  /**
   * Gives the answers under the names of the questions. Up to 2025-11-25 the questions are asked one after another; from
   * 2026-07-28 on all of them leave together, and their names are the keys of the client's responses.
   */
  readonly ask: <const Q extends Readonly<Record<string, Ask.Question<any>>>>(
    questions: Q,
    options?: RequestOptions
  ) => Effect.Effect<{ readonly [K in keyof Q]: Ask.Question.Answer<Q[K]> }, AskError>
  /**
   * Asks a person to fill in a form, and gives the decoded answer. The fields of the schema are strings, numbers, booleans,
   * literals and arrays of literals; with another field, such as an object, the handler dies. Declare the schema outside of the
   * handler: each new schema object is compiled again. `timeout` replaces the server's `elicitationTimeout`.
   *
   * With a `url`, asks a person to open that page. `accept` means that they agreed to open it. See `elicitationComplete`.
   */
  readonly elicit: {
    <A, I>(
      options: { readonly message: string; readonly schema: Schema.Schema<A, I> },
      request?: RequestOptions
    ): Effect.Effect<Ask.Elicited<A>, AskError>
    (
      options: { readonly message: string; readonly requestedSchema: RequestedSchema },
      request?: RequestOptions
    ): Effect.Effect<Ask.Elicited<ElicitContent>, AskError>
    (
      options: { readonly message: string; readonly url: string; readonly elicitationId: string },
      request?: RequestOptions
    ): Effect.Effect<ElicitAction, AskError>
  }
  /**
   * Asks the client's model to continue these messages.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly createMessage: (
    params: CreateMessageParams,
    request?: RequestOptions
  ) => Effect.Effect<CreateMessageResult, AskError>
  /**
   * Asks a question (not for the roots) as a task: the client responds at once, and its user or model answers later. The handler
   * may do other work meanwhile, and the answer survives a lost request. The requests leave on the channel of this request, and
   * after its end outside of it. The task ends with the session of the client.
   *
   * Only clients of 2025-11-25 can declare it; for all others it fails with `MissingClientCapability`, before anything is sent.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
   */
  readonly askAsTask: <A>(
    question: Ask.Question<A>,
    options?: AskAsTaskOptions
  ) => Effect.Effect<AskedTask<A>, AskError>
  /**
   * The roots of the client: the folders, or other places, that the server may work in.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly listRoots: Effect.Effect<ReadonlyArray<Root>, AskError>
  /**
   * Begins the task of a call of a tool that starts its task itself; see the option `startsTask` of `McpServer.tool`. The request is
   * answered with the task, and the handler goes on. Questions before it belong to the request, later questions to the task. Does nothing
   * when the task has begun, and when the call is not a task.
   */
  readonly startTask: Effect.Effect<void, AskError>
  /**
   * Sends a request of any method on the channel of this request, such as `ping`, and waits for the answer. Fails with `NoBackChannel` where
   * the client cannot receive requests, and from 2026-07-28 on. Interruption cancels the request at the client.
   *
   * A request of an extension is checked by its schemas. It fails with `MissingClientCapability` for a client that has not
   * declared the extension, and with `MethodNotFound` where the server or the revision does not have it.
   */
  readonly request: {
    <Params, Result>(
      request: Extension.Request<"server", Params, Result>,
      params: NoInfer<Params>,
      options?: RequestOptions
    ): Effect.Effect<Result, AskError>
    (method: string, params?: JsonObject, options?: RequestOptions): Effect.Effect<JsonObject, CallError>
  }
  /**
   * The round that this request is, for a handler that passes the questions of another server on. `undefined` up to
   * 2025-11-25, and for methods whose result cannot ask.
   */
  readonly round: PassedRound | undefined
  /** Sends outside of this request, also after its response. From 2026-07-28 on, requests are refused and notifications dropped. */
  readonly standalone: Outbound
}

/** @category tags */
export class ServerSession extends Context.Tag("@effect-mcp/core/ServerSession")<
  ServerSession,
  ServerSessionService
>() {}

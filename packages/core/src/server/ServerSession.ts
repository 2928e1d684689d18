/**
 * The service with which a handler sends requests to the client: questions to the client's user or model, and the request for the client's
 * roots. The service also has all members of `RequestContext`. Handlers of tools, prompts and resources can use this service. Handlers of
 * other kinds do not compile when they require this service.
 *
 * With revision 2025-11-25 or earlier, the server sends a request, and the handler waits for the answer. With revision 2026-07-28 or later,
 * a question that the client has not answered yet interrupts the handler, and the server answers the request with the question. The client
 * sends the request again with the answer, and the handler runs again from its beginning. So a handler must ask first and act after that,
 * and must not ask in an uninterruptible region.
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
 * The failures of a request to the client: the client lacks the capability (`MissingClientCapability`), the client answered with an error,
 * the client cannot be reached during this request (`NoBackChannel`), or the client did not answer in time (`RequestTimeout`).
 *
 * A handler may fail with an `AskError`. Then the calling program receives a JSON-RPC error.
 *
 * @category errors
 */
export type AskError = McpError | LocalError

/**
 * One round of a request, for a handler that passes questions of another server on to the client. In a round, the handler runs and ends the
 * request with questions. The next round begins when the client sends the request again with the answers. With `state`, the handler passes
 * data from one round to the next.
 *
 * @category models
 */
export interface PassedRound {
  /** The state that the handler passed to `pass` in the previous round; `undefined` in the first round. */
  readonly state: string | undefined
  /**
   * The responses to the questions of the previous round, by the keys of the questions, as the client sent them; `undefined` in the first
   * round.
   */
  readonly responses: JsonObject | undefined
  /**
   * Ends the request with these questions, by their keys. The client sends the request again with the responses. The server encrypts
   * `state`, so the client cannot read the state. The server accepts the state only for this request and this client. Fails when the client
   * lacks a capability that a question needs, and after too many rounds (limit `maxRounds`). When this effect fails, the server sends none
   * of the questions.
   */
  readonly pass: (
    questions: { readonly [key: string]: { readonly method: string; readonly params?: JsonObject | undefined } },
    state: string
  ) => Effect.Effect<never, McpError>
}

/**
 * A question that the client answers as a task. A client may also answer immediately.
 *
 * @category models
 */
export interface AskedTask<out A> {
  /** The id of the task, which the client has chosen. `None` when the client has answered immediately. */
  readonly taskId: Option.Option<string>
  /**
   * The task now, and then after each change, until the task has ended. The stream is empty when the client has answered immediately. The
   * server polls the client at the interval that the client requests, but at least once a minute and at most 20 times a second.
   */
  readonly status: Stream.Stream<Task, AskError>
  /**
   * Waits for the answer, without a limit of time. You can run this effect again. Interrupting this effect does not cancel the task. Fails
   * with the error of the client. When the task was cancelled, fails with a `PeerError` with the code -32800.
   */
  readonly result: Effect.Effect<A, AskError>
  /**
   * Asks the client to cancel the task. You can run this effect also after the handler's request has ended. The effect also succeeds when
   * the task has already ended.
   */
  readonly cancel: Effect.Effect<void, AskError>
}

/** @category models */
export interface AskAsTaskOptions {
  /** For how long the client should store the task after its creation. Default: the client decides. */
  readonly ttl?: Duration.DurationInput | undefined
  /** How long each request about the task waits for its response. Default: the server's limit `requestTimeout`. */
  readonly timeout?: Duration.DurationInput | undefined
}

/** @category models */
export interface ServerSessionService extends RequestContextService {
  /**
   * Asks the client several questions. The keys of the record are the names of the questions, and the result has the answers under the same
   * names. With revision 2025-11-25 or earlier the server asks the questions one after another. With revision 2026-07-28 or later the
   * server sends all questions together, under their names.
   */
  readonly ask: <const Q extends Readonly<Record<string, Ask.Question<any>>>>(
    questions: Q,
    options?: RequestOptions
  ) => Effect.Effect<{ readonly [K in keyof Q]: Ask.Question.Answer<Q[K]> }, AskError>
  /**
   * Asks a person to fill in a form, and gives the decoded answer. The fields of the schema are strings, numbers, booleans, literals and
   * arrays of literals. With any other field, such as an object, the handler dies. Declare the schema outside of the handler, because the
   * library compiles each new schema object again. `timeout` replaces the server's limit `elicitationTimeout`.
   *
   * With a `url`, asks a person to open this page. The answer `accept` means that the person agreed to open the page. When the person has
   * finished at the page, call `elicitationComplete`.
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
   * @deprecated since 2026-07-28 (SEP-2577). Revisions from 2027-07-28 on may no longer have this.
   */
  readonly createMessage: (
    params: CreateMessageParams,
    request?: RequestOptions
  ) => Effect.Effect<CreateMessageResult, AskError>
  /**
   * Asks a question as a task: the client responds immediately with a task, and the client's user or model answers later. `Ask.roots` is
   * not possible here. The handler may do other work until the answer comes. When a response of the client is lost, the server can still
   * get the answer. The server sends its requests about the task on the stream of the handler's request. After the handler's request has
   * ended, the server sends them outside of any request. The task ends with the session of the client.
   *
   * Only clients of revision 2025-11-25 can declare the capability for such tasks. For all other clients this effect fails with
   * `MissingClientCapability`, before the server sends a request.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
   */
  readonly askAsTask: <A>(
    question: Ask.Question<A>,
    options?: AskAsTaskOptions
  ) => Effect.Effect<AskedTask<A>, AskError>
  /**
   * Requests the roots of the client: the folders, or other places, that the server may work in.
   *
   * @deprecated since 2026-07-28 (SEP-2577). Revisions from 2027-07-28 on may no longer have this.
   */
  readonly listRoots: Effect.Effect<ReadonlyArray<Root>, AskError>
  /**
   * Begins the task of a call. Use this effect in the handler of a tool with the option `startsTask` of `McpServer.tool`. The server
   * answers the request with the task, and the handler goes on. The handler's questions before `startTask` belong to the request, and its
   * later questions belong to the task. Does nothing when the task has already begun, and when the call does not run as a task.
   */
  readonly startTask: Effect.Effect<void, AskError>
  /**
   * Sends a request of any method, such as `ping`, to the client, and waits for the answer. Over HTTP, the server sends it on the stream of
   * this request. Fails with `NoBackChannel` where the client cannot receive requests, and with revision 2026-07-28 or later. Interrupting
   * this effect cancels the request at the client.
   *
   * For a request of an extension, the server checks the parameters and the result with the schemas of the request. Such a request fails
   * with `MissingClientCapability` when the client has not declared the extension. It fails with `MethodNotFound` when the server or the
   * revision does not have the extension.
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
   * The current round of this request, for a handler that passes questions of another server on to the client. `undefined` with revision
   * 2025-11-25 or earlier, and for methods whose result cannot ask questions.
   */
  readonly round: PassedRound | undefined
  /**
   * Functions that send messages outside of this request, also after its response. With revision 2026-07-28 or later, these functions
   * refuse requests and drop notifications.
   */
  readonly standalone: Outbound
}

/** @category tags */
export class ServerSession extends Context.Tag("@effect-mcp/core/ServerSession")<
  ServerSession,
  ServerSessionService
>() {}

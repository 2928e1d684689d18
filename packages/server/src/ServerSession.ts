/**
 * `RequestContext` and the ways to ask the client's side while a request is served. Tools, prompts and resource reads hold
 * it; asking from anywhere else does not compile.
 *
 * @since 0.1.0
 */
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import type { CallError, Outbound, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import type { ElicitAction, ElicitContent } from "@effect-mcp/protocol/Elicitation"
import type { RequestedSchema } from "@effect-mcp/protocol/ElicitationSchema"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { McpError } from "@effect-mcp/protocol/McpError"
import type { Root } from "@effect-mcp/protocol/Roots"
import type { CreateMessageParams, CreateMessageResult } from "@effect-mcp/protocol/Sampling"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Ask from "./Ask.js"
import type { RequestContextService } from "./RequestContext.js"

/**
 * How asking can fail: the client cannot do that (`MissingClientCapability`), refused, cannot be reached while this request
 * is served (`NoBackChannel`), or did not answer in time.
 *
 * A handler that does not catch it fails with it: the calling program gets an error.
 *
 * @since 0.1.0
 * @category errors
 */
export type AskError = McpError | LocalError

/**
 * @since 0.1.0
 * @category models
 */
export interface ServerSessionService extends RequestContextService {
  /** Asks all of them, one after another, and gives the answers under the same names. */
  readonly ask: <const Q extends Readonly<Record<string, Ask.Question<any>>>>(
    questions: Q,
    options?: RequestOptions
  ) => Effect.Effect<{ readonly [K in keyof Q]: Ask.Question.Answer<Q[K]> }, AskError>
  /**
   * Has a person fill in a form, and gives what they did, decoded. People take their time: give a `timeout` when the
   * server's own is too short for them.
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
  }
  /** Has a person open a page; `accept` says that they agreed to. See `elicitationComplete`. */
  readonly elicitUrl: (
    options: { readonly message: string; readonly url: string; readonly elicitationId: string },
    request?: RequestOptions
  ) => Effect.Effect<ElicitAction, AskError>
  /** Has the client's model go on from these messages. */
  readonly createMessage: (
    params: CreateMessageParams,
    request?: RequestOptions
  ) => Effect.Effect<CreateMessageResult, AskError>
  /** The folders, and what else there is, that the server may work in. */
  readonly listRoots: Effect.Effect<ReadonlyArray<Root>, AskError>
  /** Asks whether anybody is there. */
  readonly ping: Effect.Effect<void, AskError>
  /**
   * Sends a request to the client on the request's own channel and waits. It fails with `NoBackChannel` where the client
   * cannot be asked; interrupting the handler tells the client to stop.
   */
  readonly request: (
    method: string,
    params?: JsonObject,
    options?: RequestOptions
  ) => Effect.Effect<JsonObject, CallError>
  /** The channel beside all requests: what is said there may be said after this one was answered. */
  readonly standalone: Outbound
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ServerSession extends Context.Tag("@effect-mcp/server/ServerSession")<
  ServerSession,
  ServerSessionService
>() {}

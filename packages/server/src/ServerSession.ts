/**
 * `RequestContext` with requests to the client: questions to its user or its model, its roots, `ping`. Handlers of tools,
 * prompts and resources have it; in any other handler, a request to the client does not compile.
 *
 * Up to 2025-11-25 the handler waits for the answer. From 2026-07-28 on a question without an answer interrupts the handler
 * and ends its request; the client sends the request again with the answer, and the handler runs again from its beginning.
 * So a handler asks first and acts after, and does not ask in an uninterruptible region.
 *
 * @since 0.1.0
 */
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import type { CallError, Outbound, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import type { ElicitAction, ElicitContent } from "@effect-mcp/protocol/Elicitation"
import type { RequestedSchema } from "@effect-mcp/protocol/ElicitationSchema"
import type * as Extension from "@effect-mcp/protocol/Extension"
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
 * How a request to the client fails: the client lacks the capability (`MissingClientCapability`), answered with an error,
 * cannot be reached during this request (`NoBackChannel`), or did not answer in time (`RequestTimeout`).
 *
 * A handler may fail with it: the calling program receives an error.
 */
export type AskError = McpError | LocalError

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
   * Asks a person to fill in a form, and gives the decoded answer. Declare the schema outside of the handler: each new
   * schema object is compiled again. `timeout` replaces the server's `elicitationTimeout`.
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
  /** Asks a person to open a page. `accept` means that they agreed to open it. See `elicitationComplete`. */
  readonly elicitUrl: (
    options: { readonly message: string; readonly url: string; readonly elicitationId: string },
    request?: RequestOptions
  ) => Effect.Effect<ElicitAction, AskError>
  /** Asks the client's model to continue these messages. */
  readonly createMessage: (
    params: CreateMessageParams,
    request?: RequestOptions
  ) => Effect.Effect<CreateMessageResult, AskError>
  /** The roots of the client: the folders, or other places, that the server may work in. */
  readonly listRoots: Effect.Effect<ReadonlyArray<Root>, AskError>
  /** Waits until the client has answered a `ping`. Fails with `NoBackChannel` from 2026-07-28 on. */
  readonly ping: Effect.Effect<void, AskError>
  /**
   * Sends a request of any method on the channel of this request, and waits for the answer. Fails with `NoBackChannel` where
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
  /** Sends outside of this request, also after its response. From 2026-07-28 on it refuses requests and drops notifications. */
  readonly standalone: Outbound
}

export class ServerSession extends Context.Tag("@effect-mcp/server/ServerSession")<
  ServerSession,
  ServerSessionService
>() {}

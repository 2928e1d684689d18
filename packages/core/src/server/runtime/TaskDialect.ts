/**
 * The interface for the differences between tasks of revision 2025-11-25 and of revision 2026-07-28: when a call becomes a task, the answer
 * to its request, the form of the task's questions, and the end of the task. `legacy/TaskWire` and `modern/TaskWire` implement this
 * interface. `TaskCall` gets it from the `HandlerContext` of a request.
 */
import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import type { JsonRpcError } from "../../jsonrpc/JsonRpcError.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { McpError } from "../../protocol/McpError.js"
import type { Version } from "../../protocol/Version.js"
import type { Question } from "../Ask.js"
import type { AskError } from "../ServerSession.js"
import type { Ended } from "../tasks/StoredTasks.js"
import type { StoredTask, TaskQuestion } from "../TaskStore.js"
import type { Asker, RequestChannel } from "./Asker.js"

/** Whether a tool may run as a task (`optional`), or must run as a task (`required`). */
export type Support = "optional" | "required"

export interface TaskDialect {
  /** The revision of the request. */
  readonly version: Version
  /**
   * Decides whether this call of a tool becomes a task. `undefined`: the call does not become a task. `ttl` is how long the client wants
   * the server to store the task, in milliseconds; `undefined` when the client does not say this. Left: the error for a client that must
   * call the tool in another way.
   */
  readonly wants: (support: Support | undefined) => Either.Either<
    { readonly ttl: number | undefined } | undefined,
    McpError | JsonRpcError
  >
  /** Ends the request of a call that has become a task. The answer contains the task. */
  readonly created: (task: StoredTask) => Effect.Effect<unknown, unknown>
  /**
   * Gives the functions with which the handler sends and asks after the response to its request. The handler uses the asker for requests to
   * the client that are not questions of the task.
   */
  readonly detached: (task: StoredTask) => { readonly outbound: RequestChannel; readonly asker: Asker }
  /**
   * Notifies the client that a task has changed, in the background. `undefined` where the revision has no such notification, or this client
   * cannot get it.
   */
  readonly changed?: ((task: StoredTask) => Effect.Effect<void>) | undefined
  /** Encodes a question for the client. Left: the reason why the client cannot get the question. */
  readonly encode: (question: Question<any>) => Either.Either<TaskQuestion, McpError>
  /**
   * Decodes the client's answer to the question with the key `key`. With a revision whose clients send answers in a request, this effect
   * fails with `InvalidParams` for a wrong answer. The server then refuses that request.
   */
  readonly decode: <A>(question: Question<A>, answer: JsonObject, key: string) => Effect.Effect<A, AskError>
  /** Makes the end of a task from the end of its handler. */
  readonly ended: (exit: Exit.Exit<unknown, unknown>) => Ended
}

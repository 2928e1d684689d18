/**
 * The differences between the tasks of the two protocol eras: when a call becomes a task, how its request is answered then, which form its
 * questions have, and how it ends. `legacy/TaskWire` and `modern/TaskWire` each make a dialect. The `HandlerContext` of a request gives the
 * dialect to `TaskCall`.
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

/** Whether a tool may, or must, run as a task. */
export type Support = "optional" | "required"

export interface TaskDialect {
  /** The revision of the request. */
  readonly version: Version
  /**
   * Whether this call of a tool becomes a task. `undefined`: it does not. `ttl` is how long the client wants the task to be stored, in
   * milliseconds; `undefined` when the client does not say it. Left: the client has to call the tool in another way.
   */
  readonly wants: (support: Support | undefined) => Either.Either<
    { readonly ttl: number | undefined } | undefined,
    McpError | JsonRpcError
  >
  /** Ends the request of a call that has become a task, with the answer that has the task. */
  readonly created: (task: StoredTask) => Effect.Effect<unknown, unknown>
  /**
   * Gives the functions with which the handler sends and asks after its request was answered. The asker is for questions that are not
   * questions of the task.
   */
  readonly detached: (task: StoredTask) => { readonly outbound: RequestChannel; readonly asker: Asker }
  /**
   * Notifies the client that began the task of a change, where the revision has a notification for this client. Does not wait until the
   * client reads the notification.
   */
  readonly changed?: ((task: StoredTask) => Effect.Effect<void>) | undefined
  /** Gives a question in the form in which the client gets it. Left: the question cannot be asked. */
  readonly encode: (question: Question<any>) => Either.Either<TaskQuestion, McpError>
  /**
   * Decodes the answer that came under a key. Fails with `InvalidParams` where the client sent the answer with a request, which is then
   * refused.
   */
  readonly decode: <A>(question: Question<A>, answer: JsonObject, key: string) => Effect.Effect<A, AskError>
  /** Makes the end of a task from the end of its handler. */
  readonly ended: (exit: Exit.Exit<unknown, unknown>) => Ended
}

/**
 * What the two kinds of tasks differ in: when a call becomes a task, how its request is answered then, how its questions are worded, and
 * how it ends. `legacy/TaskWire` and `modern/TaskWire` each have a dialect, which the `HandlerContext` of a request gives to `TaskCall`.
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
   * Whether this call of a tool becomes a task, and how long the client wants to keep it, in milliseconds. Left: the client
   * has to call the tool in another way.
   */
  readonly wants: (support: Support | undefined) => Either.Either<
    { readonly ttl: number | undefined } | undefined,
    McpError | JsonRpcError
  >
  /** Ends the request of a call that has become a task. */
  readonly created: (task: StoredTask) => Effect.Effect<unknown, unknown>
  /** What the handler sends with after its request was answered, and how it asks a question that is not a question of the task. */
  readonly detached: (task: StoredTask) => { readonly outbound: RequestChannel; readonly asker: Asker }
  /**
   * Notifies the client of a change, where the revision has a notification for the client that began a task. Does not wait for
   * the client to read.
   */
  readonly changed?: ((task: StoredTask) => Effect.Effect<void>) | undefined
  /** A question as the client gets it. Left: the question cannot be asked. */
  readonly encode: (question: Question<any>) => Either.Either<TaskQuestion, McpError>
  /** The answer that came under a key. Fails with `InvalidParams` where the client sent it with a request, which is refused then. */
  readonly decode: <A>(question: Question<A>, answer: JsonObject, key: string) => Effect.Effect<A, AskError>
  /** The end of a task, from the end of its handler. */
  readonly ended: (exit: Exit.Exit<unknown, unknown>) => Ended
}

/**
 * Tasks with revision 2026-07-28: the extension `io.modelcontextprotocol/tasks`, for `Era` and `ServerSide`. `TasksServer` adds this module
 * to a server, through `dispatch/ServerTasks`. The server decides which calls become tasks, among the calls of clients that have declared
 * the extension.
 *
 * @see https://github.com/modelcontextprotocol/ext-tasks
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as Outbound from "../../jsonrpc/Outbound.js"
import * as Extension from "../../protocol/Extension.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import type { Implementation } from "../../protocol/Implementation.js"
import { type McpError, MissingClientCapability } from "../../protocol/McpError.js"
import type { InputRequests } from "../../protocol/modern/InputRequired.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as Stamp from "../../protocol/modern/Stamp.js"
import { type DetailedTask, extension, type Task } from "../../protocol/modern/TasksExtension.js"
import type { ModernVersion } from "../../protocol/Version.js"
import type { Question } from "../Ask.js"
import type { HandlerContext } from "../runtime/HandlerContext.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import type { TaskDialect } from "../runtime/TaskDialect.js"
import type { Ended } from "../tasks/StoredTasks.js"
import * as TaskFacts from "../tasks/TaskFacts.js"
import type { StoredTask, TaskQuestion } from "../TaskStore.js"
import * as InputQuestion from "./InputQuestion.js"
import type { RequestFacts } from "./RequestFacts.js"

/** Whether the option `extensions` of the server contains the extension. */
const isGiven = ({ byId }: ExtensionTable.ExtensionTable): boolean => byId.has(extension.id)

const dialect = (handler: HandlerContext<RequestFacts>): TaskDialect => {
  const { clientCapabilities, version } = handler.facts
  const isDeclared = clientCapabilities.extensions?.[extension.id] !== undefined
  return {
    version,
    wants: (support) =>
      support !== undefined && isDeclared
        ? Either.right({ ttl: undefined })
        : support === "required"
        ? Either.left(new MissingClientCapability({ required: ExtensionTable.capability(extension.id) }))
        : Either.right(undefined),
    created: (task) =>
      Effect.fail(new Extension.ExtendedResult({ resultType: extension.results.created, value: toTask(task) })),
    // The client gets no progress and no log messages of a task.
    detached: () => ({ outbound: { ...Outbound.none, channel: handler.outbound.channel }, asker: handler.asker }),
    encode: (question) => encode(handler.facts, question),
    decode,
    ended: (exit) => TaskFacts.endOf(handler.outcomeOf(exit))
  }
}

const encode = (
  client: Parameters<typeof InputQuestion.narrow>[1],
  question: Question<any>
): Either.Either<TaskQuestion, McpError> => {
  const refusal = InputQuestion.refusal(question, client.clientCapabilities)
  if (refusal !== undefined) return Either.left(refusal)
  const method = InputQuestion.methodOf(question)
  return Either.right({ method: method.name, params: InputQuestion.narrow(method, client, question.params) })
}

const decode: TaskDialect["decode"] = (question, answer, key) => InputQuestion.answer(key, question, answer)

const toTask = (task: StoredTask): Task => ({
  ...TaskFacts.common(task),
  ttlMs: task.ttl,
  pollIntervalMs: task.pollInterval
})

/** Encodes a task, with the members for its status. */
export const toDetailedTask = (task: StoredTask): DetailedTask => ({
  ...toTask(task),
  ...(task.status === "input_required" ? { inputRequests: task.questions as unknown as InputRequests } : undefined),
  ...task.outcome
})

/** Makes the end of a detached task from the end of its work. */
const ended = (
  { info, version }: { readonly info: Implementation; readonly version: ModernVersion },
  tool: string,
  exit: Exit.Exit<unknown, unknown>
): Ended => {
  const stamp = Stamp.make(Methods.callTool.name, { serverInfo: info })
  const encode = HandlerOutcome.encoder(Methods.callTool, version, { isTrusted: false, isStable: false }, stamp)
  const received = { method: Methods.callTool.name, params: { name: tool } }
  const outcome = HandlerOutcome.ofRequest({ received, encode }, exit, "modern")
  return TaskFacts.endOf(
    // No route has encoded the result of a tool that died.
    outcome.died === undefined || outcome.result === undefined ? outcome : { ...outcome, result: stamp(outcome.result) }
  )
}

/** The functions for revision 2026-07-28 that a server with tasks needs. */
export interface Wire {
  readonly isGiven: typeof isGiven
  readonly dialect: typeof dialect
  readonly ended: typeof ended
  readonly encode: typeof encode
  readonly decode: TaskDialect["decode"]
}

export const wire: Wire = { isGiven, dialect, ended, encode, decode }

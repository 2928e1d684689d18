/**
 * Tasks of this era, the extension `io.modelcontextprotocol/tasks`: the server decides which calls become tasks, among those
 * of clients that have declared the extension.
 *
 * @see https://github.com/modelcontextprotocol/ext-tasks
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Outbound from "../../jsonrpc/Outbound.js"
import * as Extension from "../../protocol/Extension.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import { MissingClientCapability } from "../../protocol/McpError.js"
import type { InputRequests } from "../../protocol/modern/InputRequired.js"
import { type DetailedTask, extension, type Task } from "../../protocol/modern/TasksExtension.js"
import type { HandlerContext } from "../runtime/HandlerContext.js"
import type { TaskDialect } from "../runtime/TaskDialect.js"
import * as TaskFacts from "../tasks/TaskFacts.js"
import type { StoredTask } from "../TaskStore.js"
import * as InputQuestion from "./InputQuestion.js"
import type { RequestFacts } from "./RequestFacts.js"

/** Whether a server was given the extension. */
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
    // Progress and log messages of a task are not sent.
    detached: () => ({ outbound: { ...Outbound.none, channel: handler.outbound.channel }, asker: handler.asker }),
    encode: (question) => {
      const refusal = InputQuestion.refusal(question, clientCapabilities)
      if (refusal !== undefined) return Either.left(refusal)
      const method = InputQuestion.methodOf(question)
      return Either.right({ method: method.name, params: InputQuestion.narrow(method, handler.facts, question.params) })
    },
    decode: (question, answer, key) => InputQuestion.answer(key, question, answer),
    ended: (exit) => TaskFacts.endOf(handler.outcomeOf(exit))
  }
}

const toTask = (task: StoredTask): Task => ({
  ...TaskFacts.common(task),
  ttlMs: task.ttl,
  pollIntervalMs: task.pollInterval
})

/** A task with what its status brings. */
export const toDetailedTask = (task: StoredTask): DetailedTask => ({
  ...toTask(task),
  ...(task.status === "input_required" ? { inputRequests: task.questions as unknown as InputRequests } : undefined),
  ...task.outcome
})

/** What a server with tasks needs in this era. */
export interface Wire {
  readonly isGiven: typeof isGiven
  readonly dialect: typeof dialect
}

export const wire: Wire = { isGiven, dialect }

/**
 * The command `tasks`, for tool calls that run as tasks and continue after this program has ended. `start` starts a task and prints its id.
 * `watch` prints the status of a task until the task ends. `result` waits for the result of a task. `cancel` cancels a task. `list` shows
 * the tasks of a server of revision 2025-11-25. `Cli` runs the commands.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import type { FileSystem } from "@effect/platform/FileSystem"
import type { ClientError } from "@effect-mcp/core/ClientError"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { Task } from "@effect-mcp/core/protocol/Tasks"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as CommandClient from "../CommandClient.js"
import { type Failure, usage } from "../CommandFailure.js"
import { type OutputService, paint } from "../CommandOutput.js"
import { part } from "../Help.js"
import { argumentsOf, findTool, showResult } from "./Call.js"

const show = (output: OutputService) => (task: Task) =>
  output.result(task, [
    `${task.taskId} `,
    paint("cyan", task.status),
    task.statusMessage === undefined ? "" : ` ${task.statusMessage}`
  ])

const words = (name: string, more?: string) =>
  Args.text({ name }).pipe(
    Args.withDescription(`The server, unless its command line comes after --${more === undefined ? "" : `; ${more}`}`),
    Args.repeated
  )

const ofTask = (
  after: ReadonlyArray<string>,
  name: "watch" | "result" | "cancel",
  description: string,
  work: (context: CommandClient.Context, taskId: string) => Effect.Effect<void, Failure | ClientError, FileSystem>
) =>
  Command.make(
    name,
    { ...CommandClient.options, words: words("server and task", "the id of the task") },
    ({ words, ...given }) =>
      CommandClient.use(given, words, after, (context) => {
        const [taskId] = context.words
        return taskId === undefined ? Effect.fail(usage("Give the id of the task")) : work(context, taskId)
      }, { isEndless: name !== "cancel" })
  ).pipe(Command.withDescription(description))

const start = (after: ReadonlyArray<string>) =>
  Command.make(
    "start",
    {
      ...CommandClient.options,
      words: words("server, tool and arguments", "the tool and its arguments, as for `call`")
    },
    ({ words, ...given }) =>
      CommandClient.use(given, words, after, ({ client, output, time, words: [name, ...rest] }) =>
        Effect.gen(function*() {
          const tool = yield* findTool(client, name)
          const args = yield* argumentsOf(tool.inputSchema as JsonObject, rest, { output, time })
          const task = yield* client.tasks.start(tool.name, args)
          if (Option.isSome(task.taskId)) {
            return yield* output.result({ taskId: task.taskId.value }, task.taskId.value)
          }
          yield* output.note("The server ran the tool at once, without a task")
          yield* showResult(yield* task.result, Option.none(), output)
        }))
  ).pipe(Command.withDescription("Starts a tool as a task and prints the task's id"))

const list = (after: ReadonlyArray<string>) =>
  Command.make(
    "list",
    { ...CommandClient.options, words: words("server") },
    ({ words, ...given }) =>
      CommandClient.use(
        given,
        words,
        after,
        ({ client, output }) => Stream.runForEach(client.tasks.list(), show(output))
      )
  ).pipe(
    Command.withDescription("Lists the tasks of a server of revision 2025-11-25")
  )

/** Returns the command, and one part of its help for each command below it. */
export const commands = (after: ReadonlyArray<string>) => {
  const first = start(after)
  const all = list(after)
  const watch = ofTask(
    after,
    "watch",
    "Prints the status of a task until the task ends",
    ({ client, output }, taskId) =>
      Effect.flatMap(client.tasks.attach(taskId), ({ status }) => Stream.runForEach(status, show(output)))
  )
  const result = ofTask(
    after,
    "result",
    "Waits for the result of a task",
    ({ client, output }, taskId) =>
      Effect.flatMap(
        client.tasks.attach(taskId),
        ({ result }) => Effect.flatMap(result, (value) => showResult(value, Option.none(), output))
      )
  )
  const cancel = ofTask(
    after,
    "cancel",
    "Cancels a task",
    ({ client, output }, taskId) =>
      Effect.flatMap(
        client.tasks.attach(taskId),
        ({ cancel }) => Effect.zipRight(cancel, output.result({ taskId }, `${taskId} is cancelled`))
      )
  )
  const command = Command.make("tasks").pipe(
    Command.withDescription("Starts, watches and cancels tasks"),
    Command.withSubcommands([first, all, watch, result, cancel])
  )
  return [command, [part(first), part(all), part(watch), part(result), part(cancel)]] as const
}

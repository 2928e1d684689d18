/**
 * Makes the client features of a command, for `CommandClient`. With these features the user answers the server at the terminal: the user
 * fills in a form, opens a page, or writes an answer in place of a model. Without a terminal nobody can answer, so the client does not
 * declare elicitation and sampling. The module also shows the server's log messages, and gives the server the folders of `--root` as roots.
 */
import * as Prompt from "@effect/cli/Prompt"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type { QuitException, Terminal } from "@effect/platform/Terminal"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ElicitContent } from "@effect-mcp/core/protocol/Elicitation"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { basename, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type { Failure } from "./CommandFailure.js"
import { type OutputService, paint } from "./CommandOutput.js"
import { jsonText } from "./Escape.js"
import type { ServerTime } from "./ServerTime.js"
import * as TerminalQuestions from "./TerminalQuestions.js"

const declined = { action: "decline" } as const

/** Handles the failure of a question. After Ctrl+C the command ends. An answer that does not fit the schema becomes `otherwise`. */
const or = <B>(otherwise: B) => <A, R>(answer: Effect.Effect<A, QuitException | Failure, R>) =>
  Effect.catchAll(answer, (error) =>
    error._tag === "QuitException"
      ? Effect.zipRight(Effect.sync(() => process.kill(process.pid, "SIGINT")), Effect.never)
      : Effect.succeed(otherwise))

/** Asks the user at the terminal, one question after another. */
const atTerminal = (output: OutputService, { stop }: ServerTime) => {
  const semaphore = Effect.unsafeMakeSemaphore(1)
  const turn = <A, E, R>(question: Effect.Effect<A, E, R>) => stop(semaphore.withPermits(1)(question))
  const shown = (title: string, text: string) => output.note([paint("bold", title), ` ${text}`])
  return Layer.mergeAll(
    ClientFeatures.elicitation(({ message, requestedSchema }) =>
      turn(
        Effect.gen(function*() {
          yield* output.status()
          yield* shown("The server asks:", message)
          const accepted = yield* Prompt.confirm({ message: "Answer?", initial: true })
          if (!accepted) return declined
          const content = yield* TerminalQuestions.complete(requestedSchema as unknown as JsonObject, {}, "all", output)
          return { action: "accept", content: content as ElicitContent } as const
        }).pipe(or(declined))
      )
    ),
    ClientFeatures.urlElicitation(({ message, url }) =>
      turn(
        Effect.gen(function*() {
          yield* output.status()
          yield* shown("The server asks you to open a page:", `${message}\n${url}`)
          return (yield* Prompt.confirm({ message: "Have you opened it?", initial: false }))
            ? "accept" as const
            : "decline" as const
        }).pipe(or("decline" as const))
      )
    ),
    ClientFeatures.sampling(({ messages, systemPrompt }) =>
      turn(Effect.gen(function*() {
        yield* output.status()
        if (systemPrompt !== undefined) yield* shown("System:", systemPrompt)
        for (const { content, role } of messages) {
          for (const block of Array.isArray(content) ? content : [content]) {
            yield* shown(`${role}:`, block.type === "text" ? block.text : `[${block.type}]`)
          }
        }
        const text = yield* or("")(Prompt.text({ message: "Your answer as the model" }))
        return { role: "assistant", model: "a person", content: { type: "text", text } } as const
      }))
    )
  )
}

/** Makes the client features of a command. `roots` are the paths of the folders that the server may use. */
export const layer = (
  output: OutputService,
  time: ServerTime,
  roots: ReadonlyArray<string>
): Layer.Layer<never, never, ClientFeatures.ClientFeatures | Terminal | FileSystem.FileSystem | Path.Path> => {
  const logging = ClientFeatures.logging(({ data, level, logger }) =>
    output.note([
      paint("dim", `[${level}${logger === undefined ? "" : ` ${logger}`}]`),
      ` ${typeof data === "string" ? data : jsonText(data, 0)}`
    ])
  )
  const folders = roots.map((path) => ({ uri: pathToFileURL(resolve(path)).href, name: basename(resolve(path)) }))
  return Layer.mergeAll(
    logging,
    output.interactive ? atTerminal(output, time) : Layer.empty,
    folders.length === 0 ? Layer.empty : ClientFeatures.roots(Effect.succeed(folders))
  )
}

/**
 * Runs the command line. This module has the tree of commands, which are the modules of the folder `commands`. It prints why a command has
 * failed, and decides the exit code. Words after `--` are the command line of a server, not options of this program.
 */
import * as Command from "@effect/cli/Command"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Terminal from "@effect/platform/Terminal"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Inspectable from "effect/Inspectable"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { stripVTControlCharacters } from "node:util"
import { info } from "./CommandClient.js"
import { codes, type Failure } from "./CommandFailure.js"
import { print, question, say } from "./CommandOutput.js"
import * as Bridge from "./commands/Bridge.js"
import * as Call from "./commands/Call.js"
import * as Dev from "./commands/Dev.js"
import * as Init from "./commands/Init.js"
import * as Inspect from "./commands/Inspect.js"
import * as Listen from "./commands/Listen.js"
import * as Login from "./commands/Login.js"
import * as Record from "./commands/Record.js"
import * as Tasks from "./commands/Tasks.js"
import * as Trace from "./commands/Trace.js"
import * as Completions from "./Completions.js"
import * as Help from "./Help.js"
import * as OwnWords from "./OwnWords.js"

const tree = (after: ReadonlyArray<string>) => {
  const [tasks, parts] = Tasks.commands(after)
  const inspect = Inspect.command(after)
  const [call, read, prompt, complete, ping] = Call.commands(after)
  const listen = Listen.command(after)
  const [login, logout] = Login.commands(after)
  const trace = Trace.command(after)
  const record = Record.command(after)
  const bridge = Bridge.command(after)
  const dev = Dev.command(after)
  const command = Command.make("effect-mcp").pipe(
    Command.withDescription("Inspects, calls, traces, bridges and develops servers of the Model Context Protocol"),
    Command.withSubcommands([
      inspect,
      call,
      read,
      prompt,
      complete,
      ping,
      listen,
      tasks,
      login,
      logout,
      trace,
      record,
      bridge,
      dev,
      Init.command
    ])
  )
  const part = Help.part
  return {
    command,
    root: part(command, [
      part(inspect),
      part(call),
      part(read),
      part(prompt),
      part(complete),
      part(ping),
      part(listen),
      part(tasks, parts),
      part(login),
      part(logout),
      part(trace),
      part(record),
      part(bridge),
      part(dev),
      part(Init.command)
    ])
  }
}

/** Prints each log message of the library as a line on standard error. */
const logger = Logger.make(({ message }) => {
  const parts = Array.isArray(message) ? message : [message]
  say(process.stderr, parts.map((part) => Predicate.isString(part) ? part : Inspectable.format(part)).join(" "))
})

/** Prints why a command has failed, and returns the exit code of the process. */
const codeOf = (cause: Cause.Cause<Failure | { readonly _tag: string }>): Effect.Effect<number> => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure === undefined) {
    return Cause.isInterruptedOnly(cause)
      ? Effect.succeed(130)
      : Effect.as(print(process.stderr, `A defect of this program: ${Cause.pretty(cause)}`), 70)
  }
  if (failure._tag === "Failure") {
    const { kind, message } = failure as Failure
    return Effect.as(print(process.stderr, message), codes[kind])
  }
  if (failure._tag === "QuitException") return Effect.succeed(130)
  // `@effect/cli` has printed this error.
  return ValidationError.isValidationError(failure)
    ? Effect.as(Effect.void, codes.usage)
    : Effect.as(print(process.stderr, String(failure)), codes.refused)
}

/** Writes the questions of `@effect/cli` through `CommandOutput`, which escapes characters that could control the terminal. */
const ownQuestions = Layer.effect(
  Terminal.Terminal,
  Effect.map(Terminal.Terminal, (terminal): Terminal.Terminal => ({ ...terminal, display: question }))
)

/** Removes the colors and the blank lines from the errors that `@effect/cli` prints. */
const plainErrors = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.consoleWith((console) =>
    Effect.withConsole(effect, {
      ...console,
      error: (text: unknown) => print(process.stderr, stripVTControlCharacters(String(text)).trim())
    })
  )

/** Runs one command line and returns the exit code. `words` are the words after the name of the program. */
export const run = (words: ReadonlyArray<string>): Effect.Effect<number> => {
  const at = words.indexOf("--")
  const [own, after] = at < 0 ? [words, []] : [words.slice(0, at), words.slice(at + 1)]
  const { command, root } = tree(after)
  if (own.length === 0 || own.join() === "tasks" || own.some((word) => word === "--help" || word === "-h")) {
    return Effect.as(print(process.stdout, Help.page(root, own)), 0)
  }
  if (own[0] === "--version") return Effect.as(print(process.stdout, info.version), 0)
  if (own.join(" ") === "--completions bash") {
    return Effect.as(Effect.flatMap(Completions.bash(command), (script) => print(process.stdout, script)), 0)
  }
  const mistake = OwnWords.mistake(root, own)
  if (mistake !== undefined) return Effect.as(print(process.stderr, mistake.message), codes[mistake.kind])
  return Command.run(command, { name: "Effect MCP", version: info.version })(["node", "effect-mcp", ...own]).pipe(
    plainErrors,
    Effect.exit,
    Effect.flatMap(Exit.match({ onSuccess: () => Effect.succeed(0), onFailure: codeOf })),
    Effect.provide(ownQuestions),
    Effect.provide(NodeContext.layer),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    Logger.withMinimumLogLevel(LogLevel.Warning)
  )
}

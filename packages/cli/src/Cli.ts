/**
 * The command line: the tree of commands, what a user reads when a command fails, and the exit code. Words after `--` are the
 * command line of a server, and no option of this program.
 */
import * as Command from "@effect/cli/Command"
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Bridge from "./commands/Bridge.js"
import * as Call from "./commands/Call.js"
import * as Dev from "./commands/Dev.js"
import * as Init from "./commands/Init.js"
import * as Inspect from "./commands/Inspect.js"
import * as Listen from "./commands/Listen.js"
import * as Tasks from "./commands/Tasks.js"
import * as Trace from "./commands/Trace.js"
import { codes, type Failure } from "./Failure.js"
import { info } from "./Session.js"

const root = (after: ReadonlyArray<string>) =>
  Command.make("effect-mcp").pipe(
    Command.withDescription("Inspects, calls, traces, bridges and develops MCP servers"),
    Command.withSubcommands([
      Inspect.command(after),
      ...Call.commands(after),
      Listen.command(after),
      Tasks.command(after),
      Trace.command(after),
      Bridge.command(after),
      Dev.command(after),
      Init.command
    ])
  )

const say = (text: string) => Effect.sync(() => void process.stderr.write(`${text}\n`))

/** Prints why a command has failed, and gives the exit code of the process. */
const codeOf = (cause: Cause.Cause<Failure | { readonly _tag: string }>): Effect.Effect<number> => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure === undefined) {
    return Cause.isInterruptedOnly(cause)
      ? Effect.succeed(130)
      : Effect.as(say(`A defect of this program: ${Cause.pretty(cause)}`), 70)
  }
  if (failure._tag === "Failure") {
    const { kind, message } = failure as Failure
    return Effect.as(say(message), codes[kind])
  }
  if (failure._tag === "QuitException") return Effect.succeed(130)
  // The library has printed the error of words that it does not know.
  return ValidationError.isValidationError(failure)
    ? Effect.as(Effect.void, codes.usage)
    : Effect.as(say(String(failure)), codes.refused)
}

/** Runs one command line: the words after the name of the program. Gives the exit code. */
export const run = (words: ReadonlyArray<string>): Effect.Effect<number> => {
  const at = words.indexOf("--")
  const [own, after] = at < 0 ? [words, []] : [words.slice(0, at), words.slice(at + 1)]
  const withHelp = own.length === 0 ? ["--help"] : own
  return Command.run(root(after), { name: "Effect MCP", version: info.version })(["node", "effect-mcp", ...withHelp])
    .pipe(
      Effect.exit,
      Effect.flatMap(Exit.match({ onSuccess: () => Effect.succeed(0), onFailure: codeOf })),
      Effect.provide(NodeContext.layer),
      Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))),
      Logger.withMinimumLogLevel(LogLevel.Warning)
    )
}

/**
 * Connects a command to its server. `Target` finds the server, and `Answers` asks the user when the server has a question. When the
 * connection fails, the error is a sentence that tells the user what to do. The commands `Call`, `Inspect`, `Listen` and `Tasks` use the
 * client and the options of this module; `Bridge`, `Dev` and `Cli` use only `info`.
 */
import * as Options from "@effect/cli/Options"
import type { QuitException } from "@effect/platform/Terminal"
import * as Client from "@effect-mcp/core/Client"
import type { ClientError } from "@effect-mcp/core/ClientError"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Answers from "./Answers.js"
import * as CommandFailure from "./CommandFailure.js"
import { layer as outputLayer, Output, type OutputService } from "./CommandOutput.js"
import * as ServerTime from "./ServerTime.js"
import * as Target from "./Target.js"

/** The name and the version of this program, as servers and hosts get them. */
export const info = { name: "effect-mcp", version: "0.1.0" } as const

export const options = {
  ...Target.options,
  json: Options.boolean("json").pipe(Options.withDescription("Prints results as lines of JSON, and asks nothing")),
  timeout: Options.integer("timeout").pipe(
    Options.withSchema(
      Schema.Int.pipe(Schema.positive({ message: () => "--timeout is a number of seconds, 1 or more" }))
    ),
    Options.withDescription("How many seconds the command waits for its server, in total"),
    Options.withDefault(60)
  ),
  roots: Options.directory("root", { exists: "yes" }).pipe(
    Options.withDescription("A folder that the server may use"),
    Options.repeated
  ),
  serverLog: Options.choice("server-log", ["debug", "info", "notice", "warning", "error"]).pipe(
    Options.withDescription("The lowest level of the server's log messages"),
    Options.optional
  )
}

export interface Given extends Target.Given {
  readonly json: boolean
  readonly timeout: number
  readonly roots: ReadonlyArray<string>
  readonly serverLog: Option.Option<"debug" | "info" | "notice" | "warning" | "error">
}

export interface Context {
  readonly client: ClientSessionService
  readonly output: OutputService
  /** The words of the command line that do not name the server. */
  readonly words: ReadonlyArray<string>
  readonly time: ServerTime.ServerTime
}

/**
 * How many seconds the client waits for the answer to `server/discover`. Then the client tries the handshake of revision 2025-11-25 or
 * earlier.
 */
const PROBE = 5

/**
 * Runs the work of a command with a client of its server. Failures of calls become failures of the command. The time of `--timeout` limits
 * the connection and the work together. With `isEndless`, the work goes on until the user or the server ends the work, and the time limits
 * the connection and each request.
 */
export const use = <A, E extends CommandFailure.Failure | ClientError | QuitException, R>(
  given: Given,
  words: ReadonlyArray<string>,
  command: ReadonlyArray<string>,
  work: (context: Context) => Effect.Effect<A, E, R>,
  { isEndless = false }: { readonly isEndless?: boolean } = {}
) =>
  Effect.gen(function*() {
    const output = yield* Output
    const time = yield* ServerTime.make(given.timeout)
    const { connector, rest } = yield* Target.find(words, command, given)
    const [first, ...others] = given.versions
    const connect = Effect.mapError(
      Client.make(connector, {
        clientInfo: info,
        timeout: given.timeout * 1000,
        // The probe gets only a part of the time. The handshake of earlier revisions needs the rest, and may launch the server a second
        // time.
        ...(given.versions.length > 0 && given.versions.every(Version.isModern)
          ? undefined
          : { timeouts: { "server/discover": Math.min(PROBE, given.timeout / 3) * 1000 } }),
        extensions: [TasksClient.extension],
        features: Answers.layer(output, time, given.roots),
        ...(first === undefined ? undefined : { versions: [first, ...others] })
      }),
      (error) => CommandFailure.ofConnect(connector.name, error)
    )
    const workWith = (client: ClientSessionService) =>
      Effect.gen(function*() {
        if (Option.isSome(given.serverLog)) yield* client.setLoggingLevel(given.serverLog.value)
        return yield* work({ client, output, time, words: rest })
      }).pipe(
        Effect.mapError((error) =>
          error._tag === "Failure" || error._tag === "QuitException"
            ? error
            : CommandFailure.ofCall(error as ClientError)
        )
      )
    const limited = time.limit(connector.name)
    return yield* Effect.provide(
      isEndless ? Effect.flatMap(limited(connect), workWith) : limited(Effect.flatMap(connect, workWith)),
      Target.live(given, time.stop)
    )
  }).pipe(Effect.scoped, Effect.provide(outputLayer(given.json)))

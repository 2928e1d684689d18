/**
 * The command `dev`, which runs a server that the user is developing. When a file of the server changes, the command launches the server
 * again. `Bridge` keeps the connection to the host open, and the host gets a notification that the lists have changed. `Cli` runs the
 * command.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Connector from "@effect-mcp/core/Connector"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { statSync } from "node:fs"
import { dirname } from "node:path"
import * as CommandClient from "../CommandClient.js"
import { usage } from "../CommandFailure.js"
import { layer as outputLayer, Output } from "../CommandOutput.js"
import { overStdio } from "./Bridge.js"

const IGNORED = /(^|[/\\])(node_modules|\.[^./\\][^/\\]*)([/\\]|$)/

/**
 * Returns the folder of the first file among the arguments: `dist` for `node dist/main.js`. The command watches only this folder, because a
 * whole project has too many files.
 */
const folderOf = (args: ReadonlyArray<string>): string => {
  const file = args.find((arg) => statSync(arg, { throwIfNoEntry: false })?.isFile() === true)
  return file === undefined ? "." : dirname(file)
}

export const command = (after: ReadonlyArray<string>) =>
  Command.make("dev", {
    watch: Options.directory("watch", { exists: "yes" }).pipe(
      Options.withDescription(
        "A folder to watch for changes of the server; by default the folder of the first file in the command line"
      ),
      Options.repeated
    )
  }, ({ watch }) =>
    Effect.gen(function*() {
      const [program, ...args] = after
      if (program === undefined) return yield* usage("Write the command line of the server after --")
      const files = yield* FileSystem.FileSystem
      const { note } = yield* Output
      const changes = yield* SubscriptionRef.make(0)
      yield* Stream.mergeAll(
        (watch.length === 0 ? [folderOf(args)] : watch).map((path) => files.watch(path, { recursive: true })),
        { concurrency: "unbounded" }
      ).pipe(
        Stream.filter(({ path }) => !IGNORED.test(path)),
        Stream.debounce("200 millis"),
        Stream.runForEach(({ path }) =>
          Effect.zipRight(
            note(`${path} has changed: the server is launched again`),
            SubscriptionRef.update(changes, (count) => count + 1)
          )
        ),
        Effect.catchAll((error) =>
          note(`The files cannot be watched, so the server is not launched again after a change: ${error.message}`)
        ),
        Effect.forkScoped
      )
      // The number of changes at the last launch.
      let launched = 0
      const changed = Stream.runHead(Stream.filter(changes.changes, (count) => count > launched))
      const inner = StdioClient.connector({ command: program, args })
      // A change ends the connection to the server, and the proxy connects again.
      const restarting = Connector.make(
        "server",
        Effect.gen(function*() {
          launched = yield* changes
          const { run: _, ...transport } = yield* inner.connect
          return { ...transport, incoming: Stream.interruptWhen(transport.incoming, changed) }
        })
      )
      // A server that has ended by itself would end again, so it is launched again only after a change.
      const reconnect = Schedule.modifyDelayEffect(Schedule.forever, () =>
        Effect.flatMap(changes, (count) =>
          count > launched
            ? Effect.succeed("50 millis" as const)
            : note("The server does not run. It is launched again when a file changes").pipe(
              Effect.zipRight(changed),
              Effect.as("50 millis" as const)
            )))
      const server = McpServer.layer(
        CommandClient.info,
        Proxy.layer(restarting, { reconnect, connectTimeout: "1 minute" })
      )
      yield* Effect.provide(overStdio, server)
    }).pipe(Effect.scoped, Effect.provide(outputLayer(false)))).pipe(
      Command.withDescription("Launches a server again when its files change, while the host stays connected")
    )

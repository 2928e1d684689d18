/**
 * `dev`: runs the user's server behind a connection of the host that stays open. When a file changes, the server is launched
 * anew, and the host hears that the lists have changed.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as McpServer from "@effect-mcp/server/McpServer"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { usage } from "../Failure.js"
import { layer as outputLayer, Output } from "../Output.js"
import * as Session from "../Session.js"
import { overStdio } from "./Bridge.js"

const IGNORED = /(^|[/\\])(node_modules|\.[^./\\][^/\\]*)([/\\]|$)/

export const command = (after: ReadonlyArray<string>) =>
  Command.make("dev", {
    watch: Options.directory("watch", { exists: "yes" }).pipe(
      Options.withDescription("A folder whose changes launch the server anew; this folder by default"),
      Options.repeated
    )
  }, ({ watch }) =>
    Effect.gen(function*() {
      const [program, ...args] = after
      if (program === undefined) return yield* usage("Write the command line of the server after --")
      const files = yield* FileSystem.FileSystem
      const { note } = yield* Output
      const changes = yield* PubSub.sliding<string>(1)
      yield* Stream.mergeAll(
        (watch.length === 0 ? ["."] : watch).map((path) => files.watch(path, { recursive: true })),
        {
          concurrency: "unbounded"
        }
      ).pipe(
        Stream.filter(({ path }) => !IGNORED.test(path)),
        Stream.debounce("200 millis"),
        Stream.runForEach(({ path }) => Effect.zipRight(note(`${path} has changed`), PubSub.publish(changes, path))),
        Effect.catchAll((error) => note(`Changes are not seen: ${error.message}`)),
        Effect.forkScoped
      )
      const inner = StdioClient.connector({ command: program, args, stderr: "inherit" })
      // A change ends the connection to the server, and the proxy connects again.
      const restarting = Connector.make(
        program,
        Effect.gen(function*() {
          const transport = yield* inner.connect
          const next = yield* Stream.fromPubSub(changes, { scoped: true })
          const { run: _, ...rest } = transport
          return { ...rest, incoming: Stream.interruptWhen(transport.incoming, Stream.runHead(next)) }
        })
      )
      const server = McpServer.layer(
        Session.info,
        Proxy.layer(restarting, { reconnect: Schedule.spaced("500 millis") })
      )
      yield* Effect.provide(overStdio, server)
    }).pipe(Effect.scoped, Effect.provide(outputLayer(false)))).pipe(
      Command.withDescription("Launches a server anew when its files change, while the host stays connected")
    )

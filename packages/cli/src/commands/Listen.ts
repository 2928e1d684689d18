/**
 * The command `listen`, which prints the messages that a server sends without a request. These are changes of lists, log messages, updates
 * of the resources that the user names, and notices that an elicitation has ended. Each message is one line. The command runs until the
 * user interrupts it or the server ends the session. `Cli` runs the command.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Listening from "@effect-mcp/core/unstable/kit/Listening"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as CommandClient from "../CommandClient.js"
import { paint } from "../CommandOutput.js"
import { jsonText } from "../Escape.js"

export const command = (after: ReadonlyArray<string>) =>
  Command.make("listen", {
    ...CommandClient.options,
    words: Args.text({ name: "server and uris" }).pipe(
      Args.withDescription("The server, unless its command line comes after --; the URIs of resources to follow"),
      Args.repeated
    )
  }, ({ words, ...given }) =>
    CommandClient.use(given, words, after, ({ client, output, words: uris }) => {
      const shown = (kind: string, value: unknown, text: string) =>
        output.result({ kind, value }, [paint("cyan", kind), ` ${text}`])
      const events = Stream.mergeAll([
        Stream.map(client.listChanges, (change) => shown("list", change, String(change))),
        Stream.map(client.resourceUpdates, (uri) => shown("resource", uri, uri)),
        Stream.map(
          client.logs,
          (log) => shown("log", log, `${log.level}: ${typeof log.data === "string" ? log.data : jsonText(log.data, 0)}`)
        ),
        Stream.map(client.elicitationsCompleted, (id) => shown("elicitation", id, id))
      ], { concurrency: "unbounded" })
      return Effect.gen(function*() {
        yield* Listening.fork(events, (print) => print)
        yield* Effect.forEach(uris, (uri) => client.subscribeResource(uri), { discard: true })
        yield* client.awaitSubscription
        yield* output.note(paint("dim", `Listening to ${client.serverInfo.name}; Ctrl+C ends the command`))
        yield* client.ended
        yield* output.note("The server has ended the session")
      })
    }, { isEndless: true })).pipe(Command.withDescription("Prints what a server sends without a request"))

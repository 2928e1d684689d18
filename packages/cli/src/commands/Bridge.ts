/**
 * The command `bridge`, which offers a server over another transport. Without `--port`, the command uses standard input and output: a host
 * that supports only stdio launches the command, and the command connects to a server with a URL and logs in. With `--port`, the command
 * uses HTTP: it offers any server at a port, for example a server over stdio. `Cli` runs the command; `Dev` uses `overStdio`.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type { Connector } from "@effect-mcp/core/Connector"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as CommandClient from "../CommandClient.js"
import { ofConnect, refused } from "../CommandFailure.js"
import { layer as outputLayer, Output } from "../CommandOutput.js"
import * as Target from "../Target.js"

/** Makes a server in this process that passes everything on to the server of the connector. Fails when the connection fails. */
export const proxied = <R>(connector: Connector<R>) =>
  McpServer.layer(CommandClient.info, Proxy.layerConnected(connector)).pipe(
    Layer.catchAll((error) => Layer.fail(ofConnect(connector.name, error)))
  )

/** Serves standard input and output until the host closes standard input. */
export const overStdio = Effect.mapError(StdioServer.run(), (error) => refused(error.message))

const overHttp = (port: number, host: string) =>
  Effect.gen(function*() {
    const { note } = yield* Output
    const { url } = yield* HttpServer.make({ port, host })
    yield* note(`Listening at ${url}`)
    return yield* Effect.never
  }).pipe(Effect.scoped, Effect.mapError((error) => refused(error.message)))

export const command = (after: ReadonlyArray<string>) =>
  Command.make("bridge", {
    ...Target.options,
    port: Target.port.pipe(
      Options.withDescription("Serves HTTP at this port, 0 for any free port"),
      Options.optional
    ),
    host: Options.text("host").pipe(
      Options.withDescription("The address at which the command listens"),
      Options.withDefault("127.0.0.1")
    ),
    words: Args.text({ name: "server" }).pipe(
      Args.withDescription("The server, unless its command line comes after --"),
      Args.atMost(1)
    )
  }, ({ host, port, words, ...given }) =>
    Effect.gen(function*() {
      const { connector } = yield* Target.find(words, after, given)
      const serve = Option.match(port, { onNone: () => overStdio, onSome: (port) => overHttp(port, host) })
      yield* Effect.provide(serve, proxied(connector))
    }).pipe(Effect.provide(Target.live(given)), Effect.provide(outputLayer(false)))).pipe(
      Command.withDescription(
        "Serves a server with a URL over standard input and output; with --port serves any server over HTTP"
      )
    )

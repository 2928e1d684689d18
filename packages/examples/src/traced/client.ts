/**
 * A traced gateway: a client calls a tool over HTTP, the gateway passes the call on to a server over standard streams, and a receiver of
 * OTLP prints the spans of all three as trees. In place of the receiver there would be a collector.
 */
import * as Otlp from "@effect/opentelemetry/Otlp"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as ClientTelemetry from "@effect-mcp/core/ClientTelemetry"
import * as McpServer from "@effect-mcp/core/McpServer"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as ServerTelemetry from "@effect-mcp/core/ServerTelemetry"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { fileURLToPath } from "node:url"
import * as Receiver from "./receiver.js"

const exported = (baseUrl: string, serviceName: string) =>
  Layer.provide(
    Otlp.layerJson({ baseUrl, resource: { serviceName }, tracerExportInterval: "100 millis" }),
    FetchHttpClient.layer
  )

/** The gateway at an address of its own, and the server that it launches. */
const gateway = (otlp: string) => {
  const upstream = StdioClient.connector({
    command: process.execPath,
    args: [fileURLToPath(new URL("server.js", import.meta.url))],
    env: { OTLP_URL: otlp },
    stderr: "ignore"
  })
  const server = McpServer.layer({ name: "gateway", version: "1.0.0" }, Proxy.layer(upstream, { name: "notes" })).pipe(
    Layer.provide(ClientTelemetry.layer()),
    // The gateway has no users. Without this option it would begin a new trace for each caller.
    Layer.provide(ServerTelemetry.layer({ newTrace: "never" }))
  )
  return HttpServer.layer({ port: 0 }).pipe(Layer.provide(server), Layer.provide(exported(otlp, "gateway")))
}

const calling = (url: string, version: Version.Version) =>
  Effect.flatMap(Client.Client, (client) => client.callTool("find")).pipe(
    Effect.provide(
      Client.layer(Remote.connector(url), { versions: [version] }).pipe(Layer.provide(ClientTelemetry.layer()))
    )
  )

const program = Effect.gen(function*() {
  const receiver = yield* Receiver.make
  for (const version of ["2026-07-28", "2025-11-25"] as const) {
    yield* HttpServer.HttpServer.pipe(
      Effect.flatMap(({ url }) => Effect.provide(calling(url, version), exported(receiver.url, "client"))),
      Effect.provide(gateway(receiver.url))
    )
    const tree = yield* Effect.retry(
      receiver.tree("tools/call find", "SELECT notes"),
      Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(100))
    )
    yield* Console.log(`${version}\n${tree}`)
  }
})

NodeRuntime.runMain(Effect.provide(Effect.scoped(program), FetchHttpClient.layer))

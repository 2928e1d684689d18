/**
 * A server over standard streams, behind the gateway of `client`: its handler looks something up. It exports its spans itself, to the
 * receiver whose URL the gateway gives it.
 */
import * as Otlp from "@effect/opentelemetry/Otlp"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServerTelemetry from "@effect-mcp/core/ServerTelemetry"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const FindLive = McpServer.tool(
  Tool.make("find", { annotations: { readOnlyHint: true } }),
  () => Effect.withSpan(Effect.succeed("found"), "SELECT notes")
)

const Server = McpServer.layer({ name: "notes", version: "1.0.0" }, FindLive).pipe(
  Layer.provide(ServerTelemetry.layer()),
  Layer.provide(
    Otlp.layerJson({
      baseUrl: process.env.OTLP_URL!,
      resource: { serviceName: "notes" },
      tracerExportInterval: "100 millis"
    })
  ),
  Layer.provide(FetchHttpClient.layer)
)

StdioServer.layer.pipe(Layer.provide(Server), Layer.launch, StdioServer.runMain)

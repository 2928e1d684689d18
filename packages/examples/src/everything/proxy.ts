/**
 * A proxy over HTTP in front of the everything server at `--upstream`; the official conformance suite tests it. `--port` is the
 * port (default: 3001), `--version` the only revision that the proxy supports, `--upstream-version` the only one that it
 * speaks to the upstream (default: all).
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    port: { type: "string" },
    upstream: { type: "string" },
    version: { type: "string" },
    "upstream-version": { type: "string" }
  }
})

const versions = (given: string | undefined): McpServer.Options["versions"] => {
  if (given === undefined) return undefined
  if (Version.isLegacy(given) || Version.isModern(given)) return [given]
  throw new Error(`Unknown version: ${given}`)
}

const upstream = Remote.connector(values.upstream ?? "http://localhost:3000/mcp")

const Server = McpServer.layer(
  { name: "everything-proxy", version: "1.0.0" },
  Proxy.layer(upstream, { name: "everything", client: { versions: versions(values["upstream-version"]) } }),
  { versions: versions(values.version) }
)

const Http = HttpServer.layer({ port: Number(values.port ?? 3001), legacy: { ssePath: "/sse", retry: "500 millis" } })

const Announce = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ url }) => Console.log(`everything is at ${url}`))
)

Announce.pipe(
  Layer.provide(Http),
  Layer.provide([Server, EventStore.layerMemory]),
  Layer.provide(FetchHttpClient.layer),
  Layer.launch,
  NodeRuntime.runMain
)

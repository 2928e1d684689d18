/**
 * The everything server over HTTP; the official conformance suite tests it. `--port` is the port (default: 3000), and
 * `--version` the only revision that it supports (default: all).
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as Version from "@effect-mcp/protocol/Version"
import * as EventStore from "@effect-mcp/server/EventStore"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { parseArgs } from "node:util"
import * as Everything from "./Everything.js"

const { values } = parseArgs({ options: { port: { type: "string" }, version: { type: "string" } } })
const version = values.version
if (version !== undefined && !Version.isLegacy(version) && !Version.isModern(version)) {
  throw new Error(`Unknown version: ${version}`)
}

const Http = HttpServer.layer({ port: Number(values.port ?? 3000), legacy: { ssePath: "/sse", retry: "500 millis" } })

const Announce = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ url }) => Console.log(`everything is at ${url}`))
)

Announce.pipe(
  Layer.provide(Http),
  // The event store keeps messages for a while, so that clients can resume and poll streams.
  Layer.provide([Everything.layer(version), EventStore.layerMemory()]),
  Layer.launch,
  NodeRuntime.runMain
)

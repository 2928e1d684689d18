/**
 * The everything server over HTTP; the official conformance suite tests it. `--port` is the port (default: 3000), and `--version` the only
 * revision that it supports (default: all). With `--redis`, the URL of a Redis, it is one node of several: a request may arrive at any node
 * that shares this Redis.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { parseArgs } from "node:util"
import * as Everything from "./Everything.js"

const { values } = parseArgs({
  options: { port: { type: "string" }, version: { type: "string" }, redis: { type: "string" } }
})
const version = values.version
if (version !== undefined && !Version.isLegacy(version) && !Version.isModern(version)) {
  throw new Error(`Unknown version: ${version}`)
}

const Http = HttpServer.layer({ port: Number(values.port ?? 3000), legacy: { ssePath: "/sse", retry: "500 millis" } })

// The event store keeps messages for a while, so that clients can resume and poll streams.
const Stores = values.redis === undefined
  ? Layer.merge(EventStore.layerMemory, TaskStore.layerMemory)
  // Generous: many of them start at once in a run of the conformance suite.
  : RedisNodes.layerWith({ url: values.redis, timeout: "10 seconds" })

const Announce = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ url }) => Console.log(`everything is at ${url}`))
)

Announce.pipe(
  Layer.provide(Http),
  Layer.provide(Everything.layer(version)),
  Layer.provide(Stores),
  Layer.launch,
  NodeRuntime.runMain
)

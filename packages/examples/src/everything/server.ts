/**
 * A server of everything that a server can do, over HTTP: an example, and what the official conformance suite is run
 * against. `--port` is where it listens, `--version` the one revision that it speaks, all of them by default.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as Version from "@effect-mcp/protocol/Version"
import * as ClientLogger from "@effect-mcp/server/ClientLogger"
import * as EventStore from "@effect-mcp/server/http/EventStore"
import * as McpServer from "@effect-mcp/server/McpServer"
import { Console, Effect, Layer } from "effect"
import { parseArgs } from "node:util"
import * as Asking from "./Asking.js"
import * as Content from "./Content.js"
import * as Prompts from "./Prompts.js"
import * as Resources from "./Resources.js"
import * as Work from "./Work.js"

const { values } = parseArgs({ options: { port: { type: "string" }, version: { type: "string" } } })
const version = values.version
if (version !== undefined && !Version.isLegacy(version)) throw new Error(`Unknown version: ${version}`)

const Everything = Layer.mergeAll(Content.layer, Work.layer, Asking.layer, Prompts.layer, Resources.layer)

const Server = McpServer.layer({ name: "everything", title: "Everything", version: "1.0.0" }, Everything, {
  instructions: "One of each: tools, resources and prompts that show what a server can do.",
  ...(version === undefined ? undefined : { versions: [version] })
}).pipe(
  // What handlers log with `Effect.log` reaches the client that they work for.
  Layer.provide(ClientLogger.layer)
)

const Http = HttpServer.layer({ port: Number(values.port ?? 3000), ssePath: "/sse", retry: "500 millis" })

const Announce = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ url }) => Console.log(`everything is at ${url}`))
)

Announce.pipe(
  Layer.provide(Http),
  // Streams can be resumed, and polled, because what was said is kept for a while.
  Layer.provide([Server, EventStore.layerMemory()]),
  Layer.launch,
  NodeRuntime.runMain
)

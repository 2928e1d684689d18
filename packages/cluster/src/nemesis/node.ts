/**
 * The program of one node of a run with faults: `node node.js <NodeOptions>`. It prints one line when it serves requests, and writes a
 * journal. SIGTERM shuts the node down in order. The node also ends when the program that has started the node has ended.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import type { ChangeBus } from "@effect-mcp/core/ChangeBus"
import type { EventStore } from "@effect-mcp/core/EventStore"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import type { RedisError } from "@effect-mcp/redis/RedisError"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import * as SqlNodes from "@effect-mcp/sql/SqlNodes"
import type { SqlStoreError } from "@effect-mcp/sql/SqlStoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Bugs from "./Bugs.js"
import * as Features from "./Features.js"
import * as Journal from "./Journal.js"
import * as JumpingClock from "./JumpingClock.js"
import { BACK, FORWARD, JUMP, NodeOptions } from "./NodeOptions.js"
import * as Recorded from "./Recorded.js"

const { bug, journal, name, port, store } = Schema.decodeSync(NodeOptions)(process.argv[2]!)

const write = Journal.open(journal)

const { clock, jump } = JumpingClock.make()
process.on(FORWARD, () => jump(JUMP))
process.on(BACK, () => jump(-JUMP))
process.stdin.on("end", () => process.exit(1)).resume()

const Stores: Layer.Layer<Layer.Layer.Success<typeof RedisNodes.services>, RedisError | SqlStoreError> =
  store.type === "redis"
    ? RedisNodes.layerWith({ url: store.url })
    : Layer.provide(SqlNodes.layer, PgNodes.client({ url: store.url }))

const Shared = bug === "no fencing"
  ? Layer.provideMerge(Bugs.withoutFencing(Stores), Stores)
  : bug === "publish and subscribe"
  ? Layer.provideMerge(Bugs.publishAndSubscribe(store.url), Stores)
  : Stores

const Observed = Layer.provideMerge(
  Layer.effectContext(
    Effect.map(Effect.context<ChangeBus | EventStore | SessionDirectory>(), Recorded.make(name, write))
  ),
  Shared
)

const Server = McpServer.layer({ name: "nemesis", version: "1.0.0" }, Features.layer(name, write), {
  extensions: [TasksServer.extension],
  authenticator: Features.authenticator
})

const listening = Effect.zipRight(HttpServer.HttpServer, Effect.sync(() => console.log("listening")))

Layer.effectDiscard(listening).pipe(
  Layer.provide(HttpServer.layer({ port })),
  Layer.provide(Server),
  Layer.provide(Observed),
  Layer.provide(Layer.setClock(clock)),
  Layer.launch,
  NodeRuntime.runMain
)

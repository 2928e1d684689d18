/**
 * One node of the server: `node node.js <NodeConfig>`. Reports on standard output. SIGTERM shuts it down in order; it ends, too, when the
 * program that has started it is gone.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import * as McpServer from "@effect-mcp/server/McpServer"
import * as Tasks from "@effect-mcp/server/Tasks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as MetricState from "effect/MetricState"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { writeSync } from "node:fs"
import * as Features from "./Features.js"
import { NodeConfig, Report } from "./NodeConfig.js"

const { name, port, redis } = Schema.decodeSync(NodeConfig)(process.argv[2]!)

/** Without a buffer: a report is read also when the process is killed at once after it. */
const report = (report: Report) => Effect.sync(() => writeSync(1, `${Schema.encodeSync(Report)(report)}\n`))

const PREFIX = "mcp.runtime."

/** A counter's count, a gauge's value, and the most that a histogram has. */
const valueOf = (state: MetricState.MetricState.Untyped): number =>
  MetricState.isCounterState(state)
    ? Number(state.count)
    : MetricState.isGaugeState(state)
    ? Number(state.value)
    : MetricState.isHistogramState(state)
    ? state.max
    : 0

const reportMetrics = Effect.flatMap(Metric.snapshot, (pairs) => {
  const all = pairs.filter(({ metricKey }) => metricKey.name.startsWith(PREFIX))
  const values = all.map(({ metricKey: { name, tags }, metricState }) => [
    [name.slice(PREFIX.length), ...tags.filter(({ key }) => key === "reason").map(({ value }) => value)].join(" "),
    valueOf(metricState)
  ])
  return report({ type: "metrics", values: Object.fromEntries(values) })
})

const Metrics = Layer.scopedDiscard(Effect.zipRight(
  Effect.addFinalizer(() => reportMetrics),
  Effect.forkScoped(Effect.repeat(reportMetrics, Schedule.spaced("1 second")))
))

const Server = McpServer.layer(
  { name: "cluster", version: "1.0.0" },
  Features.layer({ node: name, onBegin: (tool, nonce) => report({ type: "began", tool, nonce }) }),
  { extensions: [Tasks.extension] }
)

const Http = HttpServer.layer({
  port,
  // nginx keeps its connections to a node for a minute; the node must keep them longer.
  node: { keepAliveTimeout: 75_000 },
  health: { grace: "3 seconds" },
  legacy: { ssePath: "/sse", sessionIdPrefix: `${name}-` }
})

process.stdin.on("end", () => process.exit(1)).resume()

Layer.effectDiscard(Effect.zipRight(HttpServer.HttpServer, report({ type: "listening" }))).pipe(
  Layer.provide(Http),
  Layer.provide(Server),
  Layer.provide(RedisNodes.layer({ url: redis })),
  // Ends last.
  Layer.provide(Metrics),
  Layer.launch,
  NodeRuntime.runMain
)

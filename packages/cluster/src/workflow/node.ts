/**
 * The program of one node of a run with durable tasks: `node node.js <port> <url of PostgreSQL> <time to live in milliseconds>`. It prints
 * one line when it serves requests. Its tools write a row into the table `ran` when a step begins and when a step ends.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import * as ClusterEngine from "@effect-mcp/workflow/ClusterEngine"
import * as DurableTool from "@effect-mcp/workflow/DurableTool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { Report } from "./Report.js"

const [port, url, ttl] = process.argv.slice(2) as [string, string, string]
process.stdin.on("end", () => process.exit(1)).resume()

/** Writes a row, and tries again while PostgreSQL cannot be reached. A step of a real tool must do the same. */
const write = (job: string, step: string, event: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    sql`INSERT INTO ran (job, step, event, pid, at)
      VALUES (${job}, ${step}, ${event}, ${process.pid}, extract(epoch from clock_timestamp()) * 1000)`).pipe(
      Effect.retry(Schedule.spaced("500 millis")),
      Effect.orDie
    )

const step = (job: string, name: string, millis: number) => ({
  success: Schema.Int,
  run: write(job, name, "begin").pipe(
    Effect.zipRight(Effect.sleep(millis)),
    Effect.zipRight(write(job, name, "end")),
    Effect.as(1)
  )
})

const Text = Ask.elicit({ message: "Which text?", schema: Schema.Struct({ text: Schema.String }) })

const ReportLive = DurableTool.layer(Report, function*({ ask, job, millis, steps }, task) {
  let pages = 0
  for (let n = 1; n <= steps; n++) {
    pages += yield* task.step(`step ${n}`, step(job, `${n}`, millis))
    if (n === ask) {
      const { text } = yield* task.ask("text", { text: Text })
      pages += text.action === "accept" ? text.content.text.length : 0
    }
  }
  return { job, pages }
})

const Pg = PgNodes.client({ url })

const Server = McpServer.layer(
  { name: "reports", version: "1.0.0" },
  Layer.merge(ReportLive, TasksServer.layerWith({ ttl: Number(ttl), pollInterval: "250 millis" })),
  { extensions: [TasksServer.extension] }
)

Layer.effectDiscard(Effect.zipRight(HttpServer.HttpServer, Effect.sync(() => console.log("listening")))).pipe(
  Layer.provide(HttpServer.layer({ port: Number(port) })),
  Layer.provide(Server),
  Layer.provide(ClusterEngine.layer),
  Layer.provide(Pg),
  Layer.provide(PgNodes.layer({ url })),
  Layer.provide(Logger.minimumLogLevel(process.env.WORKFLOW_LOG === undefined ? LogLevel.None : LogLevel.Debug)),
  Layer.launch,
  NodeRuntime.runMain
)

/**
 * A durable tool that takes a step, asks, and takes another step, and the server of one of several processes.
 */
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import * as ClusterEngine from "@effect-mcp/workflow/ClusterEngine"
import * as DurableTool from "@effect-mcp/workflow/DurableTool"
import { type Duration, Effect, Layer, Schema } from "effect"

export type Feature = Layer.Layer<never, never, any>

const Publish = Tool.make("publish", { task: "required", success: Schema.Struct({ isPublic: Schema.Boolean }) })

/** Notes the steps that begin. */
export const publish = (begun: Array<string>): Feature =>
  DurableTool.layer(Publish, function*(_, task) {
    yield* task.step("build", { run: Effect.sync(() => void begun.push("build")) })
    const { sure } = yield* task.ask("publish", { sure: Ask.confirm("Publish?") })
    yield* task.step("upload", { run: Effect.sync(() => void begun.push("upload")) })
    return { isPublic: sure }
  })

/** The server of a process that notices soon what the others do. */
export const server = (url: string, features: Feature, ttl: Duration.DurationInput = "1 hour") =>
  McpServer.layer(
    { name: "reports", version: "0.0.0" },
    Layer.merge(features, TasksServer.layerWith({ ttl })) as Layer.Layer<never, never, never>,
    { extensions: [TasksServer.extension] }
  ).pipe(
    Layer.provide(ClusterEngine.layerWith({ lease: "2 seconds", pollInterval: "100 millis", stopTimeout: "1 second" })),
    Layer.provide(PgNodes.client({ url })),
    Layer.provide(PgNodes.layer({ url }))
  )

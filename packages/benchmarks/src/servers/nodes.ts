/**
 * A node of a server with nodes that share their state: in Redis, in PostgreSQL, or in memory, where there is only one node. It has a tool
 * that answers at once, a tool that answers later, and a tool that sends progress before its answer.
 */
import * as ChangeBus from "@effect-mcp/core/ChangeBus"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import * as SealKeys from "@effect-mcp/core/SealKeys"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import { Effect, Layer, Schema } from "effect"
import { AddLive, info } from "../AddServer.js"
import type * as Start from "./Start.js"

const schemas = {
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
}

const later = Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))

const Features = Layer.mergeAll(
  AddLive,
  McpServer.tool(Tool.make("later", schemas), ({ a, b }) => Effect.as(later, { sum: a + b })),
  McpServer.tool(Tool.make("count", schemas), ({ a, b }) =>
    Effect.gen(function*() {
      const { progress } = yield* RequestContext.RequestContext
      for (let n = 1; n <= 10; n++) {
        yield* progress(n)
        yield* later
      }
      return { sum: a + b }
    }))
)

const Memory = Layer.mergeAll(
  ChangeBus.layerMemory,
  EventStore.layerMemory,
  Inbox.layerMemory,
  SealKeys.layerMemory,
  SessionDirectory.layerMemory,
  SharedLimits.layerMemory,
  TaskStore.layerMemory
)

const on = <A, E>(state: Layer.Layer<A, E>): Start.Start => (onListening) =>
  void Effect.runFork(
    Effect.flatMap(HttpServer.HttpServer, ({ url }) => Effect.sync(() => onListening(url))).pipe(
      Effect.zipRight(Effect.never),
      Effect.provide(
        HttpServer.layer({ port: 0, node: { keepAliveTimeout: 600_000 }, limits: { maxSessions: 100_000 } }).pipe(
          Layer.provide(McpServer.layer(info, Features)),
          Layer.provide(state)
        )
      )
    )
  )

/** Without state: sessions of this node only, no stored events. */
export const alone = on(Layer.empty)

export const inMemory = on(Memory)

export const inRedis = on(
  RedisNodes.layerWith({ url: process.env.REDIS_URL ?? "", prefix: process.env.REDIS_PREFIX ?? "" })
)

export const inPostgres = on(PgNodes.layer({ url: process.env.DATABASE_URL ?? "" }))

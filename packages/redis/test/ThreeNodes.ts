/**
 * Three nodes of a server in this process, each with a connection of its own to the same part of a Redis or of a cluster. They may do
 * what the documentation lets nodes do.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Registry from "@effect-mcp/core/Registry"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as NodesLaws from "../../testing/test/support/NodesLaws.js"
import * as RedisProcess from "./RedisProcess.js"

type Url = string | ReadonlyArray<string>

const node = (url: Url, prefix: string) =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const context = yield* Layer.buildWithScope(
      HttpServer.layer({ port: 0, legacy: { ssePath: NodesLaws.SSE_PATH } }).pipe(
        Layer.provideMerge(McpServer.layer({ name: "nodes", version: "1.0.0" }, NodesLaws.features)),
        Layer.provide(
          Layer.provide(RedisNodes.services, RedisConnection.layerWith({ url: RedisProcess.documented(url), prefix }))
        )
      ),
      scope
    )
    return {
      ...Context.get(context, HttpServer.HttpServer),
      changed: Effect.provide(Registry.changed("tools"), context),
      leave: Scope.close(scope, Exit.void)
    }
  })

export const at = (url: Url) =>
  Effect.suspend(() => {
    const one = node(url, RedisProcess.nextPrefix())
    return Effect.all([one, one, one])
  })

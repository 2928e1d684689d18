/**
 * A node of a server over PostgreSQL, in this process, with an HTTP endpoint and with connections of its own.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Registry from "@effect-mcp/core/Registry"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as NodesLaws from "../../testing/test/support/NodesLaws.js"

/** Ends with the scope, or when it leaves. */
export const make = (url: string) =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const context = yield* Layer.buildWithScope(
      HttpServer.layer({ port: 0, legacy: { ssePath: NodesLaws.SSE_PATH } }).pipe(
        Layer.provideMerge(McpServer.layer({ name: "nodes", version: "1.0.0" }, NodesLaws.features)),
        Layer.provide(PgNodes.layer({ url }))
      ),
      scope
    )
    return {
      ...Context.get(context, HttpServer.HttpServer),
      changed: Effect.provide(Registry.changed("tools"), context),
      leave: Scope.close(scope, Exit.void)
    }
  })

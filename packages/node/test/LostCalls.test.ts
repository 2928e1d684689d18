/**
 * Clients of 2026-07-28 whose connections are cut in the middle of a call, over real sockets and with both HTTP clients of
 * Node.
 */
import { FetchHttpClient } from "@effect/platform"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { served } from "./HttpFixture.js"
import { tcpProxy } from "./TcpProxy.js"

/** A server with two tools, whose first call begins a stream and never ends; a client connected through a proxy. */
const connected = Effect.gen(function*() {
  const runs: Array<string> = []
  const stopped = yield* Deferred.make<void>()
  const tool = (name: string, annotations: object) =>
    McpServer.tool(
      Tool.make(name, { annotations }),
      () =>
        Effect.suspend(() =>
          runs.push(name) > 1 ?
            Effect.void :
            Effect.flatMap(RequestContext, ({ progress }) => Effect.zipRight(progress(1), Effect.never)).pipe(
              Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
            )
        )
    )
  const server = yield* Layer.build(served(Layer.merge(tool("read", { readOnlyHint: true }), tool("act", {}))))
  const { cut, url } = yield* tcpProxy(Context.get(server, HttpServer.HttpServer).port)
  const client = yield* Client.make(Remote.connector(`${url}/mcp`), { versions: ["2026-07-28"], maxRetries: 3 })
  const broken = (name: string) =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      const call = yield* Effect.fork(client.callTool(name, {}, {
        onProgress: () => Effect.asVoid(Deferred.succeed(began, undefined))
      }))
      yield* Deferred.await(began)
      yield* cut
      yield* Deferred.await(stopped)
      return call
    })
  return { broken, client, runs }
})

for (
  const [name, layer] of [
    ["fetch", FetchHttpClient.layer],
    ["node:http", NodeHttpClient.layer],
    ["undici", NodeHttpClient.layerUndici]
  ] as const
) {
  describe(`A call over ${name} whose connection is cut in the middle of its stream`, () => {
    it.scopedLive("MUST be sent again as a new request when its tool is listed as read-only and the caller allows it", () =>
      Effect.gen(function*() {
        const { broken, runs } = yield* connected
        const call = yield* broken("read")
        assert.deepStrictEqual((yield* Fiber.join(call)).content, [])
        assert.deepStrictEqual(runs, ["read", "read"])
      }).pipe(Effect.provide(layer)))

    it.scopedLive("fails when its tool may not run twice, and the server runs it once", () =>
      Effect.gen(function*() {
        const { broken, client, runs } = yield* connected
        const call = yield* broken("act")
        const error = yield* Effect.flip(Fiber.join(call))
        assert.include(error.message, "The answer to \"tools/call\" was lost, and the server may have run the request")
        yield* client.ping()
        assert.deepStrictEqual(runs, ["act"])
      }).pipe(Effect.provide(layer)))
  })
}

/**
 * Requests of 2026-07-28 over real sockets, to the raw HTTP server and to that of `@effect/platform`.
 */
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as HttpEndpoint from "@effect-mcp/server/HttpEndpoint"
import * as McpServer from "@effect-mcp/server/McpServer"
import type { Registry } from "@effect-mcp/server/Registry"
import { RequestContext } from "@effect-mcp/server/RequestContext"
import { Deferred, Effect, Layer } from "effect"
import { createServer } from "node:http"
import { act, ask, info, listen, until } from "./HttpFixture.js"

type Features = Layer.Layer<never, never, Registry>

const shells = {
  "the raw server": (features: Features) =>
    Effect.map(
      Layer.build(HttpServer.layer({ port: 0 }).pipe(Layer.provide(McpServer.layer(info, features)))),
      (context) => Effect.map(HttpServer.HttpServer, ({ url }) => url).pipe(Effect.provide(context))
    ).pipe(Effect.flatten),
  "the platform's server": (features: Features) =>
    Effect.map(
      Layer.build(
        HttpEndpoint.serve().pipe(
          Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
          Layer.provide(McpServer.layer(info, features))
        )
      ),
      (context) =>
        Effect.map(
          PlatformServer.HttpServer,
          ({ address }) => `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}/mcp`
        ).pipe(Effect.provide(context))
    ).pipe(Effect.flatten)
}

const call = Message.request(1, "tools/call", {
  name: "act",
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    progressToken: "t"
  }
})

const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "act" }

for (const [shell, serve] of Object.entries(shells)) {
  describe(`A modern request to ${shell}`, () => {
    it.scopedLive("is answered with JSON, and with 400 when a header differs from the body", () =>
      Effect.gen(function*() {
        const url = yield* serve(act(Effect.void))
        const answer = yield* ask(url, call, headers)
        assert.deepStrictEqual([answer.status, answer.json.result.resultType], [200, "complete"])
        const differs = yield* ask(url, call, { ...headers, "mcp-name": "other" })
        assert.deepStrictEqual([differs.status, differs.json.error.code, differs.json.id], [400, -32020, 1])
      }))

    it.scopedLive("is interrupted when its client hangs up in the middle of the stream", () =>
      Effect.gen(function*() {
        const stopped = yield* Deferred.make<void>()
        const url = yield* serve(act(
          Effect.flatMap(RequestContext, ({ progress }) => Effect.zipRight(progress(1), Effect.never)).pipe(
            Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
          )
        ))
        const stream = yield* listen(url, headers, call)
        yield* until(() => stream.messages().length === 1)
        yield* stream.close
        yield* Deferred.await(stopped)
      }))

    it.scopedLive("is interrupted when its client hangs up before there is an answer", () =>
      Effect.gen(function*() {
        const started = yield* Deferred.make<void>()
        const stopped = yield* Deferred.make<void>()
        const url = yield* serve(act(
          Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
          )
        ))
        const abort = new AbortController()
        yield* Effect.fork(Effect.ignore(Effect.tryPromise(() =>
          fetch(url, {
            method: "POST",
            headers: { ...headers, accept: "application/json, text/event-stream", "content-type": "application/json" },
            body: JSON.stringify(call),
            signal: abort.signal
          })
        )))
        yield* Deferred.await(started)
        abort.abort()
        yield* Deferred.await(stopped)
      }))
  })
}

/**
 * Requests of 2026-07-28 over real sockets, in all shells.
 */
import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Layer } from "effect"
import { act, ask, info, listen, until } from "./HttpFixture.js"
import { shells } from "./Shells.js"

const call = Message.request(1, "tools/call", {
  name: "act",
  _meta: TestPeer.requestMeta({ progressToken: "t" })
})

const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "act" }

for (const [shell, start] of Object.entries(shells)) {
  const serve = (features: Layer.Layer<never, never, Registry>) =>
    Effect.gen(function*() {
      const server = yield* Layer.build(McpServer.layer(info, features))
      return `http://127.0.0.1:${yield* Effect.provide(start({ path: "/mcp" }), server)}/mcp`
    })

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

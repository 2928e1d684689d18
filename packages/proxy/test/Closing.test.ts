import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { CreateMessageResult } from "@effect-mcp/core/protocol/Sampling"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Deferred, Effect, Exit, Layer, Scope, TestClock } from "effect"
import { pairs, server } from "./Setting.js"

const closeTimeout = "1 second"

const uninterruptible = Effect.uninterruptible(Effect.never)
const endless = Effect.onInterrupt(Effect.never, () => Effect.never)

const answer: CreateMessageResult = { role: "assistant", content: { type: "text", text: "!" }, model: "test" }

const question = { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 1 } as const

/** What does not end: a handler of the upstream, or of the client that the upstream asks through the proxy. */
const kinds = {
  "a handler of the upstream that cannot be interrupted": { upstream: uninterruptible, client: Effect.void },
  "a handler of the upstream whose finalizer does not end": { upstream: endless, client: Effect.void },
  "a handler of the client that cannot be interrupted": { upstream: Effect.void, client: uninterruptible },
  "a handler of the client whose finalizer does not end": { upstream: Effect.void, client: endless }
}

describe("Closing a proxy ends in time", () => {
  for (const [pair, client, upstream] of pairs) {
    for (const sessions of ["shared", "each"] as const) {
      for (const [what, stuck] of Object.entries(kinds)) {
        it.scoped(`${pair}, ${sessions}: with ${what}`, () =>
          Effect.gen(function*() {
            const started = yield* Deferred.make<void>()
            const start = Deferred.succeed(started, undefined)
            const isOfUpstream = stuck.upstream !== Effect.void
            const stick = McpServer.tool(Tool.make("stick"), () =>
              isOfUpstream
                ? Effect.asVoid(Effect.zipRight(start, stuck.upstream))
                : Effect.flatMap(ServerSession, (session) => Effect.ignore(session.createMessage(question))))
            const connector = yield* server(stick, { versions: upstream, closeTimeout })
            const scope = yield* Scope.make()
            const context = yield* Layer.buildWithScope(
              McpServer.layer(
                { name: "gateway", version: "1.0.0" },
                Proxy.layer(connector, { name: "up", sessions, client: { closeTimeout } }),
                { closeTimeout }
              ),
              scope
            )
            const session = yield* Effect.flatMap(TestServer.connector(), (gateway) =>
              Client.make(gateway, {
                versions: client,
                closeTimeout,
                features: ClientFeatures.sampling(() => Effect.as(Effect.zipRight(start, stuck.client), answer))
              })).pipe(Effect.provideService(Dispatcher, Context.get(context, Dispatcher)))
            yield* Effect.forkDaemon(Effect.exit(session.callTool("stick", undefined, { timeout: "1 hour" })))
            yield* Deferred.await(started)
            const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
            // The server: its handlers, what lives with a client, its features. The proxy's client: its handlers, its features.
            yield* TestClock.adjust("6 seconds")
            assert.isNotNull(closing.unsafePoll())
          }))
      }
    }
  }
})

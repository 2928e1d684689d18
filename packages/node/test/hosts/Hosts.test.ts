/**
 * An endpoint that an application mounts beside its own routes: in each host, a client of each era finds all that it finds at
 * a server of its own.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Deferred, Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { type Answer, ask, call, initialize, listen, open, until } from "../HttpFixture.js"
import { hosts } from "./Hosts.js"

const Add = Tool.make("add", {
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
})
const Steps = Tool.make("steps", { description: "Reports progress, and waits until it is released." })
const Release = Tool.make("release")
const Hold = Tool.make("hold", { description: "Reports progress, and waits until it is cancelled." })
const Confirm = Tool.make("confirm", { success: Schema.Struct({ sure: Schema.Boolean }) })
const Readme = Resource.make("readme", { uri: "test://readme", mimeType: "text/plain" })
const Contract = Definition.make(Add, Steps, Release, Hold, Confirm, Readme)

const server = Effect.gen(function*() {
  const gate = yield* Deferred.make<void>()
  const cancelled = yield* Deferred.make<void>()
  const progress = (n: number) => Effect.flatMap(ServerSession, (session) => session.progress(n))
  return {
    cancelled: Deferred.await(cancelled),
    layer: McpServer.layer(
      { name: "hosted", version: "1.0.0" },
      McpServer.implement(Contract, {
        add: ({ a, b }) => Effect.succeed({ sum: a + b }),
        steps: () => Effect.zipRight(progress(1), Deferred.await(gate)),
        release: () => Effect.asVoid(Deferred.succeed(gate, undefined)),
        hold: () =>
          Effect.zipRight(progress(1), Effect.never).pipe(
            Effect.onInterrupt(() => Deferred.succeed(cancelled, undefined))
          ),
        confirm: () => Effect.flatMap(ServerSession, (session) => session.ask({ sure: Ask.confirm("Sure?") })),
        resources: { readme: Effect.succeed("Read me.") }
      })
    )
  }
})

for (const [name, host] of Object.entries(hosts)) {
  const started = (options: HttpOptions = {}) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
      const { cancelled, layer } = yield* server
      const context = yield* Layer.buildWithScope(layer, scope)
      const origin = yield* host(options).pipe(Scope.extend(scope), Effect.provide(context))
      return { origin, url: `${origin}/mcp`, cancelled, close: Scope.close(scope, Exit.void) }
    })

  describe(name, () => {
    for (const version of ["2025-11-25", "2026-07-28"] as const) {
      it.scopedLive(`serves a client of ${version}: calls, progress at once, questions, reads, cancels`, () =>
        Effect.gen(function*() {
          const { cancelled, url } = yield* started()
          const client = yield* Client.make(Remote.connector(url), {
            versions: [version],
            features: ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))
          })
          assert.deepStrictEqual((yield* client.callTool("add", { a: 1, b: 2 })).structuredContent, { sum: 3 })
          // The handler ends only after the client has read its progress: nothing between them holds an event back.
          yield* client.callTool("steps", {}, { onProgress: () => Effect.ignore(client.callTool("release", {})) })
          assert.deepStrictEqual((yield* client.callTool("confirm", {})).structuredContent, { sure: true })
          const { contents } = yield* client.readResource("test://readme")
          assert.deepInclude(contents[0], { text: "Read me." })
          const began = yield* Deferred.make<void>()
          const held = yield* Effect.fork(
            client.callTool("hold", {}, { onProgress: () => Deferred.succeed(began, undefined) })
          )
          yield* Deferred.await(began)
          yield* Fiber.interrupt(held)
          yield* cancelled
        }).pipe(Effect.provide(FetchHttpClient.layer)))
    }

    it.scopedLive("ends a session when the client deletes it", () =>
      Effect.gen(function*() {
        const { url } = yield* started()
        const session = yield* open(url)
        const gone = yield* Effect.promise(() => fetch(url, { method: "DELETE", headers: session }))
        assert.include([200, 204], gone.status)
        assert.strictEqual((yield* ask(url, call(1, "release"), session)).status, 404)
      }))

    it.scopedLive("checks Host and Origin of its endpoint, and leaves the other routes to the application", () =>
      Effect.gen(function*() {
        const { origin, url } = yield* started()
        for (const headers of [{ host: "evil.example.com" }, { origin: "https://evil.example.com" }]) {
          assert.strictEqual((yield* ask(url, initialize(), headers)).status, 403)
        }
        const allowed = yield* started({ allowedHosts: ["mcp.example.com"], allowedOrigins: ["https://a.example.com"] })
        const mine = { host: "mcp.example.com", origin: "https://a.example.com" }
        assert.strictEqual((yield* ask(allowed.url, initialize(), mine)).status, 200)
        const health = yield* Effect.promise(() => fetch(`${origin}/health`).then((response) => response.json()))
        assert.deepStrictEqual(health, { ok: true })
      }))

    it.scopedLive("closes with the application: streams end, and running requests are answered", () =>
      Effect.gen(function*() {
        const { close, url } = yield* started()
        const session = yield* open(url)
        const beside = yield* listen(url, session)
        const running = yield* listen(url, session, call(1, "hold"))
        yield* until(() => running.messages().length === 1)
        yield* close
        yield* until(() => beside.ended() && running.ended())
        assert.strictEqual(running.messages().at(-1).error.code, -32000)
        const refused: Answer | Error = yield* Effect.merge(ask(url, initialize()))
        assert.instanceOf(refused, Error)
      }))
  })
}

import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { FeatureContext } from "@effect-mcp/core/FeatureContext"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { Version } from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Effect, Layer } from "effect"
import { legacyClient } from "./Scripts.js"

describe("FeatureContext", () => {
  it.scoped("has the facts of the request that is being answered", () =>
    Effect.gen(function*() {
      const features = ClientFeatures.request("ours/who", () =>
        Effect.map(FeatureContext, ({ id, meta, method }) => ({ id, meta, method })))
      const { server } = yield* legacyClient({ client: { features } })
      for (const meta of [{}, { a: 1 }]) {
        const id = yield* server.request("ours/who", { _meta: meta })
        assert.deepStrictEqual<unknown>(yield* server.expectResult(id), { id, meta, method: "ours/who" })
      }
    }))

  const asking = McpServer.layer(
    { name: "asking", version: "1.0.0" },
    McpServer.tool(
      Tool.make("ask"),
      () => Effect.flatMap(ServerSession, (session) => Effect.as(Effect.orDie(session.listRoots), "asked"))
    )
  )

  const overHttp = Effect.flatMap(WebHandler.make(), ({ handler }) =>
    Effect.map(
      Layer.build(Layer.provide(
        FetchHttpClient.layer,
        Layer.succeed(FetchHttpClient.Fetch, (input, init) => handler(new Request(input, init)))
      )),
      (context) => {
        const { connect, name } = Remote.connector("http://localhost/mcp")
        return { name, connect: Effect.provide(connect, context) }
      }
    ))

  const rows = [
    ["of the call that asks, over HTTP up to 2025-11-25", "2025-11-25", overHttp, true],
    ["of the call that asks, over HTTP at 2026-07-28", "2026-07-28", overHttp, true],
    ["of the call that asks, in process at 2026-07-28", "2026-07-28", InProcess.connector, true],
    ["of no call, in process up to 2025-11-25", "2025-11-25", InProcess.connector, false]
  ] as const
  for (const [sentence, version, connecting, isTold] of rows) {
    it.scopedLive(`has the id ${sentence}`, () =>
      Effect.gen(function*() {
        const [asked, sent]: [Array<unknown>, Array<unknown>] = [[], []]
        const features = ClientFeatures.roots(
          Effect.map(FeatureContext, ({ call }) => {
            asked.push(call)
            return []
          })
        )
        const connector = yield* connecting
        const versions: readonly [Version] = [version]
        const session = yield* Client.make(connector, { features, versions })
        const call = session.callTool("ask", {}, { onId: (id) => void sent.push(id) })
        yield* Effect.all([call, call], { concurrency: 2 })
        assert.strictEqual(asked.length, 2)
        for (const id of asked) {
          if (isTold) assert.include(sent, id)
          else assert.isUndefined(id)
        }
        if (isTold) assert.strictEqual(new Set(asked).size, 2)
      }).pipe(Effect.provide(asking)))
  }
})

import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Deferred, Effect, Layer, Schema } from "effect"
import * as World from "./World.js"

const Add = Tool.make("add", {
  parameters: { a: Schema.Int, b: Schema.Int },
  success: Schema.Struct({ sum: Schema.Int })
})

const server = McpServer.layer(
  { name: "adder", version: "1" },
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
)

const handler = Effect.map(
  Effect.flatMap(
    Layer.build(server),
    (context) => Effect.provide(WebHandler.make({ allowedHosts: ["mcp.test"] }), context)
  ),
  ({ handler }) => (request: Request) => handler(request)
)

describe("A client of every revision", () => {
  for (
    const versions of [...Version.all.filter((one) => one !== "2024-11-05").map((one) => [one] as const), undefined]
  ) {
    it.scoped(`logs in at a server, and is served: ${versions?.join() ?? "any"}`, () =>
      Effect.gen(function*() {
        const world = World.make({ handler: yield* handler, versions: versions ?? Version.all })
        const { structuredContent } = yield* World.run(world, (client) => {
          assert.strictEqual(client.version, versions?.[0] ?? Version.latestModern)
          return client.callTool("add", { a: 2, b: 3 })
        })
        if (versions?.[0] !== "2025-03-26") assert.deepStrictEqual(structuredContent, { sum: 5 })
        assert.lengthOf(world.opened, 1)
        const [first, ...others] = world.sent("POST /mcp")
        assert.isUndefined(first!.headers["authorization"])
        for (const { headers } of others) assert.match(headers["authorization"]!, /^Bearer access-/)
        const asked = world.net.received.find(({ url }) => url.pathname.startsWith("/.well-known/"))!
        assert.isDefined(asked.headers["mcp-protocol-version"])
      }))
  }

  it.scoped("MUST send the token with every request of a session, its event stream and its end included", () =>
    Effect.gen(function*() {
      const streaming = yield* Deferred.make<void>()
      const world = World.make({
        handler: yield* handler,
        standalone: true,
        insteadOfMcp: ({ method }) => {
          if (method === "GET") Deferred.unsafeDone(streaming, Effect.void)
          return undefined
        }
      })
      yield* World.run(world, () => Deferred.await(streaming))
      const [first, ...others] = world.net.received.filter(({ url }) => url.pathname === "/mcp")
      assert.isUndefined(first!.headers["authorization"])
      assert.includeMembers(others.map(({ method }) => method), ["POST", "GET", "DELETE"])
      for (const { headers, method } of others) assert.match(headers["authorization"] ?? "", /^Bearer access-/, method)
    }))
})

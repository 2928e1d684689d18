import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as Tool from "@effect-mcp/core/Tool"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import * as RedisSessionDirectory from "@effect-mcp/redis/RedisSessionDirectory"
import { Context, Effect, Layer, Option, Schema } from "effect"
import * as RedisProcess from "./RedisProcess.js"

/** How many bytes of Redis an idle session may cost. */
const MAX_BYTES = 2048

const Hello = McpServer.tool(Tool.make("hello", { success: Schema.String }), () => Effect.succeed("Hello!"))

describe("an idle session in Redis", () => {
  for (const version of ["2025-06-18", "2025-11-25"] as const) {
    it.scopedLive(`costs at most ${MAX_BYTES} bytes, at ${version}`, () =>
      Effect.gen(function*() {
        const { url } = yield* RedisProcess.make()
        const { command } = yield* RedisConnection.make({ url, prefix: "" })
        const context = yield* Layer.build(
          HttpServer.layer({ port: 0 }).pipe(
            Layer.provide(McpServer.layer({ name: "nodes", version: "1.0.0" }, Hello)),
            Layer.provide(RedisNodes.layerWith({ url }))
          )
        )
        const server = Context.get(context, HttpServer.HttpServer)
        const client = yield* Effect.provide(
          Client.make(Remote.connector(server.url), {
            versions: [version],
            features: Layer.mergeAll(
              ClientFeatures.elicitation(() => Effect.succeed({ action: "decline" })),
              ClientFeatures.sampling(() => Effect.never)
            )
          }),
          FetchHttpClient.layer
        )
        yield* client.callTool("hello")
        const keys = (yield* command("KEYS", "mcp:*session:*")) as ReadonlyArray<string>
        const sizes = yield* Effect.forEach(keys, (key) => command("MEMORY", "USAGE", key, "SAMPLES", 0))
        assert.isAtMost(sizes.reduce((all: number, size) => all + Number(size), 0), MAX_BYTES, keys.join())
        assert.isNotEmpty(keys)
      }))
  }
})

describe("a directory of many sessions", () => {
  it.scopedLive("keeps all of them for another while", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const directory = yield* Effect.provideService(
        RedisSessionDirectory.make({ ttl: "1 minute" }),
        RedisConnection.RedisConnection,
        connection
      )
      const { create, find, touch } = yield* directory.join("one")
      const ids = Array.from({ length: 1001 }, (_, n) => `${n}`)
      yield* Effect.forEach(ids, (id) => create(id, { n: id }), { concurrency: 64 })
      const keyOf = (id: string) => `${connection.prefix}{session:${id}}`
      yield* connection.each("PEXPIRE", ids.map((id) => [keyOf(id), 20_000]))
      yield* touch([...ids, "never"])
      for (const id of ids) assert.isAbove(Number(yield* connection.command("PTTL", keyOf(id))), 20_000)
      assert.isTrue(Option.isNone(yield* find("never")))
    }))
})

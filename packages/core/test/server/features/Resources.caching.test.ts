import { assert, describe, it } from "@effect/vitest"
import type { CacheOptions } from "@effect-mcp/core/CacheHints"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { Effect, Layer, Schema } from "effect"
import { connect, result } from "../modern/Modern.js"
import { serve } from "../Serving.js"

describe("The hints for caches of a URI that several templates match", () => {
  const template = (uri: string, cache: CacheOptions, id: Schema.Schema<any, string> = Schema.String) =>
    McpServer.resourceTemplate(
      ResourceTemplate.fromString(uri, uri, { parameters: { id } }),
      () => Effect.succeed(uri),
      { cache }
    )
  const seeing = <E>(templates: Layer.Layer<never, E, any>) =>
    Effect.provide(serve(templates as Layer.Layer<never, E>, { cache: { ttl: "1 minute", scope: "public" } }))
  const read = (uri: string) =>
    Effect.flatMap(
      connect,
      (peer) => Effect.map(result(peer, "resources/read", { uri }), ({ cacheScope, ttlMs }) => [ttlMs, cacheScope])
    )

  it.scoped("are those of the template that reads, and of the server where it has none", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read("user://ada/7"), [1000, "private"])
      assert.deepStrictEqual(yield* read("user://ada/x"), [3_600_000, "public"])
    }).pipe(seeing(Layer.merge(
      template("user://{+id}", { ttl: "1 hour" }),
      template("user://ada/{id}", { ttl: "1 second", scope: "private" }, Schema.NumberFromString)
    ))))

  it.scoped("are for the sender alone where one of them may be hidden: others may get another answer", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read("team://a/7"), [60_000, "private"])
      assert.deepStrictEqual(yield* read("team://a/x"), [3_600_000, "private"])
    }).pipe(seeing(Layer.merge(
      template("team://{+id}", { ttl: "1 hour", scope: "public" }),
      template("team://a/{id}", { scope: "public" }, Schema.NumberFromString).pipe(
        Feature.visible(Effect.succeed(true))
      )
    ))))
})

/** A client of a server over a checked transport in memory, in either era. */
import * as Client from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Effect, Layer } from "effect"

type Versions = readonly [Version.Version, ...Array<Version.Version>]

export const eras: ReadonlyArray<readonly ["legacy" | "modern", Versions]> = [
  ["legacy", ["2025-11-25"]],
  ["modern", ["2026-07-28"]]
]

export const client = <R>(features: Layer.Layer<never, never, R>, options: { readonly versions?: Versions } = {}) =>
  Effect.gen(function*() {
    const server = yield* Layer.build(McpServer.layer({ name: "test", version: "1.0.0" }, features, options))
    return yield* Client.make(yield* Effect.provide(TestServer.connector(), server), options)
  })

/**
 * Servers for the tests of this package: over a checked transport in memory, in either era, and with a way to add features
 * while they run.
 */
import * as Client from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import type * as Version from "@effect-mcp/core/protocol/Version"
import { Registry, type RegistryService } from "@effect-mcp/core/Registry"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Deferred, Effect, Exit, Layer, Scope } from "effect"

type Versions = readonly [Version.Version, ...Array<Version.Version>]

export const eras: ReadonlyArray<readonly ["legacy" | "modern", Versions]> = [
  ["legacy", ["2025-11-25"]],
  ["modern", ["2026-07-28"]]
]

export const serving = <E, R>(
  features: Layer.Layer<never, E, R>,
  options: { readonly name?: string; readonly versions?: Versions } = {}
) =>
  Effect.gen(function*() {
    const registered = yield* Deferred.make<RegistryService>()
    const found = Layer.effectDiscard(Effect.flatMap(Registry, (registry) => Deferred.succeed(registered, registry)))
    const server = yield* Layer.build(McpServer.layer(
      { name: options.name ?? "test", version: "1.0.0" },
      Layer.merge(features, found),
      { versions: options.versions }
    ))
    const connector = yield* Effect.provide(TestServer.connector(), server)
    return {
      connector,
      /** Adds a feature; the effect that it gives removes it. */
      add: (feature: Layer.Layer<never, never, Registry>) =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          const registry = yield* Deferred.await(registered)
          yield* Layer.buildWithScope(Layer.provide(feature, Layer.succeed(Registry, registry)), scope)
          return Scope.close(scope, Exit.void)
        })
    }
  })

/** A client of a server with these features. */
export const client = <R, CE = never, CR = never>(
  features: Layer.Layer<never, never, R>,
  options: { readonly versions?: Versions; readonly client?: Client.Options<CE, CR> } = {}
) =>
  Effect.flatMap(
    serving(features, options),
    ({ connector }) => Client.make(connector, { versions: options.versions, ...options.client })
  )

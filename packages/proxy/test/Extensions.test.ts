import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { Connector } from "@effect-mcp/core/Connector"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import * as AppsServer from "@effect-mcp/extensions/AppsServer"
import * as AppView from "@effect-mcp/extensions/AppView"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Deferred, Effect, Either, Fiber, Layer, Schema } from "effect"
import { all, type Features, fromLayer, pairs } from "./Setting.js"

/** Sent as a text: a proxy that reads it and passes on what it has read sends a number. */
const item = Schema.Struct({ item: Schema.String, amount: Schema.NumberFromString })

const Stock = Extension.make("com.example/stock", {
  settings: { client: Schema.Struct({ currency: Schema.optional(Schema.String) }), server: Schema.Struct({}) },
  requests: {
    count: Extension.request("stock/count", {
      params: item,
      result: Schema.Struct({ left: Schema.NumberFromString, currency: Schema.String }),
      nameParameter: "item"
    })
  },
  notifications: {
    sold: Extension.notification("notifications/stock/sold", {
      from: "client",
      params: item
    })
  }
})

const extensions = [Stock]

const serverOf = (
  versions: (typeof pairs)[number][1],
  interrupted: Deferred.Deferred<void>,
  sold: Deferred.Deferred<string>
) =>
  fromLayer(McpServer.layer(
    { name: "upstream", version: "1.0.0" },
    Layer.mergeAll(
      MethodHandler.request(Stock.requests.count, ({ item }) =>
        Effect.flatMap(RequestContext, ({ client: { capabilities } }): Effect.Effect<any, McpError.McpError> => {
          const { currency = "EUR" } = (capabilities.extensions?.[Stock.id] ?? {}) as { currency?: string }
          return item === "none"
            ? Effect.fail(new McpError.PeerError({ code: -32050, message: "No such item", data: { item } }))
            : item === "slow"
            ? Effect.onInterrupt(Effect.never, () =>
              Deferred.succeed(interrupted, undefined))
            : Effect.succeed({ left: 7, currency })
        })),
      MethodHandler.notification(Stock.notifications.sold, ({ item }) =>
        Effect.asVoid(Deferred.succeed(sold, item)))
    ) as Features,
    { versions, extensions }
  ))

const gatewayOf = (upstream: Connector) =>
  fromLayer(McpServer.layer(
    { name: "gateway", version: "1.0.0" },
    Proxy.layer(upstream, { name: "up", client: { extensions } }) as Features,
    { extensions }
  ))

describe("A request of an extension that the proxy is given", () => {
  for (const [name, clientVersions, upstreamVersions] of pairs) {
    it.scopedLive(
      `goes to the upstream and back, with errors and cancellation, and so do notifications (${name})`,
      () =>
        Effect.gen(function*() {
          const interrupted = yield* Deferred.make<void>()
          const sold = yield* Deferred.make<string>()
          const gateway = yield* gatewayOf(yield* serverOf(upstreamVersions, interrupted, sold))
          const session = yield* Client.make(gateway, {
            versions: clientVersions,
            extensions: [Extension.declare(Stock, { client: { currency: "USD" } })]
          })
          const { currency, left } = yield* session.request(Stock.requests.count, { item: "tea", amount: 1 })
          // Up to 2025-11-25, the proxy has declared its own settings when it has connected.
          assert.deepStrictEqual([left, currency], [
            7,
            name === "modern to modern" || name === "legacy to modern" ? "USD" : "EUR"
          ])
          const failed = yield* Effect.either(session.request(Stock.requests.count, { item: "none", amount: 1 }))
          assert.deepInclude(Either.isLeft(failed) ? failed.left : {}, { code: -32050, data: { item: "none" } })
          const slow = yield* Effect.fork(session.request(Stock.requests.count, { item: "slow", amount: 1 }))
          yield* session.notify(Stock.notifications.sold, { item: "tea", amount: 1 })
          assert.strictEqual(yield* Deferred.await(sold), "tea")
          yield* Fiber.interrupt(slow)
          yield* Deferred.await(interrupted)
        }),
      10_000
    )

    it.scopedLive(`is refused to a client that has not declared the extension (${name})`, () =>
      Effect.gen(function*() {
        const gateway = yield* gatewayOf(
          yield* serverOf(upstreamVersions, yield* Deferred.make<void>(), yield* Deferred.make<string>())
        )
        const session = yield* Client.make(gateway, { versions: clientVersions, enforceCapabilities: false })
        const refused = yield* Effect.flip(session.request("stock/count", { item: "tea" }))
        assert.include(["MissingClientCapability", "MethodNotFound"], refused._tag)
      }))
  }
})

describe("A tool for views only", () => {
  for (const [name, clientVersions, upstreamVersions] of pairs) {
    it.scopedLive(`is listed and called by clients that show views, and by no others (${name})`, () =>
      Effect.gen(function*() {
        const apps = { extensions: [AppsServer.extension] }
        const clock = AppView.make("clock", { uri: "ui://clock/clock.html" })
        const reset = AppsServer.tool(
          Tool.make("reset"),
          { view: clock, html: "<!doctype html><title>Clock</title>", visibility: ["app"] },
          () => Effect.succeed("reset")
        )
        const upstream = yield* fromLayer(
          McpServer.layer({ name: "upstream", version: "1.0.0" }, reset as Features, {
            ...apps,
            versions: upstreamVersions
          })
        )
        const gateway = yield* fromLayer(McpServer.layer(
          { name: "gateway", version: "1.0.0" },
          Proxy.layer(upstream, { name: "up", client: apps }) as Features,
          apps
        ))
        const names = (client: ClientSessionService) =>
          Effect.map(all(client.tools), (tools) => tools.map(({ name }) => name))
        const shows = yield* Client.make(gateway, { ...apps, versions: clientVersions })
        assert.deepStrictEqual(yield* names(shows), ["reset"])
        assert.deepInclude((yield* shows.callTool("reset")).content[0], { text: "reset" })
        const other = yield* Client.make(gateway, { versions: clientVersions })
        assert.deepStrictEqual(yield* names(other), [])
        assert.deepInclude(yield* Effect.flip(other.callTool("reset")), { _tag: "InvalidParams" })
      }))
  }
})

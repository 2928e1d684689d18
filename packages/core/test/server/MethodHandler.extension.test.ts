import { assert, describe, it } from "@effect/vitest"
import * as Feature from "@effect-mcp/core/Feature"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Cause, Effect, Layer, Schema } from "effect"
import { answered, withEndpoint } from "./http/TestExchange.js"
import * as Modern from "./modern/Modern.js"
import { post, refused, request } from "./modern/Posting.js"
import { features, given, ID, Orders } from "./Orders.js"
import { act, connect, internalError, logbook, result as callResult, serve, until } from "./Serving.js"

const declaring = { capabilities: { extensions: { [ID]: {} } } }
const required = { requiredCapabilities: { extensions: { [ID]: {} } } }
const subscription = "io.modelcontextprotocol/subscriptionId"

/** A client that disconnects at the end of the test, before its subscriptions end. */
const modern = Effect.tap(TestPeer.client({ extensions: [Orders] }), (peer) => Effect.addFinalizer(() => peer.hangUp))

const server = (seen?: Array<string>) => serve(features(seen), { extensions: [given] })

describe("An extension at 2026-07-28", () => {
  it.effect("adds hints for caches to the results that its request says may be cached, and to no others", () =>
    Effect.gen(function*() {
      const shape = { params: Schema.Struct({}), result: Schema.Struct({ n: Schema.Number }) }
      const Rates = Extension.make("com.example/rates", {
        requests: {
          list: Extension.request("rates/list", { ...shape, declaredBy: "server", isCacheable: true }),
          draw: Extension.request("rates/draw", { ...shape, declaredBy: "server" })
        }
      })
      const features = Layer.merge(
        MethodHandler.request(Rates.requests.list, () => Effect.succeed({ n: 1 })),
        MethodHandler.request(Rates.requests.draw, () => Effect.succeed({ n: 2 }))
      )
      yield* Effect.gen(function*() {
        const peer = yield* Modern.connect
        const hints = { ttlMs: 60_000, cacheScope: "public" }
        assert.deepStrictEqual(yield* Modern.result(peer, "rates/list"), { ...Modern.stamp, n: 1, ...hints })
        assert.deepStrictEqual(yield* Modern.result(peer, "rates/draw"), { ...Modern.stamp, n: 2 })
        const legacy = yield* connect("2025-11-25")
        assert.deepStrictEqual(yield* legacy.expectResult(yield* legacy.request("rates/list")), { n: 1 })
      }).pipe(
        Effect.scoped,
        Effect.provide(serve(features, { extensions: [Rates], cache: { ttl: "1 minute", scope: "public" } }))
      )
    }))

  it.effect("is declared with the settings of the server", () =>
    Effect.gen(function*() {
      const { capabilities } = yield* Modern.result(yield* modern, "server/discover")
      assert.deepStrictEqual((capabilities as JsonObject).extensions, { [ID]: { maxTotal: 100 } })
    }).pipe(Effect.scoped, Effect.provide(server())))

  it.effect("serves its requests by its schemas, with the settings of both sides and its own notifications", () =>
    Effect.gen(function*() {
      const peer = yield* modern
      for (const [settings, currency] of [[{}, "EUR"], [{ currency: "NOK" }, "NOK"]] as const) {
        const sent = yield* Modern.request(peer, "orders/find", { id: "7" }, {
          capabilities: { extensions: { [ID]: settings } }
        })
        assert.deepStrictEqual(yield* peer.expectNotification("notifications/orders/packed"), {
          id: currency,
          total: "100"
        })
        assert.deepStrictEqual(yield* peer.expectResult(sent), { ...Modern.stamp, id: "7", total: "70" })
      }
    }).pipe(Effect.scoped, Effect.provide(server())))

  it.effect("refuses parameters and settings that do not conform to their schemas", () =>
    Effect.gen(function*() {
      const peer = yield* modern
      assert.strictEqual((yield* Modern.error(peer, "orders/find", { id: 7 }, declaring)).code, -32602)
      const { code, message } = yield* Modern.error(peer, "orders/find", { id: "7" }, {
        capabilities: { extensions: { [ID]: { currency: 1 } } }
      })
      assert.strictEqual(code, -32602)
      assert.include(message, `settings of the extension "${ID}"`)
    }).pipe(Effect.scoped, Effect.provide(server())))

  it.effect("MUST refuse a request of a client that has not declared it, unless the server alone has to", () =>
    Effect.gen(function*() {
      const peer = yield* modern
      const { code, data } = yield* Modern.error(peer, "orders/find", { id: "7" })
      assert.strictEqual(code, -32021)
      assert.deepStrictEqual(data, required)
      assert.strictEqual((yield* Modern.result(peer, "orders/count")).count, 1)
    }).pipe(Effect.scoped, Effect.provide(server())))

  it.effect("serves nothing on a server that was not given it, whatever handlers there are", () =>
    Effect.gen(function*() {
      const peer = yield* modern
      assert.strictEqual((yield* Modern.error(peer, "orders/find", { id: "7" }, declaring)).code, -32601)
      assert.deepInclude(yield* Modern.call(peer, "buy", { arguments: { id: "7" } }, declaring), {
        content: [{ type: "text", text: "bought" }]
      })
      const sent = yield* Modern.request(
        peer,
        "subscriptions/listen",
        { notifications: { orderIds: ["7"] } },
        declaring
      )
      const { _meta, notifications } = yield* peer.expectNotification("notifications/subscriptions/acknowledged")
      assert.deepStrictEqual([_meta, notifications], [{ [subscription]: sent }, {}])
      yield* Modern.call(peer, "change", { arguments: { id: "7" } })
    }).pipe(Effect.scoped, Effect.provide(serve(features()))))

  it.effect("answers a call with a result of its own, and MUST NOT do so for a client that has not declared it", () =>
    Effect.gen(function*() {
      const peer = yield* modern
      assert.deepStrictEqual(yield* Modern.call(peer, "buy", { arguments: { id: "7" } }, declaring), {
        ...Modern.stamp,
        resultType: "order",
        id: "7",
        total: "7"
      })
      assert.deepInclude(yield* Modern.call(peer, "buy", { arguments: { id: "7" } }), { resultType: "complete" })
      const { code, data } = yield* Modern.error(peer, "tools/call", { name: "order" })
      assert.strictEqual(code, -32021)
      assert.deepStrictEqual(data, required)
    }).pipe(Effect.scoped, Effect.provide(server())))

  it.effect("gives \"Internal error\" for a result that does not conform to its schema, and the operator the reason", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* Modern.call(yield* modern, "wrong", {}, declaring), {
        ...Modern.stamp,
        ...internalError
      })
      assert.include(String(lines[0]?.cause), `a result of the type "order"`)
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(server(), layer)))
  })

  it.effect("adds to the filter of subscriptions what the server accepts, and notifies by flag and by key", () =>
    Effect.gen(function*() {
      const peer = yield* modern
      const notifications = { orderIds: ["7", "7", "9"], ordersOpened: true }
      const id = yield* Modern.request(peer, "subscriptions/listen", { notifications }, declaring)
      const _meta = { [subscription]: id }
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/subscriptions/acknowledged"), {
        notifications: { orderIds: ["7"], ordersOpened: true },
        _meta
      })
      for (const refused of ["9", "foreign"]) yield* Modern.call(peer, "change", { arguments: { id: refused } })
      const changing = yield* Modern.request(peer, "tools/call", { name: "change", arguments: { id: "7" } })
      yield* peer.expectResult(changing)
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/orders/changed"), {
        id: "7",
        total: "8",
        _meta
      })
      const opening = yield* Modern.request(peer, "tools/call", { name: "open" })
      yield* peer.expectResult(opening)
      assert.deepStrictEqual(yield* peer.expectNotification("notifications/orders/opened"), { hour: 9, _meta })
      yield* Modern.silence(peer)
    }).pipe(Effect.scoped, Effect.provide(server())))

  it.effect("MUST refuse its filter to a client that has not declared it, and a filter of another shape", () =>
    Effect.gen(function*() {
      const peer = yield* modern
      const { code, data } = yield* Modern.error(peer, "subscriptions/listen", { notifications: { orderIds: ["7"] } })
      assert.strictEqual(code, -32021)
      assert.deepStrictEqual(data, required)
      for (const notifications of [{ orderIds: true }, { orderIds: [7] }, { ordersOpened: ["7"] }]) {
        assert.strictEqual(
          (yield* Modern.error(peer, "subscriptions/listen", { notifications }, declaring)).code,
          -32602
        )
      }
    }).pipe(Effect.scoped, Effect.provide(server())))

  it.effect("counts the keys of its filters among the resources that a subscription may name", () =>
    Effect.gen(function*() {
      const peer = yield* modern
      const listen = (orderIds: ReadonlyArray<string>) =>
        Modern.request(peer, "subscriptions/listen", { notifications: { orderIds } }, declaring)
      yield* listen(["1", "2"])
      yield* peer.expectNotification("notifications/subscriptions/acknowledged")
      assert.strictEqual((yield* peer.expectError(yield* listen(["1", "2", "3"]))).code, -32602)
    }).pipe(
      Effect.scoped,
      Effect.provide(serve(features(), { extensions: [given], limits: { maxSubscribedResources: 2 } }))
    ))

  it.effect("MUST repeat its parameter in the header Mcp-Name over HTTP, where one is defined", () =>
    withEndpoint(server(), (http) =>
      Effect.gen(function*() {
        const body = request("orders/find", { id: "7" }, declaring)
        const exchange = yield* answered(post(http, body, { "mcp-name": "7" }))
        assert.include(exchange.text, `"total":"70"`)
        for (const name of ["8", undefined]) {
          refused(yield* answered(post(http, body, { "mcp-name": name })), 400, -32020)
        }
        refused(yield* answered(post(http, request("orders/find", { id: "7" }), { "mcp-name": "7" })), 400, -32021)
        refused(yield* answered(post(http, request("orders/none", { id: "7" }, declaring))), 404, -32601)
      })))
})

describe("An extension up to 2025-11-25", () => {
  const legacy = (version?: string) => connect(version, { extensions: { [ID]: { currency: "SEK" } } })

  it.effect("is declared in the handshake, and serves what its revisions have", () => {
    const seen: Array<string> = []
    return Effect.gen(function*() {
      for (const version of ["2024-11-05", "2025-11-25"]) {
        const peer = yield* legacy(version)
        const sent = yield* peer.request("orders/find", { id: "7" })
        assert.deepStrictEqual(yield* peer.expectNotification("notifications/orders/packed"), {
          id: "SEK",
          total: "100"
        })
        assert.deepStrictEqual(yield* peer.expectResult(sent), { id: "7", total: "70" })
        assert.strictEqual((yield* peer.expectError(yield* peer.request("orders/modern"))).code, -32601)
        yield* peer.notify("notifications/orders/seen", { id: version })
        yield* until(() => seen.includes(version))
      }
      const peer = yield* TestPeer.client()
      const { capabilities } = yield* peer.initialize()
      assert.deepStrictEqual((capabilities as JsonObject).extensions, { [ID]: { maxTotal: 100 } })
    }).pipe(Effect.scoped, Effect.provide(server(seen)))
  })

  it.effect("refuses a client that has not declared it, and drops its notifications", () => {
    const seen: Array<string> = []
    return Effect.gen(function*() {
      const peer = yield* connect()
      const { code, data } = yield* peer.expectError(yield* peer.request("orders/find", { id: "7" }))
      assert.strictEqual(code, -32600)
      assert.deepStrictEqual(data, required)
      yield* peer.notify("notifications/orders/seen", { id: "7" })
      yield* peer.expectSilence
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.scoped, Effect.provide(server(seen)))
  })

  it.effect("sends its requests to a client that has declared it", () =>
    Effect.gen(function*() {
      const peer = yield* legacy()
      const calling = yield* peer.request("tools/call", { name: "approved" })
      const { id, params } = yield* peer.expectRequest("orders/approve")
      assert.deepStrictEqual(params, { id: "7", total: "7" })
      yield* peer.send({ jsonrpc: "2.0", id, result: { approved: true } })
      assert.deepInclude(yield* peer.expectResult(calling), { content: [{ type: "text", text: "true" }] })
      const other = yield* connect()
      assert.strictEqual(
        (yield* other.expectError(yield* other.request("tools/call", { name: "approved" }))).code,
        -32600
      )
    }).pipe(Effect.scoped, Effect.provide(server())))

  it.effect("has no results of its own there: a handler that gives one all the same has a bug", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      assert.deepInclude(yield* callResult(yield* legacy(), "order"), internalError)
      assert.include(String(lines[0]?.cause), `a result of the type "order"`)
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(server(), layer)))
  })

  it.effect("that began with 2026-07-28 is absent", () =>
    Effect.gen(function*() {
      const { capabilities } = yield* (yield* TestPeer.client()).initialize()
      assert.notProperty(capabilities, "extensions")
    }).pipe(Effect.scoped, Effect.provide(serve(features(), { extensions: [{ ...given, since: "2026-07-28" }] }))))
})

describe("A part of an extension", () => {
  it.effect("can be used with a client that has declared the extension, in the revisions that have the part", () => {
    const parts = [Orders.requests.approve, Orders.notifications.packed, Orders.results.order, Orders.requests.modern]
    const seen: Array<ReadonlyArray<boolean>> = []
    const look = act(Effect.map(RequestContext, ({ client: { supports } }) => {
      seen.push(parts.map((part) => supports(part)))
    }))
    return Effect.gen(function*() {
      const peer = yield* Modern.connect
      yield* Modern.call(peer, "act", {}, declaring)
      yield* Modern.call(peer, "act")
      yield* callResult(yield* connect(undefined, { extensions: { [ID]: {} } }), "act")
      yield* callResult(yield* connect(), "act")
      assert.deepStrictEqual(seen, [
        [false, true, true, true],
        [false, false, false, false],
        [true, true, false, false],
        [false, false, false, false]
      ])
    }).pipe(Effect.scoped, Effect.provide(serve(look, { extensions: [given] })))
  })
})

describe("A breaking change of an extension", () => {
  it.effect("MUST have a new identifier, and a server serves clients of both", () => {
    const Orders2 = Extension.make("com.example/orders-2", {
      requests: {
        find: Extension.request("orders-2/find", {
          params: Schema.Struct({ number: Schema.Int }),
          result: Schema.Struct({ totals: Schema.Array(Schema.Number) })
        })
      }
    })
    const find = MethodHandler.request(Orders2.requests.find, ({ number }) => Effect.succeed({ totals: [number] }))
    return Effect.gen(function*() {
      const peer = yield* Modern.connect
      const declaringNew = { capabilities: { extensions: { [Orders2.id]: {} } } }
      assert.deepInclude(yield* Modern.result(peer, "orders-2/find", { number: 7 }, declaringNew), { totals: [7] })
      assert.strictEqual((yield* Modern.error(peer, "orders/find", { id: "7" }, declaringNew)).code, -32021)
      assert.strictEqual((yield* Modern.error(peer, "orders-2/find", { number: 7 }, declaring)).code, -32021)
    }).pipe(Effect.scoped, Effect.provide(serve(Layer.merge(features(), find), { extensions: [given, Orders2] })))
  })
})

describe("A server", () => {
  it.effect("warns of an extension that its features use and that it was not given, in its revisions", () => {
    const { layer, lines } = logbook()
    const Shapes = Extension.make("com.example/shapes", {})
    const map = Feature.make(({ describe }) => describe({ offers: [], extension: Shapes.id }))
    const later = Extension.make("com.example/later", {
      since: "2026-07-28",
      requests: { one: Extension.request("one", { params: Schema.Struct({}), result: Schema.Struct({}) }) }
    })
    const one = MethodHandler.request(later.requests.one, () => Effect.succeed({}))
    const build = (server: Layer.Layer<any, never, never>) => Effect.scoped(Layer.build(Layer.provide(server, layer)))
    return Effect.gen(function*() {
      yield* build(serve(features(), { extensions: [given] }))
      yield* build(serve(map, { extensions: [Shapes] }))
      yield* build(serve(one, { versions: ["2025-11-25"] }))
      assert.deepStrictEqual(lines, [])
      yield* build(serve(Layer.mergeAll(features(), map, one), { versions: ["2026-07-28"] }))
      assert.deepStrictEqual(
        lines.map(({ message }) => String(message)).sort(),
        ["com.example/later", ID, Shapes.id].map((id) =>
          `Features of this server use the extension "${id}", which the server was not given: ` +
          "add it to the option `extensions`"
        )
      )
    })
  })

  it.effect("dies when it is given an extension twice, or without the settings that it needs", () =>
    Effect.gen(function*() {
      for (const [extensions, why] of [[[given, given], "exists already"], [[Orders], "needs settings"]] as const) {
        const cause = yield* Effect.flip(Effect.sandbox(Effect.scoped(Layer.build(serve(Layer.empty, { extensions })))))
        assert.include(Cause.pretty(cause), why)
      }
    }))
})

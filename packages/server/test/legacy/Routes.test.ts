import { assert, describe, it } from "@effect/vitest"
import * as Outbound from "@effect-mcp/jsonrpc/Outbound"
import * as Version from "@effect-mcp/protocol/Version"
import * as Registry from "@effect-mcp/server/Registry"
import type { Scope } from "effect"
import { Context, Effect } from "effect"
import * as FeatureRoutes from "../../src/features/FeatureRoutes.js"
import { Connection } from "../../src/legacy/Connection.js"
import * as Routes from "../../src/legacy/Routes.js"
import * as Router from "../../src/runtime/Router.js"
import { info } from "../Serving.js"

const routes = (
  options: { readonly logging?: boolean; readonly subscriptions?: boolean; readonly resources?: boolean }
) =>
  Effect.gen(function*() {
    const registry = yield* Registry.make
    if (options.resources === true) {
      yield* Effect.scoped(registry.resources.register({
        advertised: { uri: "file:///a", name: "a" },
        context: Context.empty(),
        read: Effect.succeed({ contents: [] })
      }))
    }
    return Routes.make({
      info,
      versions: Version.legacy,
      instructions: undefined,
      logging: options.logging !== false,
      capabilities: () => ({}),
      router: Router.make(registry, FeatureRoutes.make(registry, { pageSize: 1 })),
      session: undefined,
      middleware: undefined,
      subscriptions: options.subscriptions === false ? undefined : { isKnown: () => true, max: undefined }
    })
  })

const conversation = new Connection(Outbound.none, {} as Scope.Scope)
const exchange = new Connection(Outbound.none)

const all = [
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "tools/list",
  "constructor"
]

const found = (routes: Routes.Routes, connection: Connection) =>
  all.filter((method) => routes.find(method, connection)?.method.name === method)

describe("The legacy methods of every server", () => {
  it.effect("are initialize, ping and logging/setLevel", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(found(yield* routes({}), conversation), ["initialize", "ping", "logging/setLevel"])
      assert.deepStrictEqual(found(yield* routes({ logging: false }), conversation), ["initialize", "ping"])
    }))

  it.effect("include subscriptions for a client with a conversation, where the server has resources", () =>
    Effect.gen(function*() {
      const { find } = yield* routes({ resources: true })
      for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
        assert.strictEqual(find(method, conversation)?.method.name, method)
        assert.isUndefined(find(method, exchange))
      }
      assert.notInclude(
        found(yield* routes({ resources: true, subscriptions: false }), conversation),
        "resources/subscribe"
      )
    }))

  it.effect("include two before initialize: initialize, which cannot be cancelled, and ping, which can", () =>
    Effect.gen(function*() {
      const { find } = yield* routes({})
      const [initialize, ping, setLevel] = ["initialize", "ping", "logging/setLevel"].map((method) =>
        find(method, exchange)
      )
      assert.deepStrictEqual([initialize?.isEarly, ping?.isEarly, setLevel?.isEarly], [true, true, false])
      assert.strictEqual(initialize?.isCancellable, false)
      assert.strictEqual(ping?.isCancellable, true)
    }))
})

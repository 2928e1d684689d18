import { assert, describe, it } from "@effect/vitest"
import * as Outbound from "@effect-mcp/jsonrpc/Outbound"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Version from "@effect-mcp/protocol/Version"
import * as Registry from "@effect-mcp/server/Registry"
import type { Scope } from "effect"
import { Effect } from "effect"
import { Connection } from "../../src/legacy/Connection.js"
import * as Routes from "../../src/legacy/Routes.js"
import * as Router from "../../src/runtime/Router.js"
import { info } from "../Serving.js"

const routes = (
  options: { readonly logging?: boolean; readonly subscriptions?: boolean; readonly resources?: boolean }
) =>
  Effect.gen(function*() {
    const registry = yield* Registry.make
    const router = Router.make(registry, { pageSize: 1 })
    return Routes.make({
      info,
      versions: Version.legacy,
      instructions: undefined,
      logging: options.logging !== false,
      capabilities: () => ({}),
      router: {
        ...router,
        // What has resources knows how to read one.
        find: (method) =>
          options.resources === true ? ({ method: Methods.readResource } as Router.Route) : router.find(method)
      },
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

describe("What every server serves", () => {
  it.effect("is the handshake, a ping, and how much a client wants to hear", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(found(yield* routes({}), conversation), ["initialize", "ping", "logging/setLevel"])
      assert.deepStrictEqual(found(yield* routes({ logging: false }), conversation), ["initialize", "ping"])
    }))

  it.effect("is subscriptions, too, where there are resources and the client comes back", () =>
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

  it.effect("comes before initialize where it must: the handshake, which cannot be cancelled, and a ping, which can", () =>
    Effect.gen(function*() {
      const { find } = yield* routes({})
      const [initialize, ping, setLevel] = ["initialize", "ping", "logging/setLevel"].map((method) =>
        find(method, exchange)
      )
      assert.deepStrictEqual([initialize?.early, ping?.early, setLevel?.early], [true, true, undefined])
      assert.strictEqual(initialize?.cancellable, false)
      assert.notStrictEqual(ping?.cancellable, false)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { acknowledge, beside, connect } from "./ModernServer.js"

describe("A modern client", () => {
  it.scoped("SHOULD subscribe to resources only when the server has declared that it reports updates", () =>
    Effect.gen(function*() {
      const { client } = yield* connect({ resources: {} })
      for (const call of [client.subscribeResource("file:///a"), client.unsubscribeResource("file:///a")]) {
        assert.deepInclude(yield* Effect.flip(call), {
          _tag: "NotNegotiated",
          capability: "resources.subscribe",
          declaredBy: "server"
        })
      }
    }))

  it.scoped("subscribes all the same where the application does not enforce capabilities", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ resources: {} }, { enforceCapabilities: false })
      const subscribing = yield* beside(client.subscribeResource("file:///a"))
      const listen = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, listen, { resourceSubscriptions: ["file:///a"] })
      yield* Fiber.join(subscribing)
    }))
})

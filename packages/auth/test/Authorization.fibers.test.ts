import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import { Effect, Layer, Redacted } from "effect"
import { preempted } from "../../testing/test/support/Preempted.js"
import * as World from "./World.js"

describe("Requests that begin at the same time", () => {
  it.live("get one token, in every order of their fibers", () =>
    Effect.gen(function*() {
      let obtained = 0
      const world = World.make({
        grant: {
          isInteractive: false,
          isRegistered: () => true,
          client: () => Effect.die("not used"),
          obtain: () =>
            Effect.sync(() => ({
              accessToken: Redacted.make(`token-${++obtained}`),
              type: "Bearer",
              expiresAt: undefined,
              renewAt: undefined,
              refreshToken: undefined,
              scopes: undefined
            }))
        }
      })
      let rounds = 0
      yield* Effect.scoped(Effect.flatMap(Layer.memoize(world.layer), (layer) =>
        preempted(
          Effect.gen(function*() {
            // Another server in each round, which nothing is known of.
            const server = `${World.SERVER}/${++rounds}`
            const before = obtained
            const { login } = yield* Authorization.Authorization
            yield* Effect.all([login(server), login(server)], { concurrency: "unbounded" })
            assert.strictEqual(obtained - before, 1)
          }).pipe(Effect.provide(layer)),
          { runs: 400 }
        )))
    }), 180_000)
})

import { assert, describe, it } from "@effect/vitest"
import * as WorkloadIdentity from "@effect-mcp/auth/WorkloadIdentity"
import { Effect, Redacted } from "effect"
import * as Net from "./Net.js"
import * as World from "./World.js"

describe("A workload", () => {
  it.effect("sends its token as assertion, a new one each time, and no client", () =>
    Effect.gen(function*() {
      let count = 0
      const world = World.make({
        grant: WorkloadIdentity.make({
          issuer: World.ISSUER,
          token: Effect.sync(() => Redacted.make(`workload-${++count}`))
        }),
        instead: ({ url }) =>
          url.pathname === "/token"
            ? Net.json({ access_token: `t${count}`, token_type: "Bearer", expires_in: 0 })
            : undefined
      })
      yield* World.login(world)
      yield* World.login(world)
      for (const [nth, { form, headers }] of world.sent("POST /token").entries()) {
        assert.deepStrictEqual(Object.fromEntries(form), {
          grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
          assertion: `workload-${nth + 1}`,
          resource: World.SERVER
        })
        assert.isUndefined(headers["authorization"])
      }
    }))

  it.effect("fails when its token is refused, and asks no more", () =>
    Effect.gen(function*() {
      const world = World.make({
        grant: WorkloadIdentity.make({ issuer: World.ISSUER, token: Effect.succeed(Redacted.make("workload")) }),
        instead: ({ url }) => url.pathname === "/token" ? Net.json({ error: "invalid_grant" }, 400) : undefined
      })
      assert.deepInclude(yield* World.refused(world), { reason: "TokenRefused", error: "invalid_grant" })
      assert.lengthOf(world.sent("POST /token"), 1)
      assert.lengthOf(world.opened, 0)
    }))
})

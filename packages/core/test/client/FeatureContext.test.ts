import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { FeatureContext } from "@effect-mcp/core/FeatureContext"
import { Effect } from "effect"
import { legacyClient } from "./Scripts.js"

describe("FeatureContext", () => {
  it.scoped("has the facts of the request that is being answered", () =>
    Effect.gen(function*() {
      const features = ClientFeatures.request("ours/who", () =>
        Effect.map(FeatureContext, ({ id, meta, method }) => ({ id, meta, method })))
      const { server } = yield* legacyClient({ client: { features } })
      for (const meta of [{}, { a: 1 }]) {
        const id = yield* server.request("ours/who", { _meta: meta })
        assert.deepStrictEqual<unknown>(yield* server.expectResult(id), { id, meta, method: "ours/who" })
      }
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Effect } from "effect"
import * as Features from "../src/Features.js"
import { RequestContext } from "../src/RequestContext.js"

describe("RequestContext", () => {
  it.scoped("is of the question that is being answered, and of no other", () =>
    Effect.gen(function*() {
      const features = Features.request("ours/who", () =>
        Effect.map(RequestContext, ({ id, meta, method }) => ({ id, meta, method })))
      const { server } = yield* TestClient.make({ client: { features } })
      for (const meta of [{}, { a: 1 }]) {
        const id = yield* server.request("ours/who", { _meta: meta })
        assert.deepStrictEqual<unknown>(yield* server.expectResult(id), { id, meta, method: "ours/who" })
      }
    }))
})

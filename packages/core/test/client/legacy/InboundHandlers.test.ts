import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Effect, Layer, Scope } from "effect"
import { legacyClient } from "../Scripts.js"

const prompt = { messages: [{ role: "user", content: { type: "text", text: "hello" } }], maxTokens: 10 }
const sampled = {
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "one" }, { type: "text", text: "two" }]
} as const
const form = {
  message: "Which?",
  requestedSchema: {
    type: "object",
    properties: { which: { type: "array", items: { type: "string", enum: ["a", "b"] } } }
  }
}

const features = Layer.merge(
  ClientFeatures.sampling(() => Effect.succeed(sampled)),
  ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { which: ["a", "b"] } }))
)

describe("An answer", () => {
  it.scoped("is narrowed to the agreed revision", () =>
    Effect.gen(function*() {
      for (
        const [version, content, which] of [
          ["2025-11-25", sampled.content, ["a", "b"]],
          ["2025-06-18", { type: "text", text: "one\ntwo" }, "a, b"]
        ] as const
      ) {
        const { server } = yield* TestClient.make({ version, client: { features } })
        const message = yield* server.expectResult(yield* server.request("sampling/createMessage", prompt))
        assert.deepStrictEqual<unknown>(message.content, content)
        const { requestedSchema } = form
        const request = version === "2025-11-25" ? form : {
          ...form,
          requestedSchema: { ...requestedSchema, properties: { which: { type: "string" } } }
        }
        if (version === "2025-11-25") {
          const filled = yield* server.expectResult(yield* server.request("elicitation/create", request))
          assert.deepStrictEqual<unknown>(filled, { action: "accept", content: { which } })
        }
      }
    }))

  it.scoped("has a scope of its own, which is closed before it is given", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const features = ClientFeatures.request("ours/do", () =>
        Effect.as(
          Effect.flatMap(Scope.Scope, (scope) => Scope.addFinalizer(scope, Effect.sync(() => log.push("closed")))),
          {}
        ))
      const { server } = yield* legacyClient({ client: { features } })
      yield* server.expectResult(yield* server.request("ours/do"))
      assert.deepStrictEqual(log, ["closed"])
    }))

  it.scoped("to a method with a long name does not repeat it whole", () =>
    Effect.gen(function*() {
      const { server } = yield* legacyClient({ oracle: false })
      const error = yield* server.expectError(yield* server.request("x".repeat(10_000)))
      assert.strictEqual(error.code, -32601)
      assert.isBelow(error.message.length, 200)
    }))
})

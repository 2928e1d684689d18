/**
 * `_meta` of answers that features give to questions of a server: a key that is not valid is left out and reported. In the
 * modern era answers have no `_meta`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { Chunk, Effect, Fiber, Layer, Stream } from "effect"
import { legacyClient, waiting } from "./Scripts.js"

const prompt = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 10 }
const message = { role: "assistant", content: { type: "text", text: "hello" }, model: "m" } as const

const features = Layer.merge(
  ClientFeatures.sampling(() => Effect.succeed({ ...message, _meta: { "-bad": 1, "example.com/a": 2 } })),
  ClientFeatures.request("ours/who", () => Effect.succeed({ _meta: { "a/b/c": 1 } }))
)

const reasonOf = (diagnostics: Chunk.Chunk<{ readonly _tag: string }>) =>
  Chunk.toReadonlyArray(diagnostics).map((one) => ({ ...one }))

describe("`_meta` of an answer that a feature gives", () => {
  it.scoped("MUST NOT have a key that is not valid", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ client: { features } })
      const reported = yield* waiting(Stream.runCollect(Stream.take(client.diagnostics, 2)))
      const id = yield* server.request("sampling/createMessage", prompt)
      assert.deepStrictEqual<unknown>(yield* server.expectResult(id), {
        ...message,
        _meta: { "example.com/a": 2 }
      })
      assert.deepStrictEqual<unknown>(yield* server.expectResult(yield* server.request("ours/who")), { _meta: {} })
      assert.deepStrictEqual<unknown>(reasonOf(yield* Fiber.join(reported)), [
        {
          _tag: "FlawedAnswer",
          method: "sampling/createMessage",
          reason: "_meta \"-bad\": the key is not valid and was left out"
        },
        { _tag: "FlawedAnswer", method: "ours/who", reason: "_meta \"a/b/c\": the key is not valid and was left out" }
      ])
    }))
})

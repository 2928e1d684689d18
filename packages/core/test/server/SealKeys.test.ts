import { assert, describe, it } from "@effect/vitest"
import * as SealKeys from "@effect-mcp/core/SealKeys"
import * as SealKeysLaws from "@effect-mcp/testing/SealKeysLaws"
import { Effect, Layer, Redacted, TestClock } from "effect"
import { ask, asking, capabilities, confirm, retry } from "./modern/Asking.js"
import { connect, error, text } from "./modern/Modern.js"
import { serve } from "./Serving.js"

const asks = asking(confirm("Sure?"))

/** The first round at one server, the second at another. */
const between = (
  one: Layer.Layer<any>,
  two: Layer.Layer<any>,
  meanwhile: Effect.Effect<unknown, unknown> = Effect.void
) =>
  Effect.gen(function*() {
    const round = yield* Effect.map(Effect.flatMap(connect, ask), retry).pipe(Effect.scoped, Effect.provide(one))
    yield* meanwhile
    return yield* Effect.flatMap(connect, (peer) => ask(peer, round)).pipe(Effect.scoped, Effect.provide(two))
  })

describe("keys in memory", () => {
  for (const { check, name } of SealKeysLaws.laws) {
    it.effect(name, () => check(Effect.map(SealKeys.memory(SealKeysLaws.rotation), (keys) => [keys, keys] as const)))
  }
})

describe("fixed keys", () => {
  it("are refused with their use and length when a secret is too short, and not with the secret", () => {
    assert.throws(
      () => SealKeys.fixed([Redacted.make("a secret of at least 32 bytes, at last"), Redacted.make("short")]),
      /^A secret for the state of requests has 5 bytes, but needs at least 32$/
    )
  })
})

describe("the keys of a server", () => {
  it.effect("open on one node what another has sealed", () =>
    Effect.gen(function*() {
      const shared = Layer.succeed(SealKeys.SealKeys, yield* SealKeys.memory())
      const node = Layer.provide(serve(asks), shared)
      assert.strictEqual(text(yield* between(node, Layer.fresh(node))), `{"sure":true}`)
    }))

  it.effect("open on one node what another has sealed before it sealed with the next key", () =>
    Effect.gen(function*() {
      const keys = yield* SealKeys.memory({ every: "5 minutes", keep: "1 hour" })
      const [one, two] = [1, 2].map(() =>
        Layer.fresh(Layer.provide(serve(asks), Layer.succeed(SealKeys.SealKeys, keys)))
      )
      const ids = new Set<string>()
      for (const [first, second] of [[one!, two!], [two!, one!]] as const) {
        ids.add((yield* keys.current).id)
        const answer = between(first, second, Effect.zipRight(TestClock.adjust("6 minutes"), keys.current))
        assert.strictEqual(text(yield* answer), `{"sure":true}`)
      }
      assert.strictEqual(ids.add((yield* keys.current).id).size, 3)
    }))

  it.scoped("that cannot be read refuse the round, and reveal nothing", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const refused = yield* error(peer, "tools/call", { name: "ask" }, { capabilities })
      assert.deepStrictEqual(refused, {
        code: -32603,
        message: "The store of keys for requestState cannot be reached at the moment; try again",
        data: { reason: "overloaded" }
      })
    }).pipe(Effect.provide(Layer.provide(
      serve(asks),
      Layer.succeed(SealKeys.SealKeys, {
        current: Effect.fail(new SealKeys.SealKeysError({ message: "The keys cannot be read" })),
        find: () => Effect.die("not used")
      })
    ))))

  it.effect("give way to the secrets in the options of the server", () =>
    Effect.gen(function*() {
      const shared = Layer.succeed(SealKeys.SealKeys, {
        current: Effect.dieMessage("not used"),
        find: () => Effect.dieMessage("not used")
      })
      const node = Layer.provide(serve(asks, { stateSecrets: [Redacted.make("s".repeat(32))] }), shared)
      assert.strictEqual(text(yield* between(node, Layer.fresh(node))), `{"sure":true}`)
    }))
})

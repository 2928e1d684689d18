import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { Version } from "@effect-mcp/protocol/Version"
import { Effect } from "effect"
import * as Calls from "../../src/session/Calls.js"

/** What is said when a method is called. */
const saying = (
  version: Version,
  call: (call: Calls.Call) => Effect.Effect<unknown, unknown>,
  answer: JsonObject = {}
) =>
  Effect.gen(function*() {
    const said: Array<unknown> = []
    const outbound = {
      request: (method: string, params?: JsonObject) => {
        said.push(params === undefined ? [method] : [method, params])
        return Effect.succeed(answer)
      },
      notify: () => Effect.void
    }
    yield* Effect.exit(call(Calls.make(outbound, version)))
    return said
  })

const complete = (call: Calls.Call) =>
  call(
    Methods.complete,
    {
      ref: { type: "ref/prompt", name: "review", title: "Review" },
      argument: { name: "language", value: "T" },
      context: { arguments: { code: "x" } }
    },
    { meta: { from: "test" } }
  )

describe("A call", () => {
  it.effect("says to a server only what its revision knows", () =>
    Effect.gen(function*() {
      const ref = { type: "ref/prompt", name: "review" }
      const argument = { name: "language", value: "T" }
      const _meta = { from: "test" }
      assert.deepStrictEqual(yield* saying("2025-11-25", complete), [[
        "completion/complete",
        { ref: { ...ref, title: "Review" }, argument, context: { arguments: { code: "x" } }, _meta }
      ]])
      assert.deepStrictEqual(yield* saying("2025-03-26", complete), [["completion/complete", { ref, argument, _meta }]])
    }))

  it.effect("without parameters has none on the wire", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* saying("2025-11-25", (call) => call(Methods.ping, undefined, undefined)),
        [["ping"]]
      )
    }))
})

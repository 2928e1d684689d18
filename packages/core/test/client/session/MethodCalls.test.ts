import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { Version } from "@effect-mcp/core/protocol/Version"
import { Effect } from "effect"
import * as MethodTable from "../../../src/client/legacy/MethodTable.js"
import * as MethodCalls from "../../../src/client/session/MethodCalls.js"

/** The requests that a call sends. */
const requests = (
  version: Version,
  call: (call: MethodCalls.Call) => Effect.Effect<unknown, unknown>,
  answer: JsonObject = {}
) =>
  Effect.gen(function*() {
    const sent: Array<unknown> = []
    const outbound = {
      request: (method: string, params?: JsonObject) => {
        sent.push(params === undefined ? [method] : [method, params])
        return Effect.succeed(answer)
      },
      notify: () => Effect.void
    }
    const calls = MethodCalls.make({
      outbound,
      version,
      table: MethodTable.calls,
      timeouts: new Map(),
      report: () => Effect.void,
      refusal: () => undefined
    })
    yield* Effect.exit(call(calls.call))
    return sent
  })

const complete = (call: MethodCalls.Call) =>
  call(
    "completion/complete",
    {
      ref: { type: "ref/prompt", name: "review", title: "Review" },
      argument: { name: "language", value: "T" },
      context: { arguments: { code: "x" } }
    },
    { meta: { from: "test" } }
  )

describe("A call", () => {
  it.effect("sends only what the revision knows", () =>
    Effect.gen(function*() {
      const ref = { type: "ref/prompt", name: "review" }
      const argument = { name: "language", value: "T" }
      const _meta = { from: "test" }
      assert.deepStrictEqual(yield* requests("2025-11-25", complete), [[
        "completion/complete",
        { ref: { ...ref, title: "Review" }, argument, context: { arguments: { code: "x" } }, _meta }
      ]])
      assert.deepStrictEqual(yield* requests("2025-03-26", complete), [["completion/complete", {
        ref,
        argument,
        _meta
      }]])
    }))

  it.effect("without parameters sends none", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* requests("2025-11-25", (call) => call("ping", undefined, undefined)),
        [["ping"]]
      )
    }))
})

import { assert, describe, it } from "@effect/vitest"
import type { Principal } from "@effect-mcp/core/Authenticator"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Message from "@effect-mcp/core/Message"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { Effect } from "effect"
import { act, answer, byHeader, connect, result, serve } from "./Serving.js"

/** A tool that records the principal of its caller. */
const recording = (seen: Array<Principal | undefined>) =>
  act(Effect.map(RequestContext, ({ principal }) => seen.push(principal)))

describe("The principal of a request", () => {
  it.effect("is the one of its sender", () => {
    const seen: Array<Principal | undefined> = []
    return Effect.gen(function*() {
      yield* answer(
        Message.request(1, "tools/call", { name: "act" }),
        Authenticator.http({ headers: { authorization: "ada" } })
      )
      assert.deepStrictEqual(seen, [{ id: "ada" }])
    }).pipe(Effect.provide(serve(recording(seen), byHeader)))
  })

  it.effect("is undefined on a transport that identifies no sender", () => {
    const seen: Array<Principal | undefined> = []
    return Effect.gen(function*() {
      yield* result(yield* connect(), "act")
      assert.deepStrictEqual(seen, [undefined])
    }).pipe(Effect.scoped, Effect.provide(serve(recording(seen))))
  })
})

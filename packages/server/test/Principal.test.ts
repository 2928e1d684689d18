import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Principal } from "@effect-mcp/server/Principal"
import { RequestContext } from "@effect-mcp/server/RequestContext"
import { Effect } from "effect"
import * as Entrances from "./Entrances.js"
import { act, connect, result, serve } from "./Serving.js"

/** A server whose tool records the principal of its caller. */
const recording = (seen: Array<Principal | undefined>) =>
  serve(act(Effect.map(RequestContext, ({ principal }) => seen.push(principal))))

describe("The principal of a request", () => {
  it.effect("is the one that came with its channel", () => {
    const seen: Array<Principal | undefined> = []
    return Effect.gen(function*() {
      const exchange = yield* Entrances.exchange
      const ada: Principal = { id: "ada" }
      exchange(
        Message.request(1, "tools/call", { name: "act" }),
        {
          origin: { sessionId: undefined, headers: {}, principal: ada, closeStream: Effect.void },
          send: () => Effect.void,
          unsafeSend: () => true
        },
        "2025-11-25"
      )
      assert.deepStrictEqual(seen, [ada])
    }).pipe(Effect.scoped, Effect.provide(recording(seen)))
  })

  it.effect("is undefined on a transport that identifies no sender", () => {
    const seen: Array<Principal | undefined> = []
    return Effect.gen(function*() {
      yield* result(yield* connect(), "act")
      assert.deepStrictEqual(seen, [undefined])
    }).pipe(Effect.scoped, Effect.provide(recording(seen)))
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { fixed, SealKeys } from "@effect-mcp/core/SealKeys"
import type { ServerSession } from "@effect-mcp/core/ServerSession"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Cause, Effect, Layer, Redacted, TestClock } from "effect"
import { withEndpoint } from "../http/TestExchange.js"
import { serve } from "../Serving.js"
import { accept, ask, asking, capabilities, confirm, questions, retry } from "./Asking.js"
import { connect, error, text } from "./Modern.js"
import * as Posting from "./Posting.js"

describe("requestState", () => {
  const secret = (letter: string) => Redacted.make(letter.repeat(32))
  const refusedWith = (peer: TestPeer, params: JsonObject) =>
    error(peer, "tools/call", { name: "ask", ...params }, { capabilities })

  it.scoped("MUST be refused when it was changed, in any place", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const round = retry(yield* ask(peer))
      const { length } = round.requestState
      for (const at of [0, 8, 20, length - 2]) {
        const changed = round.requestState[at] === "A" ? "B" : "A"
        const requestState = round.requestState.slice(0, at) + changed + round.requestState.slice(at + 1)
        const refused = yield* refusedWith(peer, { ...round, requestState })
        assert.strictEqual(refused.code, -32602)
        assert.include(refused.message, "requestState")
      }
      for (const requestState of ["", "x", `${round.requestState}-TAMPERED`, "a".repeat(10_000)]) {
        assert.strictEqual((yield* refusedWith(peer, { ...round, requestState })).code, -32602)
      }
    }).pipe(Effect.provide(serve(asking(confirm("Sure?"))))))

  it.scoped("SHOULD be refused with other arguments, another tool or another method", () => {
    const features = Layer.mergeAll(
      asking(confirm("Sure?")),
      asking(confirm("Sure?"), "other"),
      McpServer.prompt(
        Prompt.make("ask"),
        () => Effect.as(confirm("Sure?"), "text") as Effect.Effect<string, never, ServerSession>
      )
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      const round = retry(yield* ask(peer, { arguments: { n: 1 } }))
      assert.strictEqual((yield* refusedWith(peer, { ...round, arguments: { n: 2 } })).code, -32602)
      assert.strictEqual((yield* refusedWith(peer, round)).code, -32602)
      assert.strictEqual((yield* refusedWith(peer, { ...round, name: "other", arguments: { n: 1 } })).code, -32602)
      assert.strictEqual((yield* error(peer, "prompts/get", { name: "ask", ...round }, { capabilities })).code, -32602)
      assert.strictEqual(text(yield* ask(peer, { ...round, arguments: { n: 1 } })), `{"sure":true}`)
    }).pipe(Effect.provide(serve(features)))
  })

  it.scoped("SHOULD expire", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const round = retry(yield* ask(peer))
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(text(yield* ask(peer, round)), `{"sure":true}`)
      yield* TestClock.adjust("1 second")
      assert.include((yield* refusedWith(peer, round)).message, "expired")
    }).pipe(Effect.provide(serve(asking(confirm("Sure?")), { limits: { elicitationTimeout: "1 minute" } }))))

  it.scoped("expires by the clock of its keys, whatever the clock of the node", () => {
    let now = 0
    const keys = SealKeys.of({ ...fixed([secret("a")]), now: Effect.sync(() => now) })
    const server = serve(asking(confirm("Sure?")), { limits: { elicitationTimeout: "1 minute" } })
    return Effect.gen(function*() {
      const peer = yield* connect
      const round = retry(yield* ask(peer))
      yield* TestClock.adjust("2 hours")
      now = 59_000
      assert.strictEqual(text(yield* ask(peer, round)), `{"sure":true}`)
      now = 60_000
      assert.include((yield* refusedWith(peer, round)).message, "expired")
    }).pipe(Effect.provide(Layer.provide(server, Layer.succeed(SealKeys, keys))))
  })

  const server = (...letters: readonly [string, ...Array<string>]) =>
    serve(asking(confirm("Sure?")), { stateSecrets: letters.map(secret) as any })

  const between = (one: Layer.Layer<any>, two: Layer.Layer<any>) =>
    Effect.gen(function*() {
      const round = yield* Effect.map(Effect.flatMap(connect, ask), retry).pipe(Effect.scoped, Effect.provide(one))
      return yield* Effect.flatMap(connect, (peer) =>
        peer.modern({ capabilities }).request("tools/call", { name: "ask", ...round }).pipe(Effect.zipRight(peer.next)))
        .pipe(Effect.scoped, Effect.provide(two))
    })

  it.effect("MUST need no memory of the first round: another server with the same secret opens it", () =>
    Effect.gen(function*() {
      assert.property(yield* between(server("a"), server("a")), "result")
      assert.property(yield* between(server("a"), server("b")), "error")
      const ownSecret = serve(asking(confirm("Sure?")))
      assert.property(yield* between(ownSecret, serve(asking(confirm("Sure?")))), "error")
    }))

  it.effect("opens with an old secret after a new one was put before it", () =>
    Effect.gen(function*() {
      assert.property(yield* between(server("a"), server("b", "a")), "result")
      assert.property(yield* between(server("b", "a"), server("a")), "error")
    }))

  it.effect("opens with an answer as deep as the endpoint takes", () =>
    withEndpoint(
      serve(asking(Effect.zipRight(confirm("Sure?"), confirm("Really?")))),
      (http) =>
        Effect.gen(function*() {
          const round = (params: JsonObject = {}) =>
            Effect.map(
              Posting.ask(http, Posting.request("tools/call", { name: "ask", ...params }, { capabilities })),
              (exchange) => exchange.json.result
            )
          let deep: JsonObject = {}
          for (let depth = 0; depth < 100; depth++) deep = { deep }
          const second = yield* round(retry(yield* round(), () => ({ ...accept, _meta: deep })))
          assert.deepStrictEqual(questions(second), ["Really?"])
          assert.strictEqual(text(yield* round(retry(second))), `{"sure":true}`)
        }),
      { limits: { maxDepth: 200 } }
    ))

  it.effect("is not sealed with a secret that is too short", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(
        serve(Layer.empty, { stateSecrets: [Redacted.make("short")] })
      )))
      assert.include(exit._tag === "Failure" ? Cause.pretty(exit.cause) : "", "has 5 bytes, but needs at least 32")
    }))
})

/**
 * `_meta` of results that handlers give, in both eras: keys that are not valid are left out, keys that the specification reserves
 * are sent, and both are reported.
 */
import { assert, describe, it } from "@effect/vitest"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import type { Meta } from "@effect-mcp/core/protocol/Meta"
import { Effect, Layer } from "effect"
import * as Modern from "./modern/Modern.js"
import * as Serving from "./Serving.js"

const serving = (_meta: Meta) => MethodHandler.request(Methods.callTool, () => Effect.succeed({ content: [], _meta }))

const called = {
  legacy: Effect.flatMap(
    Serving.unchecked(),
    (peer) => Effect.flatMap(peer.request("tools/call", { name: "x" }), peer.expectResult)
  ),
  modern: Effect.flatMap(Modern.connect, (peer) => Modern.call(peer, "x"))
}

const serverInfo = { "io.modelcontextprotocol/serverInfo": Modern.stamp._meta["io.modelcontextprotocol/serverInfo"] }

describe("`_meta` of a result that a handler gives", () => {
  for (const [era, call] of Object.entries(called)) {
    const own = era === "modern" ? serverInfo : {}

    it.effect(`MUST NOT have a key that is not valid: it is left out and reported, ${era}`, () => {
      const { layer, lines } = Serving.logbook()
      const given = { "example.com/a": 1, "-bad": 2, "no spaces/x": 3, [`${"k".repeat(600)}`]: 4, "": 5 }
      return Effect.gen(function*() {
        const result = yield* call
        assert.deepStrictEqual(result._meta, { "example.com/a": 1, "": 5, ...own })
        assert.strictEqual(lines.length, 1)
        assert.strictEqual(lines[0]!.level, "Warning")
        assert.match(
          lines[0]!.message,
          /^The handler of tool "x" returned an answer that breaks a rule: _meta "-bad": the key is not valid/
        )
        assert.include(lines[0]!.message, "_meta \"no spaces/x\": the key is not valid and was left out")
        assert.isBelow(lines[0]!.message.length, 500)
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(Serving.serve(serving(given)), layer)))
    })

    it.effect(`is reported with ten keys at most, ${era}`, () => {
      const { layer, lines } = Serving.logbook()
      const given = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`_${n}`, n]))
      return Effect.gen(function*() {
        assert.deepStrictEqual((yield* call)._meta, own)
        assert.include(lines[0]?.message, "_meta \"_9\"")
        assert.notInclude(lines[0]?.message, "_meta \"_10\"")
        assert.include(lines[0]?.message, "1990 more")
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(Serving.serve(serving(given)), layer)))
    })

    it.effect(`is sent, and reported, with a key whose prefix the specification reserves, ${era}`, () => {
      const { layer, lines } = Serving.logbook()
      return Effect.gen(function*() {
        assert.deepStrictEqual((yield* call)._meta, { "dev.mcp/x": 1, ...own })
        assert.deepStrictEqual(lines.map(({ message }) => message), [
          "The handler of tool \"x\" returned an answer that breaks a rule: " +
          "_meta \"dev.mcp/x\": the specification reserves the prefix of the key"
        ])
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(Serving.serve(serving({ "dev.mcp/x": 1 })), layer)))
    })

    it.effect(`is not reported with keys of the application and of the specification, ${era}`, () => {
      const { layer, lines } = Serving.logbook()
      const given = { "example.com/a": 1, "io.modelcontextprotocol/related-task": { taskId: "1" }, plain: 2 }
      return Effect.gen(function*() {
        assert.deepStrictEqual((yield* call)._meta, { ...given, ...own })
        assert.deepStrictEqual(lines, [])
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(Serving.serve(serving(given)), layer)))
    })

    it.effect(`is checked where middleware gives the result, ${era}`, () => {
      const { layer, lines } = Serving.logbook()
      const middleware = Middleware.make(({ method }, next) =>
        method === "tools/call" ? Effect.succeed({ content: [], _meta: { "-bad": 1 } }) : next
      )
      return Effect.gen(function*() {
        assert.deepStrictEqual((yield* call)._meta ?? {}, own)
        assert.strictEqual(lines.length, 1)
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(Serving.serve(Serving.GreetLive, { middleware }), layer)))
    })
  }
})

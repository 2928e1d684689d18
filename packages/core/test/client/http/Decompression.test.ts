import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { deflateSync, gzipSync } from "node:zlib"
import * as ScriptedServer from "./ScriptedServer.js"

const compressions: ReadonlyArray<readonly [encoding: string, compress: (text: string) => Uint8Array]> = [
  ["gzip", gzipSync],
  ["X-GZIP", gzipSync],
  ["deflate", deflateSync]
]

const answer = (exchange: ScriptedServer.Exchange, value: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id: exchange.message.id, result: { value } })

/** What becomes of a call that is answered so. */
const outcome = (reply: (exchange: ScriptedServer.Exchange) => Effect.Effect<unknown>, maxBodyBytes?: number) =>
  Effect.gen(function*() {
    const pair = yield* ScriptedServer.pair({ limits: { maxBodyBytes } })
    const calling = yield* pair.call("tools/call")
    yield* Effect.flatMap(pair.expect("tools/call"), reply)
    return yield* Fiber.join(calling)
  })

describe("A compressed body", () => {
  for (const [encoding, compress] of compressions) {
    const headers = (type: string) => ({ "content-type": type, "content-encoding": encoding })

    it.scopedLive(`is decompressed: ${encoding}`, () =>
      Effect.gen(function*() {
        const ended = yield* outcome((exchange) =>
          exchange.reply(200, headers("application/json"), compress(answer(exchange, "ä".repeat(1000))))
        )
        assert.deepStrictEqual<unknown>(ended, { value: "ä".repeat(1000) })
      }))

    it.scopedLive(`is decompressed as a stream of events: ${encoding}`, () =>
      Effect.gen(function*() {
        const ended = yield* outcome((exchange) =>
          exchange.reply(200, headers("text/event-stream"), compress(`data: ${answer(exchange, 1)}\n\n`))
        )
        assert.deepStrictEqual<unknown>(ended, { value: 1 })
      }))

    it.scopedLive(`that the platform has decompressed already is taken as it is: ${encoding}`, () =>
      Effect.gen(function*() {
        const ended = yield* outcome((exchange) =>
          exchange.reply(200, headers("application/json"), answer(exchange, 1))
        )
        assert.deepStrictEqual<unknown>(ended, { value: 1 })
      }))

    it.scopedLive(`is read no further than the limit, however much it would be: ${encoding}`, () =>
      Effect.gen(function*() {
        const bomb = compress(" ".repeat(50_000_000))
        const ended = yield* outcome((exchange) => exchange.reply(200, headers("application/json"), bomb), 1_000_000)
        assert.include(ended.message, "its body has more than 1000000 bytes")
      }))

    it.scopedLive(`that is broken fails its call alone: ${encoding}`, () =>
      Effect.gen(function*() {
        const ended = yield* outcome((exchange) =>
          exchange.reply(200, headers("application/json"), compress(answer(exchange, 1)).slice(0, -9))
        )
        assert.deepInclude(ended, { _tag: "TransportError", reason: "Read" })
      }))
  }
})

import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Queue } from "effect"
import * as RedisProcess from "./RedisProcess.js"
import * as RedisProxy from "./RedisProxy.js"
import { unhandled } from "./unhandled.js"

const subscribes = (text: string) => /\r\nsubscribe\r\n/i.test(text)

describe("the channels of a connection to Redis", () => {
  for (const database of [0, 1]) {
    it.scopedLive(`are there again when the connection is lost while they are subscribed to, in database ${database}`, () =>
      Effect.gen(function*() {
        const errors = yield* unhandled
        const redis = yield* RedisProcess.shared
        let cuts = 0
        const { cut, url } = yield* RedisProxy.make(redis.url, ({ cut, pass, text }) => {
          if (cuts === 0 || !subscribes(text)) return pass()
          cuts--
          cut()
        })
        const { prefix, subscribe } = yield* RedisProcess.connection({ url: `${url}/${database}` })
        const { command } = yield* RedisProcess.connection(redis)
        const woken = yield* Queue.unbounded<void>()
        const channels = ["a", "b"]
        for (const name of channels) yield* subscribe(name, () => void Queue.unsafeOffer(woken, undefined))
        cuts = 3
        yield* cut
        yield* Effect.repeat(Queue.take(woken), { until: () => cuts === 0 })
        for (const name of channels) {
          assert.strictEqual(yield* command("PUBLISH", `${prefix}${name}`, ""), 1)
        }
        assert.deepStrictEqual(errors, [])
      }))
  }

  it.scopedLive("are subscribed to again before their listeners are woken, so that no message is lost between", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.shared
      const held = yield* Deferred.make<() => void>()
      let holds = false
      const { cut, url } = yield* RedisProxy.make(redis.url, ({ pass, text }) => {
        if (holds && subscribes(text)) Deferred.unsafeDone(held, Effect.succeed(pass))
        else pass()
      })
      const { prefix, subscribe } = yield* RedisProcess.connection({ url })
      const { command } = yield* RedisProcess.connection(redis)
      const woken = yield* Queue.unbounded<void>()
      yield* subscribe("c", () => void Queue.unsafeOffer(woken, undefined))
      holds = true
      yield* cut
      const pass = yield* Deferred.await(held)
      assert.strictEqual(yield* command("PUBLISH", `${prefix}c`, ""), 0)
      // What was heard before the message says nothing of it.
      yield* Queue.takeAll(woken)
      pass()
      yield* Queue.take(woken)
    }))

  it.scopedLive("wake every listener of a channel, and still wake one after another has ended", () =>
    Effect.gen(function*() {
      const { command, prefix, subscribe } = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const woken = yield* Queue.unbounded<string>()
      const listen = (name: string) => subscribe("d", () => void Queue.unsafeOffer(woken, name))
      yield* listen("first")
      yield* Effect.scoped(Effect.gen(function*() {
        yield* listen("second")
        // More often than the subscription itself may wake it.
        for (let n = 0; n < 3; n++) {
          yield* command("PUBLISH", `${prefix}d`, "")
          yield* Effect.repeat(Queue.take(woken), { until: (name) => name === "second" })
        }
      }))
      yield* Queue.takeAll(woken)
      yield* command("PUBLISH", `${prefix}d`, "")
      assert.strictEqual(yield* Queue.take(woken), "first")
    }))

  it.scopedLive("are subscribed to again while the connection lasts, when Redis refuses it", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.shared
      let refused = 0
      const { cut, url } = yield* RedisProxy.make(redis.url, ({ pass, text }) => {
        if (refused === 0 || !subscribes(text)) return pass()
        refused--
        pass(text.replace(/subscribe/i, "not-known"))
      })
      const { subscribe } = yield* RedisProcess.connection({ url })
      const woken = yield* Queue.unbounded<void>()
      yield* subscribe("c", () => void Queue.unsafeOffer(woken, undefined))
      refused = 2
      yield* cut
      yield* Effect.repeat(Queue.take(woken), { until: () => refused === 0 })
    }))
})

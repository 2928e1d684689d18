import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as Sweeper from "../../src/http/Sweeper.js"
import type { Kept } from "../../src/legacy/SessionStore.js"
import { SessionStore } from "../../src/legacy/SessionStore.js"

interface Fake extends Kept {
  isBusy: boolean
  ended: boolean
}

const session = (id: string): Fake => {
  const one: Fake = { id, lastUsed: 0, isBusy: false, ended: false, end: () => one.ended = true }
  return one
}

const store = (max = 3, idleTimeout = 1_800_000) =>
  Effect.map(Sweeper.make, (sweeper) => ({ sweeper, store: new SessionStore<Fake>(sweeper, max, idleTimeout) }))

describe("SessionStore", () => {
  it.scoped("finds sessions by id, until they are removed", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const a = session("a")
      assert.isTrue(sessions.add(a))
      assert.strictEqual(sessions.find("a"), a)
      assert.isUndefined(sessions.find("__proto__"))
      assert.isTrue(sessions.remove(a))
      assert.isFalse(sessions.remove(a))
      assert.isUndefined(sessions.find("a"))
      // Used once more by who does not know yet.
      sessions.touch(a)
      assert.strictEqual(sessions.size, 0)
      assert.isFalse(a.ended)
    }))

  it.scoped("ends what nobody has used for long", () =>
    Effect.gen(function*() {
      const { store: sessions, sweeper } = yield* store()
      const [a, b] = [session("a"), session("b")]
      sessions.add(a)
      sessions.add(b)
      yield* TestClock.adjust("20 minutes")
      sessions.touch(a)
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual([a.ended, b.ended], [false, true])
      assert.isUndefined(sessions.find("b"))
      yield* TestClock.adjust("19 minutes")
      assert.isFalse(a.ended)
      yield* TestClock.adjust("1 minutes")
      assert.isTrue(a.ended)
      assert.strictEqual(sweeper.size, 0)
    }))

  it.scoped("leaves what is busy, and counts from its end", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const a = session("a")
      sessions.add(a)
      a.isBusy = true
      yield* TestClock.adjust("50 minutes")
      assert.isFalse(a.ended)
      a.isBusy = false
      sessions.touch(a)
      yield* TestClock.adjust("29 minutes")
      assert.isFalse(a.ended)
      yield* TestClock.adjust("2 minutes")
      assert.isTrue(a.ended)
    }))

  it.scoped("makes room with the one that was idle longest", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const all = ["a", "b", "c", "d", "e"].map(session)
      const [a, b, c, d, e] = all as [Fake, Fake, Fake, Fake, Fake]
      for (const one of [a, b, c]) sessions.add(one)
      sessions.touch(a)
      assert.isTrue(sessions.add(d))
      assert.deepStrictEqual(all.map(({ ended }) => ended), [false, true, false, false, false])
      c.isBusy = true
      assert.isTrue(sessions.add(e))
      assert.deepStrictEqual(all.map(({ ended }) => ended), [true, true, false, false, false])
      assert.strictEqual(sessions.size, 3)
    }))

  it.scoped("has no room when all are busy", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const busy = ["a", "b", "c"].map(session)
      for (const one of busy) {
        one.isBusy = true
        sessions.add(one)
      }
      assert.isFalse(sessions.add(session("d")))
      assert.isTrue(busy.every(({ ended }) => !ended))
      busy[1]!.isBusy = false
      assert.isTrue(sessions.add(session("e")))
      assert.isTrue(busy[1]!.ended)
    }))

  it.scoped("keeps them for ever when it is told to", () =>
    Effect.gen(function*() {
      const { store: sessions, sweeper } = yield* store(3, Infinity)
      sessions.add(session("a"))
      assert.strictEqual(sweeper.size, 0)
      yield* TestClock.adjust("365 days")
      assert.strictEqual(sessions.size, 1)
    }))

  it.scoped("ends all of them", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const all = ["a", "b"].map(session)
      all.forEach((one) => sessions.add(one))
      sessions.clear()
      assert.isTrue(all.every(({ ended }) => ended))
      assert.strictEqual(sessions.size, 0)
    }))
})

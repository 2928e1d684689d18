import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as Deadlines from "../../../src/kit/Deadlines.js"
import {
  MIN_UNFINISHED,
  REPLACE_UNFINISHED_AFTER,
  SessionStore,
  type StoredSession
} from "../../../src/server/legacy/SessionStore.js"
import * as ResolvedLimits from "../../../src/server/runtime/ResolvedLimits.js"

interface Fake extends StoredSession {
  isBusy: boolean
  isConnected: boolean
  ended: boolean
}

const session = (id: string, owner?: string): Fake => {
  const one: Fake = {
    id,
    owner,
    lastUsed: 0,
    finished: false,
    wasConnected: false,
    isBusy: false,
    isConnected: false,
    ended: false,
    end: () => one.ended = true
  }
  return one
}

/** A store whose `add` also finishes the session, and the store itself. */
const store = (maxSessions = 3, sessionIdleTimeout = 1_800_000, maxSessionsPerPrincipal = 2) =>
  Effect.map(Deadlines.make(1000), (sweeper) => {
    const plain = new SessionStore<Fake>(sweeper, {
      limits: ResolvedLimits.ofHttp({ maxSessions, maxSessionsPerPrincipal, sessionIdleTimeout }),
      handshakeTimeout: sessionIdleTimeout
    })
    const store: Pick<typeof plain, Exclude<keyof typeof plain, "size">> & { readonly size: number } = Object.create(
      plain,
      {
        add: { value: (session: Fake) => plain.add(session) ?? plain.finish(session) },
        size: { get: () => plain.size }
      }
    )
    return { sweeper, plain, store }
  })

describe("SessionStore", () => {
  it.scoped("finds sessions by id, until they are removed", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const a = session("a")
      assert.isUndefined(sessions.add(a))
      assert.strictEqual(sessions.find("a"), a)
      assert.isUndefined(sessions.find("__proto__"))
      assert.isTrue(sessions.remove(a))
      assert.isFalse(sessions.remove(a))
      assert.isUndefined(sessions.find("a"))
      // A touch after the removal does nothing.
      sessions.touch(a)
      assert.strictEqual(sessions.size, 0)
      assert.isFalse(a.ended)
    }))

  it.scoped("ends sessions that were idle for long", () =>
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

  it.scoped("does not end sessions whose client is connected, and counts idle time from its last message", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const a = session("a")
      sessions.add(a)
      a.isConnected = true
      yield* TestClock.adjust("50 minutes")
      assert.isFalse(a.ended)
      a.isConnected = false
      sessions.touch(a)
      yield* TestClock.adjust("29 minutes")
      assert.isFalse(a.ended)
      yield* TestClock.adjust("2 minutes")
      assert.isTrue(a.ended)
    }))

  it.scoped("replaces the session that was idle longest", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const all = ["a", "b", "c", "d", "e"].map((id) => session(id))
      const [a, b, c, d, e] = all as [Fake, Fake, Fake, Fake, Fake]
      for (const one of [a, b, c]) sessions.add(one)
      sessions.touch(a)
      assert.isUndefined(sessions.add(d))
      assert.deepStrictEqual(all.map(({ ended }) => ended), [false, true, false, false, false])
      c.isBusy = true
      assert.isUndefined(sessions.add(e))
      assert.deepStrictEqual(all.map(({ ended }) => ended), [true, true, false, false, false])
      assert.strictEqual(sessions.size, 3)
    }))

  it.scoped("adds no session when all are busy", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const busy = ["a", "b", "c"].map((id) => session(id))
      for (const one of busy) {
        one.isBusy = true
        sessions.add(one)
      }
      assert.strictEqual(sessions.add(session("d")), 3)
      assert.isTrue(busy.every(({ ended }) => !ended))
      busy[1]!.isBusy = false
      // The store has just found all of them busy, and does not look again at once.
      assert.strictEqual(sessions.add(session("d")), 3)
      yield* TestClock.adjust("1 second")
      assert.isUndefined(sessions.add(session("e")))
      assert.isTrue(busy[1]!.ended)
    }))

  it.scoped("ends no idle session when idleTimeout is Infinity", () =>
    Effect.gen(function*() {
      const { store: sessions, sweeper } = yield* store(3, Infinity)
      sessions.add(session("a"))
      assert.strictEqual(sweeper.size, 0)
      yield* TestClock.adjust("365 days")
      assert.strictEqual(sessions.size, 1)
    }))

  it.scoped("ends all sessions", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const all = ["a", "b"].map((id) => session(id))
      all.forEach((one) => sessions.add(one))
      sessions.clear((one) => one.end())
      assert.isTrue(all.every(({ ended }) => ended))
      assert.strictEqual(sessions.size, 0)
    }))

  it.scoped("checks each session once when all are busy, and not again for a while", () =>
    Effect.gen(function*() {
      let looks = 0
      const { store: sessions } = yield* store(100)
      for (let i = 0; i < 100; i++) {
        sessions.add(Object.defineProperty(session(String(i)), "isBusy", { get: () => ++looks > 0 }))
      }
      for (let i = 0; i < 10; i++) assert.strictEqual(sessions.add(session("x")), 100)
      assert.strictEqual(looks, 100)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(sessions.add(session("x")), 100)
      assert.strictEqual(looks, 200)
    }))

  it.scoped("ends a sweep also with an idleTimeout of zero", () =>
    Effect.gen(function*() {
      let looks = 0
      const { store: sessions } = yield* store(3, 0)
      const busy = ["a", "b", "c"].map((id) =>
        Object.defineProperty(session(id), "isConnected", { get: () => looks++ < 100 })
      )
      for (const one of busy) sessions.add(one)
      looks = 0
      assert.strictEqual(sessions.sweep(0), 0)
      assert.strictEqual(looks, 3)
    }))

  it.scoped("replaces no session of a principal for one without, however many come", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store(10, undefined, 5)
      const named = ["a", "b", "c", "d"].map((id) => session(id, id))
      for (const one of named) sessions.add(one)
      yield* TestClock.adjust("1 minute")
      const flood = Array.from({ length: 700 }, (_, i) => session(String(i)))
      for (const one of flood) assert.isUndefined(sessions.add(one))
      assert.isTrue(named.every(({ ended }) => !ended))
      assert.strictEqual(sessions.size, 10)
      // Principals take the places of the others, and then nothing is left for one without.
      const late = Array.from({ length: 6 }, (_, i) => session(`late${i}`, `late${i}`))
      for (const one of late) assert.isUndefined(sessions.add(one))
      assert.isTrue(flood.every(({ ended }) => ended))
      assert.isTrue([...named, ...late].every(({ ended }) => !ended))
      assert.strictEqual(sessions.add(session("none")), 10)
    }))

  it.scoped("replaces sessions that were never used first, once their clients have had time", () =>
    Effect.gen(function*() {
      for (const owner of [undefined, "ada"]) {
        const { plain, store: sessions } = yield* store(3, undefined, 4)
        const [used, unused, next, last] = ["used", "unused", "next", "last"].map((id) => session(id, owner && id)) as [
          Fake,
          Fake,
          Fake,
          Fake
        ]
        for (const one of [used, unused]) sessions.add(one)
        plain.use(used)
        yield* TestClock.adjust(REPLACE_UNFINISHED_AFTER)
        // A notification is not a use.
        sessions.add(next)
        sessions.touch(unused)
        yield* TestClock.adjust(REPLACE_UNFINISHED_AFTER - 1)
        sessions.add(last)
        assert.deepStrictEqual([used, unused, next].map(({ ended }) => ended), [true, false, false])
        yield* TestClock.adjust(1)
        sessions.add(session("more", owner && "more"))
        assert.deepStrictEqual([unused, next, last].map(({ ended }) => ended), [false, true, false])
      }
    }))

  it.scoped("replaces a session of the principal that has the most", () =>
    Effect.gen(function*() {
      const { plain, store: sessions } = yield* store(6, undefined, 4)
      const one = ["1", "2"].map((id) => session(id, "ada"))
      const many = ["3", "4", "5"].map((id) => session(id, "bob"))
      const all = [...one, ...many, session("6", "cyd")]
      for (const each of all) sessions.add(each)
      for (const each of all) plain.use(each)
      sessions.add(session("7", "dan"))
      assert.deepStrictEqual(all.filter(({ ended }) => ended), [many[0]])
    }))

  it.scoped("replaces an unfinished session of a client without a principal at once for one with, and never the other way", () =>
    Effect.gen(function*() {
      const { plain: sessions } = yield* store(20, undefined, 20)
      const flood = Array.from({ length: MIN_UNFINISHED }, (_, i) => session(String(i)))
      for (const one of flood) sessions.add(one)
      const named = Array.from({ length: MIN_UNFINISHED }, (_, i) => session(`named${i}`, "ada"))
      for (const one of named) assert.isUndefined(sessions.add(one))
      assert.isTrue(flood.every(({ ended }) => ended))
      yield* TestClock.adjust(REPLACE_UNFINISHED_AFTER)
      assert.strictEqual(sessions.add(session("none")), MIN_UNFINISHED)
      assert.isUndefined(sessions.add(session("bob", "bob")))
      assert.deepStrictEqual(named.filter(({ ended }) => ended), [named[0]])
    }))

  it.scoped("replaces an idle session of the same principal before one of other principals", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store(3)
      const [ada, anonymous, ...bobs] = [
        session("a", "ada"),
        session("n"),
        ...["b", "c", "d"].map((id) => session(id, "bob"))
      ] as const
      for (const one of [ada, anonymous, ...bobs]) assert.isUndefined(sessions.add(one))
      assert.isTrue(anonymous.ended)
      assert.deepStrictEqual(bobs.map(({ ended }) => ended), [true, false, false])
      assert.isUndefined(sessions.add(session("e", "eve")))
      assert.deepStrictEqual([ada, ...bobs].map(({ ended }) => ended), [false, true, true, false])
    }))

  it.scoped("limits the sessions of a principal, and anonymous ones only in all", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store(10)
      const bobs = ["a", "b", "c", "d"].map((id) => session(id, "bob"))
      for (const one of bobs.slice(0, 2)) sessions.add(one)
      sessions.touch(bobs[0]!)
      bobs[0]!.isBusy = true
      assert.isUndefined(sessions.add(bobs[2]!))
      assert.deepStrictEqual(bobs.map(({ ended }) => ended), [false, true, false, false])
      bobs[2]!.isBusy = true
      assert.strictEqual(sessions.add(bobs[3]!), 2)
      for (let i = 0; i < 5; i++) assert.isUndefined(sessions.add(session(String(i))))
      assert.strictEqual(sessions.size, 7)
      sessions.remove(bobs[2]!)
      assert.isUndefined(sessions.add(bobs[3]!))
    }))

  it.scoped("counts unfinished sessions apart: they replace one another, after a while", () =>
    Effect.gen(function*() {
      const { plain: sessions } = yield* store(3)
      const finished = ["a", "b", "c"].map((id) => session(id))
      for (const one of finished) {
        assert.isUndefined(sessions.add(one))
        assert.isUndefined(sessions.finish(one))
      }
      const flood = Array.from({ length: 20 }, (_, i) => session(String(i)))
      assert.strictEqual(flood.filter((one) => sessions.add(one) === undefined).length, MIN_UNFINISHED)
      yield* TestClock.adjust(REPLACE_UNFINISHED_AFTER)
      const late = session("late")
      assert.isUndefined(sessions.add(late))
      assert.deepStrictEqual(flood.filter(({ ended }) => ended), [flood[0]])
      assert.isTrue(finished.every(({ ended }) => !ended))
      // It finishes in the place of the session that was idle longest, and not at all when none is idle.
      assert.isUndefined(sessions.finish(late))
      assert.deepStrictEqual(finished.map(({ ended }) => ended), [true, false, false])
      for (const one of [...finished, late]) one.isBusy = true
      assert.strictEqual(sessions.finish(flood[1]!), 3)
      assert.isUndefined(sessions.find("1"))
    }))

  it.scoped("gives a client that has disconnected the whole time again", () =>
    Effect.gen(function*() {
      const { store: sessions } = yield* store()
      const a = session("a")
      a.isConnected = true
      sessions.add(a)
      yield* TestClock.adjust("59 minutes")
      a.isConnected = false
      yield* TestClock.adjust("30 minutes")
      assert.isFalse(a.ended)
      yield* TestClock.adjust("30 minutes")
      assert.isTrue(a.ended)
    }))
})

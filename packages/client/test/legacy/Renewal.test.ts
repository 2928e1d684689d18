import { assert, describe, it } from "@effect/vitest"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import { Effect, Fiber, TestClock } from "effect"
import * as Played from "../http/Played.js"

const gone = (asked: Played.Asked) =>
  asked.json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }, {}, 404)

const begin = (talk: Played.Talk, id: string) =>
  Effect.gen(function*() {
    const opening = yield* talk.expect("initialize")
    yield* opening.result(Played.initialized(), { "mcp-session-id": id })
    const ready = yield* talk.expect("notifications/initialized")
    yield* ready.accept
    return { opening, ready }
  })

describe("A session that the server has forgotten", () => {
  it.scoped("MUST be begun anew, without its id, and only what was refused on account of it is sent again", () =>
    Effect.gen(function*() {
      let renewed = 0
      const talk = yield* Played.talk({ id: "s-1", onRenewed: Effect.sync(() => renewed++) })
      const calling = yield* talk.call("tools/call")
      yield* Effect.flatMap(talk.expect("tools/call"), gone)
      const { opening, ready } = yield* begin(talk, "s-2")
      assert.notProperty(opening.headers, "mcp-session-id")
      assert.notProperty(opening.headers, "mcp-protocol-version")
      assert.isString(opening.message.id)
      assert.strictEqual(ready.headers["mcp-session-id"], "s-2")
      const again = yield* talk.expect("tools/call")
      assert.strictEqual(again.headers["mcp-session-id"], "s-2")
      assert.strictEqual(again.headers["mcp-protocol-version"], "2025-11-25")
      yield* again.result({ n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(calling), { n: 1 })
      assert.strictEqual(renewed, 1)
      assert.deepStrictEqual([talk.heard, talk.diagnostics], [[], []])
      yield* talk.idle
    }))

  it.scoped("is begun anew once, however many find it gone", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ id: "s-1" })
      const calls = yield* Effect.replicateEffect(talk.call("tools/call"), 10)
      const asked = yield* Effect.replicateEffect(talk.expect("tools/call"), 10)
      yield* Effect.forEach(asked.slice(0, 5), gone)
      const opening = yield* talk.expect("initialize")
      yield* Effect.forEach(asked.slice(5, 8), gone)
      yield* talk.quiet
      yield* opening.result(Played.initialized(), { "mcp-session-id": "s-2" })
      yield* Effect.flatMap(talk.expect("notifications/initialized"), ({ accept }) => accept)
      const again = yield* Effect.replicateEffect(talk.expect("tools/call"), 8)
      yield* Effect.forEach(asked.slice(8), gone)
      const last = yield* Effect.replicateEffect(talk.expect("tools/call"), 2)
      for (const one of [...again, ...last]) {
        assert.strictEqual(one.headers["mcp-session-id"], "s-2")
        yield* one.result()
      }
      assert.lengthOf(yield* Fiber.join(Fiber.all(calls)), 10)
      yield* talk.idle
    }))

  it.scoped("takes those with it whose streams were open, and nobody else", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ id: "s-1" })
      const streaming = yield* talk.call("tools/call")
      const stream = yield* Effect.flatMap(talk.expect("tools/call"), (asked) => asked.events())
      yield* stream.push("id: 1\ndata: \n\n")
      const waiting = yield* talk.call("prompts/get")
      const slow = yield* talk.expect("prompts/get")
      const refused = yield* talk.call("ping")
      yield* Effect.flatMap(talk.expect("ping"), gone)
      assert.deepInclude(yield* Fiber.join(streaming), { _tag: "SessionExpired", method: "tools/call" })
      yield* begin(talk, "s-2")
      yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
      yield* Fiber.join(refused)
      yield* slow.result({ n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(waiting), { n: 1 })
      yield* talk.idle
    }))

  it.scoped("holds back what is asked until there is another", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ id: "s-1" })
      const first = yield* talk.call("ping")
      yield* Effect.flatMap(talk.expect("ping"), gone)
      const opening = yield* talk.expect("initialize")
      const second = yield* talk.call("tools/call")
      yield* talk.quiet
      yield* opening.result(Played.initialized(), { "mcp-session-id": "s-2" })
      const ready = yield* talk.expect("notifications/initialized")
      yield* talk.quiet
      yield* ready.accept
      for (let i = 0; i < 2; i++) yield* Effect.flatMap(talk.next, (asked) => asked.result())
      yield* Fiber.join(Fiber.zip(first, second))
    }))

  it.scoped("is begun anew on account of a notification, too, which goes with it", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ id: "s-1" })
      const telling = yield* Effect.fork(talk.conversation.notify("notifications/roots/list_changed"))
      yield* Effect.flatMap(talk.expect("notifications/roots/list_changed"), gone)
      yield* Fiber.join(telling)
      yield* begin(talk, "s-2")
      yield* talk.quiet
    }))

  it.scoped("gives its stream beside requests to the next one", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.orDie(Played.connect())
      yield* Played.shake(talk, { id: "s-1" })
      const stream = yield* Effect.flatMap(talk.expect("GET"), (asked) => asked.events())
      yield* stream.push("id: 7\ndata: \n\n")
      const calling = yield* talk.call("ping")
      yield* Effect.flatMap(talk.expect("ping"), gone)
      yield* begin(talk, "s-2")
      const [listening, ping] = [yield* talk.next, yield* talk.next].sort((a) => a.message === undefined ? -1 : 1)
      assert.strictEqual(listening!.headers["mcp-session-id"], "s-2")
      assert.notProperty(listening!.headers, "last-event-id")
      yield* ping!.result()
      yield* Fiber.join(calling)
      assert.isTrue(stream.isOver())
    }))

  it.scoped("is not begun anew twice for the same request", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ id: "s-1" })
      const calling = yield* talk.call("ping")
      yield* Effect.flatMap(talk.expect("ping"), gone)
      yield* begin(talk, "s-2")
      yield* Effect.flatMap(talk.expect("ping"), gone)
      const error = (yield* Fiber.join(calling)) as TransportError
      assert.deepInclude(error, { _tag: "TransportError", reason: "Write" })
      assert.include(error.message, "was answered with 404: Session not found")
      yield* talk.quiet
    }))

  it.scoped("may be found gone in an answer under the request's id", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ id: "s-1" })
      const calling = yield* talk.call("ping")
      const asked = yield* talk.expect("ping")
      const error = { code: -32001, message: "Session not found" }
      yield* asked.json({ jsonrpc: "2.0", id: asked.message.id, error }, {}, 404)
      yield* begin(talk, "s-2")
      yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
      assert.deepStrictEqual(yield* Fiber.join(calling), {})
    }))

  const ends: ReadonlyArray<readonly [string, (opening: Played.Asked) => Effect.Effect<void>, RegExp]> = [
    ["speaks another revision now", (one) => one.result(Played.initialized("2025-06-18")), /speaks 2025-06-18 now/],
    [
      "answers with an error",
      (one) => one.json({ jsonrpc: "2.0", id: one.message.id, error: { code: -32603, message: "broken" } }),
      /broken/
    ],
    ["refuses", (one) => one.reply(403), /was answered with 403/],
    ["answers nonsense", (one) => one.json({}), /"method" is missing/]
  ]
  for (const [what, answer, message] of ends) {
    it.scoped(`ends the connection when the server ${what}`, () =>
      Effect.gen(function*() {
        const talk = yield* Played.talk({ id: "s-1" })
        const calling = yield* talk.call("ping")
        yield* Effect.flatMap(talk.expect("ping"), gone)
        yield* Effect.flatMap(talk.expect("initialize"), answer)
        const error = yield* Effect.flip(talk.conversation.ended)
        assert.match(error.message, /^The session has expired, and no other could be begun: /)
        assert.match(error.message, message)
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "ConnectionClosed", cause: error })
        yield* talk.idle
      }))
  }

  const passes: ReadonlyArray<readonly [string, (opening: Played.Asked) => Effect.Effect<void>]> = [
    ["is not there", (one) => one.fail("ECONNREFUSED")],
    ["has too much to do", (one) => one.reply(503)]
  ]
  for (const [what, answer] of passes) {
    it.scoped(`costs only those who were refused when the server ${what}, and is begun by the next`, () =>
      Effect.gen(function*() {
        const talk = yield* Played.talk({ id: "s-1" })
        const calling = yield* talk.call("ping")
        yield* Effect.flatMap(talk.expect("ping"), gone)
        yield* Effect.flatMap(talk.expect("initialize"), answer)
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Write" })
        const next = yield* talk.call("ping")
        yield* Effect.flatMap(talk.expect("ping"), gone)
        yield* begin(talk, "s-2")
        yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
        assert.deepStrictEqual(yield* Fiber.join(next), {})
      }))
  }

  it.scoped("stays gone when the next one was not begun to the end", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ id: "s-1" })
      const calling = yield* talk.call("ping")
      yield* Effect.flatMap(talk.expect("ping"), gone)
      yield* Effect.flatMap(talk.expect("initialize"), (opening) =>
        opening.result(Played.initialized(), { "mcp-session-id": "s-2" }))
      yield* Effect.flatMap(talk.expect("notifications/initialized"), (ready) =>
        ready.reply(503))
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Write" })
      const next = yield* talk.call("ping")
      const asked = yield* talk.expect("ping")
      assert.strictEqual(asked.headers["mcp-session-id"], "s-1")
      yield* gone(asked)
      yield* begin(talk, "s-3")
      yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
      yield* Fiber.join(next)
    }))

  it.scoped("is ended when the connection closes, and so is its beginning", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.scoped(Effect.gen(function*() {
        const talk = yield* Played.talk({ id: "s-1", onRenewed: Effect.never })
        const calling = yield* talk.call("ping")
        yield* Effect.flatMap(talk.expect("ping"), gone)
        yield* begin(talk, "s-2")
        yield* Effect.flatMap(talk.expect("ping"), (ping) => ping.result())
        yield* Fiber.join(calling)
        yield* talk.call("ping")
        yield* Effect.flatMap(talk.expect("ping"), gone)
        yield* talk.expect("initialize")
        return talk
      }))
      yield* TestClock.adjust("1 hour")
      yield* talk.quiet
      yield* talk.idle
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Inbox from "@effect-mcp/core/Inbox"
import type { Membership } from "@effect-mcp/core/SessionDirectory"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import type * as WebHandler from "@effect-mcp/core/WebHandler"
import { Effect, Exit, Layer, Option, Scope, TestClock } from "effect"
import { answered, call, initialize, makeClient } from "../http/TestExchange.js"
import { act, GreetLive, logbook, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"

const SECRET = "connect ECONNREFUSED redis.internal:6379"

/** An endpoint whose directory can be away, what the directory knows, and what closes the endpoint. */
const servingWith = Effect.fnUntraced(function*(responses: WebHandler.HttpOptions["responses"]) {
  const memory = yield* SessionDirectory.memory()
  const other = yield* memory.join("other")
  const state = { isAway: false, removals: 0 }
  const failing = <A>(effect: Effect.Effect<A, SessionDirectory.SessionDirectoryError>) =>
    Effect.suspend(() => state.isAway ? away : effect)
  // A network takes its time to fail.
  const away = Effect.zipRight(Effect.yieldNow(), new SessionDirectory.SessionDirectoryError({ message: SECRET }))
  const directory: SessionDirectory.SessionDirectoryService = {
    join: (node) =>
      Effect.map(memory.join(node), (own): Membership => ({
        ...own,
        create: (...args) => failing(own.create(...args)),
        find: (...args) => failing(own.find(...args)),
        update: (...args) => failing(own.update(...args)),
        release: (...args) => failing(own.release(...args)),
        remove: (...args) => Effect.suspend(() => failing((state.removals++, own.remove(...args))))
      }))
  }
  const events = yield* EventStore.memory()
  const services = Layer.mergeAll(
    Layer.succeed(SessionDirectory.SessionDirectory, directory),
    Layer.succeed(EventStore.EventStore, events),
    Layer.effect(Inbox.Inbox, Inbox.memory())
  )
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const { layer, lines } = logbook()
  const context = yield* Effect.provide(Layer.build(Layer.merge(serve(GreetLive), services)), layer)
  const http = yield* makeClient({ drainTimeout: 0, responses }).pipe(
    Effect.provide(context),
    Effect.provide(layer),
    Scope.extend(scope)
  )
  return { http, lines, state, find: other.find, close: Scope.close(scope, Exit.void) }
})

const serving = servingWith("auto")

describe("nodes, while the directory of sessions is away:", () => {
  it.scoped("a new session is refused with 503 and a time to wait; the log has the cause, the client has not", () =>
    Effect.gen(function*() {
      const { http, lines, state } = yield* serving
      state.isAway = true
      const exchange = yield* http.ask(initialize())
      assert.deepStrictEqual([exchange.status, exchange.sent["retry-after"]], [503, "1"])
      assert.isUndefined(exchange.sent["mcp-session-id"])
      assert.deepStrictEqual(exchange.json, {
        jsonrpc: "2.0",
        id: 0,
        error: {
          code: -32000,
          message: "Service Unavailable: The directory of sessions cannot be reached at the moment; try again"
        }
      })
      for (let n = 0; n < 20; n++) assert.strictEqual((yield* http.ask(initialize())).status, 503)
      assert.lengthOf(lines.filter(({ message }) => message.includes(SECRET)), 1)
      assert.strictEqual(http.endpoint.sessions(), 0)
      state.isAway = false
      assert.strictEqual((yield* http.ask(initialize())).status, 200)
    }))

  it.scoped("a new session is refused with 503 also where responses are streams, which have a status from their beginning", () =>
    Effect.gen(function*() {
      const { http, state } = yield* servingWith("stream")
      state.isAway = true
      const { sent, status } = yield* http.ask(initialize())
      assert.deepStrictEqual([status, sent["retry-after"], sent["mcp-session-id"]], [503, "1", undefined])
    }))

  it.scoped("a request that changes what other nodes must know fails with the same, and the session goes on", () =>
    Effect.gen(function*() {
      const { http, state } = yield* serving
      const client = yield* http.open()
      const setLevel = { jsonrpc: "2.0", id: 1, method: "logging/setLevel", params: { level: "error" } }
      state.isAway = true
      const refused = yield* client.ask(setLevel)
      assert.notInclude(refused.text, "ECONNREFUSED")
      assert.include(refused.text, "The directory of sessions cannot be reached at the moment; try again")
      state.isAway = false
      assert.notInclude((yield* client.ask({ ...setLevel, id: 2 })).text, "error\":{")
    }))

  it.scoped("requests of sessions that are looked up in vain get 503; the log says once that it is away, and again the next time", () =>
    Effect.gen(function*() {
      const { http, lines, state } = yield* serving
      const ask = (n: number) => http.ask(call(1, "greet"), { "mcp-session-id": String(n).padStart(32, "0") })
      for (const _ of ["first", "second"]) {
        state.isAway = true
        const before = lines.length
        for (let n = 0; n < 20; n++) {
          const { sent, status, text } = yield* ask(n)
          assert.deepStrictEqual([status, sent["retry-after"]], [503, "1"])
          assert.notInclude(text, "ECONNREFUSED")
        }
        assert.strictEqual(lines.length - before, 1)
        state.isAway = false
        assert.strictEqual((yield* ask(0)).status, 404)
      }
    }))

  it.scoped("a session that its client has ended is removed when the directory is there again", () =>
    Effect.gen(function*() {
      const { find, http, state } = yield* serving
      const client = yield* http.open()
      const id = client.session["mcp-session-id"]!
      state.isAway = true
      assert.strictEqual((yield* answered(client.delete())).status, 200)
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Option.isSome(yield* find(id)))
      assert.isBelow(state.removals, 10)
      state.isAway = false
      yield* TestClock.adjust("40 seconds")
      assert.isTrue(Option.isNone(yield* find(id)))
    }))

  it.scoped("closing the endpoint does not wait for sessions that cannot be removed", () =>
    Effect.gen(function*() {
      const { close, http, state } = yield* serving
      const [ended] = [yield* http.open(), yield* http.open()]
      state.isAway = true
      yield* answered(ended.delete())
      yield* close
    }))

  it.scoped("a request waits for the node that it was passed to, whose end cannot be seen, and learns of the end after that", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      let runs = 0
      const { node } = yield* Cluster.make(serve(act(Effect.zipRight(Effect.sync(() => runs++), gate.await))), {
        isResumable: false
      })
      const [one, two] = [yield* node, yield* node]
      const client = yield* one.http.open()
      const [first, second] = [two.of(client).post(call(1, "act")), two.of(client).post(call(2, "act"))]
      yield* until(() => runs === 2)
      two.faults.isDirectoryAway = true
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([first.ended, second.ended], [false, false])
      yield* gate.open
      yield* Cluster.later(answered(first))
      assert.deepStrictEqual(first.json, { jsonrpc: "2.0", id: 1, result: { content: [] } })
      yield* answered(second)
      yield* gate.close
      const third = two.of(client).post(call(3, "act"))
      yield* until(() => runs === 3)
      yield* one.stop
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(third.ended)
      two.faults.isDirectoryAway = false
      yield* TestClock.adjust("1 second")
      assert.include((yield* answered(third)).json.error.message, "has ended; whether the request has run is not known")
    }))

  it.scoped("the sessions of a node are kept again when the directory is there again", () =>
    Effect.gen(function*() {
      const touched: Array<number> = []
      const memory = yield* SessionDirectory.memory()
      const directory: SessionDirectory.SessionDirectoryService = {
        join: (node) =>
          Effect.map(memory.join(node), (own): Membership => ({
            ...own,
            touch: (sessions) => {
              touched.push([...sessions].length)
              return touched.length < 3
                ? new SessionDirectory.SessionDirectoryError({ message: SECRET })
                : own.touch(sessions)
            }
          }))
      }
      const services = Layer.mergeAll(
        Layer.succeed(SessionDirectory.SessionDirectory, directory),
        Layer.effect(Inbox.Inbox, Inbox.memory())
      )
      const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
      const context = yield* Layer.build(Layer.merge(serve(GreetLive), services))
      const http = yield* makeClient({ drainTimeout: 0 }).pipe(Effect.provide(context), Scope.extend(scope))
      yield* http.open()
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(touched, [0, 1, 1, 1, 1])
      yield* Scope.close(scope, Exit.void)
    }))
})

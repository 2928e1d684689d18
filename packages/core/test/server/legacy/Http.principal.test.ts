import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Effect } from "effect"
import { call, initialize, withEndpoint } from "../http/TestExchange.js"
import { act, byHeader, GreetLive, serve, until } from "../Serving.js"

const ping = Message.request(1, "ping")

describe("a session of a principal", () => {
  it.effect("does not end when another principal opens sessions", () =>
    withEndpoint(serve(GreetLive, byHeader), (http) =>
      Effect.gen(function*() {
        const ada = yield* http.open(undefined, {}, { authorization: "ada" })
        const bobs = yield* Effect.forEach(
          Array(20).keys(),
          () => http.open(undefined, {}, { authorization: "bob" })
        )
        assert.strictEqual((yield* ada.ask(ping)).status, 200)
        assert.strictEqual((yield* bobs[17]!.ask(ping)).status, 404)
        assert.strictEqual((yield* bobs[18]!.ask(ping)).status, 200)
        const streams = bobs.slice(-2).map((bob) => bob.get())
        yield* until(() => streams.every(({ status }) => status === 200))
        const refused = yield* http.ask(initialize(), { authorization: "bob" })
        assert.strictEqual(refused.status, 503)
        assert.match(refused.json.error.message, /2 sessions are in use/)
      }), { limits: { maxSessions: 20 } }))

  it.effect("outlives any number of clients without one, which are refused once principals need all places", () =>
    withEndpoint(serve(GreetLive, byHeader), (http) =>
      Effect.gen(function*() {
        const named = yield* Effect.forEach(["ada", "bob"], (authorization) =>
          http.open(undefined, {}, { authorization }))
        for (let i = 0; i < 100; i++) {
          yield* (yield* http.open()).ask(ping)
        }
        for (const one of named) {
          assert.strictEqual((yield* one.ask(ping)).status, 200)
        }
        yield* Effect.forEach(
          Array(18).keys(),
          (i) =>
            http.open(undefined, {}, { authorization: `user${i}` })
        )
        const refused = yield* http.ask(initialize())
        assert.strictEqual(refused.status, 503)
        assert.match(refused.json.error.message, /20 sessions are in use/)
        for (const one of named) assert.strictEqual((yield* one.ask(ping)).status, 200)
      }), { limits: { maxSessions: 20 } }))
})

describe("a malformed response", () => {
  it.effect("of another principal does not fail a question to the client; the client's own does", () => {
    const outcomes: Array<string> = []
    const asking = act(
      Effect.flatMap(
        ServerSession,
        (session) => Effect.map(Effect.exit(session.listRoots), ({ _tag }) => outcomes.push(_tag))
      )
    )
    return withEndpoint(serve(asking, byHeader), (http) =>
      Effect.gen(function*() {
        const ada = yield* http.open(undefined, { roots: {} }, { authorization: "ada" })
        const ask = (id: number) =>
          Effect.gen(function*() {
            const exchange = ada.post(call(id, "act"))
            yield* until(() => exchange.isStream && exchange.messages.length === 1)
            return exchange.messages[0].id
          })
        const first = yield* ask(1)
        const malformed = (id: unknown) => ({ jsonrpc: "1.0", id, result: {} })
        for (const authorization of ["bob", "eve"]) {
          assert.strictEqual(ada.post(malformed(first), { authorization }).status, 400)
        }
        ada.post(Message.success(first, { roots: [] }))
        yield* until(() => outcomes.length === 1)
        const second = yield* ask(2)
        assert.strictEqual(ada.post(malformed(second)).status, 400)
        yield* until(() => outcomes.length === 2)
        assert.deepStrictEqual(outcomes, ["Success", "Failure"])
      }))
  })
})

describe("a notification", () => {
  it.effect("has its session, headers and principal, as a request has", () => {
    const seen: Array<unknown> = []
    const listener = MethodHandler.rootsListChanged(
      Effect.map(RequestContext.RequestContext, ({ client: { sessionId }, headers, principal }) => {
        seen.push([headers["x-trace"], principal?.id, sessionId])
      })
    )
    return withEndpoint(serve(listener, byHeader), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open("2025-03-26", {}, { authorization: "ada" })
        const changed = Message.notification("notifications/roots/list_changed")
        yield* client.ask(changed, { "x-trace": "a" })
        yield* client.ask([changed], { "x-trace": "b" })
        yield* until(() => seen.length === 2)
        const id = client.session["mcp-session-id"]
        assert.deepStrictEqual(seen, [["a", "ada", id], ["b", "ada", id]])
      }))
  })
})

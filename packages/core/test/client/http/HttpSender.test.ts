import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import type { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as Remote from "@effect-mcp/core/Remote"
import { Context, Deferred, Effect, Fiber, Ref, TestClock } from "effect"
import * as ModernHttp from "../modern/ModernHttp.js"
import * as ScriptedServer from "./ScriptedServer.js"

/** Sends one request, and gives how it ends. */
const sending = (options?: Parameters<typeof ScriptedServer.pair>[0]) =>
  Effect.gen(function*() {
    const pair = yield* ScriptedServer.pair(options)
    const calling = yield* pair.call("ping")
    return { pair, calling: Effect.map(Fiber.join(calling), (one) => one as TransportError) }
  })

describe("The headers of a request", () => {
  it.scoped("are the protocol's and those that the application adds", () =>
    Effect.gen(function*() {
      const { pair } = yield* sending({ id: "s-1", headers: { Authorization: "Bearer 1", "X-Tenant": "t" } })
      const { headers } = yield* pair.expect("ping")
      assert.deepInclude(headers, { authorization: "Bearer 1", "x-tenant": "t", "mcp-session-id": "s-1" })
    }))

  it.scoped("may be made by an effect for each request", () =>
    Effect.gen(function*() {
      const count = yield* Ref.make(0)
      const headers = Effect.map(Ref.updateAndGet(count, (n) => n + 1), (n) => ({ authorization: `Bearer ${n}` }))
      const { pair } = yield* sending({ headers })
      // After `initialize` and `initialized`.
      assert.strictEqual((yield* pair.expect("ping")).headers.authorization, "Bearer 3")
    }))

  it.scoped("cannot be changed by the application where they belong to the protocol", () =>
    Effect.gen(function*() {
      const mine = {
        Accept: "text/html",
        "Content-Type": "text/plain",
        "Mcp-Session-Id": "stolen",
        "MCP-Protocol-Version": "1",
        "Last-Event-Id": "9",
        "x-mine": "yes"
      }
      for (const headers of [mine, Effect.succeed(mine)]) {
        const { pair } = yield* sending({ headers })
        const exchange = yield* pair.expect("ping")
        assert.deepInclude(exchange.headers, {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-protocol-version": "2025-11-25",
          "x-mine": "yes"
        })
        assert.notProperty(exchange.headers, "mcp-session-id")
        assert.notProperty(exchange.headers, "last-event-id")
      }
    }))

  it.scoped("fail only the request that they cannot be made for", () =>
    Effect.gen(function*() {
      const broken = yield* Ref.make(false)
      const headers = Effect.flatMap(
        Ref.get(broken),
        (no) => no ? Effect.fail("no token" as const) : Effect.succeed({})
      )
      const pair = yield* ScriptedServer.pair({ headers })
      yield* Ref.set(broken, true)
      const calling = yield* pair.call("ping")
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Write", cause: "no token" })
      yield* pair.quiet
    }))

  it.scoped("may need services of the application", () =>
    Effect.gen(function*() {
      class Token extends Context.Tag("Token")<Token, string>() {}
      const http = yield* ScriptedServer.make()
      const connector = Remote.connector(ScriptedServer.URL, {
        headers: Effect.map(Token, (token) => ({ authorization: token }))
      })
      const transport = yield* connector.connect.pipe(
        Effect.provideService(HttpClient.HttpClient, http.client),
        Effect.provideService(Token, "Bearer 1")
      )
      transport.unsafeSend({ jsonrpc: "2.0", id: 1, method: "initialize" })
      assert.strictEqual((yield* http.expect("initialize")).headers.authorization, "Bearer 1")
    }))
})

describe("A request that is answered with 401 or 403", () => {
  it.scoped("fails alone, with the challenge of the server in its cause", () =>
    Effect.gen(function*() {
      for (
        const [status, advice] of [
          [401, ": give the connector `headers` or `authorize`"],
          [403, ": `HttpResponseError.body` has the answer"]
        ] as const
      ) {
        const { calling, pair } = yield* sending()
        yield* Effect.flatMap(pair.expect("ping"), (exchange) =>
          exchange.reply(
            status,
            { "www-authenticate": "Bearer scope=\"a\"", "content-type": "text/plain" },
            "token abc"
          ))
        const error = yield* calling
        assert.strictEqual(error.message, `POST ${ScriptedServer.URL} was answered with ${status}${advice}`)
        const refused = error.cause as HttpResponseError
        assert.deepInclude(refused, { _tag: "HttpResponseError", status, body: "token abc" })
        assert.strictEqual(refused.headers["www-authenticate"], "Bearer scope=\"a\"")
      }
    }))

  it.scoped("is sent once more with the headers that the application gives, and no more than once", () =>
    Effect.gen(function*() {
      const exchange: Array<HttpResponseError> = []
      const { calling, pair } = yield* sending({
        headers: { authorization: "Bearer old", "x-mine": "yes" },
        authorize: (refused, request) =>
          Effect.sync(() => {
            exchange.push(refused)
            assert.strictEqual(request.headers.authorization, "Bearer old")
            return { authorization: "Bearer new", "mcp-session-id": "mine" }
          })
      })
      const first = yield* pair.expect("ping")
      yield* first.reply(401, { "www-authenticate": "Bearer" })
      const second = yield* pair.expect("ping")
      assert.deepInclude(second.headers, { authorization: "Bearer new", "x-mine": "yes" })
      assert.notProperty(second.headers, "mcp-session-id")
      assert.deepStrictEqual(second.message, first.message)
      yield* second.reply(401)
      assert.deepInclude((yield* calling).cause, { _tag: "HttpResponseError", status: 401 })
      assert.lengthOf(exchange, 1)
      yield* pair.quiet
      yield* pair.idle
    }))

  it.scoped("is accepted with them", () =>
    Effect.gen(function*() {
      const { calling, pair } = yield* sending({ authorize: () => Effect.succeed({ authorization: "Bearer new" }) })
      yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(403))
      yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.result({ n: 1 }))
      assert.deepStrictEqual<unknown>(yield* calling, { n: 1 })
    }))

  it.scoped("fails with the error of the application, also when that dies", () =>
    Effect.gen(function*() {
      const refusing = yield* sending({ authorize: () => Effect.fail("no consent") })
      yield* Effect.flatMap(refusing.pair.expect("ping"), (exchange) => exchange.reply(401))
      assert.deepInclude(yield* refusing.calling, {
        _tag: "TransportError",
        reason: "Write",
        message: `POST ${ScriptedServer.URL} was answered with 401, and \`authorize\` failed: see the cause`,
        cause: "no consent"
      })
      const dying = yield* sending({
        authorize: () => {
          throw new Error("oops")
        }
      })
      yield* Effect.flatMap(dying.pair.expect("ping"), (exchange) => exchange.reply(401))
      assert.deepInclude(yield* dying.calling, { _tag: "TransportError", message: "The request died" })
      yield* dying.pair.idle
    }))

  it.scoped("can be interrupted while the application decides", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ authorize: () => Effect.never })
      const calling = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(401))
      yield* Fiber.interrupt(calling)
      yield* Effect.flatMap(pair.expect("notifications/cancelled"), ({ accept }) => accept)
      yield* pair.idle
    }))
})

describe("An authorizer", () => {
  it.scoped("gives the headers of every attempt, and is given every refusal", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      let token = 0
      const { calling, pair } = yield* sending({
        authorize: {
          headers: (request, server) => {
            seen.push([request.method, server])
            return Effect.succeed({ authorization: `Bearer ${token}` })
          },
          onRefused: ({ attempt, refusal, request, server }) => {
            token++
            seen.push([refusal.status, request.headers.authorization, server, attempt])
            return Effect.succeed(true)
          }
        }
      })
      for (const status of [401, 403]) {
        const exchange = yield* pair.expect("ping")
        assert.strictEqual(exchange.headers.authorization, `Bearer ${token}`)
        yield* exchange.reply(status)
      }
      const third = yield* pair.expect("ping")
      assert.strictEqual(third.headers.authorization, "Bearer 2")
      yield* third.result({ n: 1 })
      assert.deepStrictEqual<unknown>(yield* calling, { n: 1 })
      const { URL: url } = ScriptedServer
      assert.deepStrictEqual(seen.slice(-5), [
        ["POST", url],
        [401, "Bearer 0", url, 1],
        ["POST", url],
        [403, "Bearer 1", url, 2],
        ["POST", url]
      ])
    }))

  it.scoped("is given no more than five refusals of one request", () =>
    Effect.gen(function*() {
      const attempts: Array<number> = []
      const { calling, pair } = yield* sending({
        authorize: {
          headers: () => Effect.succeed({}),
          onRefused: ({ attempt }) => Effect.as(Effect.sync(() => attempts.push(attempt)), true)
        }
      })
      for (let attempt = 0; attempt < 6; attempt++) {
        yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(401))
      }
      assert.deepInclude((yield* calling).cause, { _tag: "HttpResponseError", status: 401 })
      assert.deepStrictEqual(attempts, [1, 2, 3, 4, 5])
      yield* pair.idle
    }))

  it.scoped("has a memory for each request, which lives over all attempts at the request", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const pair = yield* ScriptedServer.pair({
        authorize: {
          headers: () => Effect.succeed({}),
          onRefused: ({ attempt, memory, refusal }) =>
            Effect.sync(() => {
              seen.push([attempt, [...memory]])
              memory.set(`refusal ${attempt}`, refusal.status)
              return true
            })
        }
      })
      for (const statuses of [[401, 403], [403]]) {
        const calling = yield* pair.call("ping")
        for (const status of statuses) yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(status))
        yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.result({}))
        yield* Fiber.join(calling)
      }
      assert.deepStrictEqual(seen, [[1, []], [2, [["refusal 1", 401]]], [1, []]])
    }))

  it.scoped("may wait for the user: the timeouts of calls stand still meanwhile", () =>
    Effect.gen(function*() {
      const loggedIn = yield* Deferred.make<void>()
      const waiting = yield* Deferred.make<void>()
      const pair = yield* ScriptedServer.pair({
        authorize: {
          headers: () => Effect.succeed({}),
          onRefused: () =>
            Deferred.succeed(waiting, undefined).pipe(Effect.zipRight(Deferred.await(loggedIn)), Effect.as(true))
        }
      })
      const calling = yield* pair.call("ping", { timeout: "60 seconds" })
      yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(401))
      yield* Deferred.await(waiting)
      yield* TestClock.adjust("9 minutes")
      yield* Deferred.succeed(loggedIn, undefined)
      const second = yield* pair.expect("ping")
      yield* TestClock.adjust("59 seconds")
      yield* second.result({ n: 1 })
      assert.deepStrictEqual<unknown>(yield* Fiber.join(calling), { n: 1 })
    }))

  it.scoped("may leave a request refused, with all that the server wrote", () =>
    Effect.gen(function*() {
      const { calling, pair } = yield* sending({
        authorize: { headers: () => Effect.succeed({}), onRefused: () => Effect.succeed(false) }
      })
      yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(403, { "x-why": "no" }, "closed today"))
      const { cause } = yield* calling
      assert.deepInclude(cause, { _tag: "HttpResponseError", status: 403, body: "closed today" })
      assert.strictEqual((cause as HttpResponseError).headers["x-why"], "no")
    }))

  it.scoped("fails a request with its own failure", () =>
    Effect.gen(function*() {
      let isBroken = false
      const { calling, pair } = yield* sending({
        authorize: {
          headers: () => Effect.suspend(() => isBroken ? Effect.fail("no key") : Effect.succeed({})),
          onRefused: () => Effect.as(Effect.sync(() => isBroken = true), true)
        }
      })
      yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(401))
      assert.deepInclude(yield* calling, { _tag: "TransportError", reason: "Write", cause: "no key" })
      yield* pair.idle
    }))
})

describe("A redirect", () => {
  for (const status of [307, 308]) {
    it.scoped(`is followed with the same method, body and headers when it is a ${status} to the same origin`, () =>
      Effect.gen(function*() {
        const { calling, pair } = yield* sending({ id: "s-1", headers: { authorization: "Bearer 1" } })
        const first = yield* pair.expect("ping")
        yield* first.reply(status, { location: "/other?a=b" })
        const second = yield* pair.expect("ping")
        assert.strictEqual(second.what, "POST http://server.test/other?a=b")
        assert.deepStrictEqual({ ...second.headers }, { ...first.headers })
        assert.deepStrictEqual(second.message, first.message)
        yield* second.result({ n: 1 })
        assert.deepStrictEqual<unknown>(yield* calling, { n: 1 })
      }))
  }

  for (const status of [300, 301, 302, 303]) {
    it.scoped(`is refused when a ${status} would turn it into another request`, () =>
      Effect.gen(function*() {
        const { calling, pair } = yield* sending()
        yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(status, { location: "/other" }))
        const error = yield* calling
        assert.deepInclude(error, { _tag: "TransportError", reason: "Write" })
        assert.include(error.message, `a redirect with status ${status} does not keep the method POST`)
        assert.deepInclude(error.cause, { _tag: "HttpResponseError", status })
        yield* pair.quiet
      }))
  }

  it.scoped("is followed with any status when the request is a GET", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.orDie(ScriptedServer.connect())
      yield* ScriptedServer.initialize(pair, { id: "s-1" })
      yield* Effect.flatMap(pair.expect("GET"), (exchange) => exchange.reply(302, { location: "/stream" }))
      const second = yield* pair.expect("GET")
      assert.strictEqual(second.what, "GET http://server.test/stream")
    }))

  it.scoped("never leads to another origin, and credentials never leave", () =>
    Effect.gen(function*() {
      for (
        const [location, why] of [
          ["http://evil.test/mcp", "is another origin"],
          ["//evil.test/mcp", "is another origin"],
          ["https://server.test/mcp", "is another origin"],
          ["http://server.test:8080/mcp", "is another origin"],
          ["http://user:pass@server.test/mcp", "contains credentials"],
          ["javascript:alert(1)", "is another origin"],
          ["http://[", "is not a URL"],
          ["", ""]
        ] as const
      ) {
        const { calling, pair } = yield* sending({
          headers: { authorization: "Bearer 1" },
          limits: { maxRedirects: 0 }
        })
        yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(307, { location }))
        const { message } = yield* calling
        assert.include(message, why, location)
        assert.notInclude(message, "user:pass")
        yield* pair.quiet
      }
    }))

  it.scoped("is refused when it names no target", () =>
    Effect.gen(function*() {
      for (const [status, why] of [[307, "it names no target"], [0, "the platform hides its target"]] as const) {
        const { calling, pair } = yield* sending()
        yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(status))
        assert.include((yield* calling).message, why)
      }
    }))

  it.scoped("is followed three times, or as often as the application allows", () =>
    Effect.gen(function*() {
      for (const maxRedirects of [undefined, 0, 5]) {
        const { calling, pair } = yield* sending({ limits: { maxRedirects } })
        const most = maxRedirects ?? 3
        for (let i = 0; i <= most; i++) {
          yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(307, { location: `/mcp/${i}` }))
        }
        assert.include((yield* calling).message, `it was redirected more than ${most} times`)
        yield* pair.idle
      }
    }))
})

/** Answers requests until the test ends: what `answers` has for a request, or a result. Gives what was requested. */
const serving = (
  http: ScriptedServer.ScriptedServer,
  answers: (what: string) => readonly [status: number, headers: Record<string, string>] | undefined
) =>
  Effect.gen(function*() {
    const requested: Array<string> = []
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(http.next, (exchange) => {
      requested.push(exchange.what)
      const answer = answers(exchange.what)
      return answer === undefined ? exchange.result({ resultType: "complete", content: [] }) : exchange.reply(...answer)
    })))
    return requested
  })

const to = (location: string, status = 308, headers = {}) => [status, { location, ...headers }] as const

describe("A permanent redirect", () => {
  const asked = `POST ${ScriptedServer.URL}`
  const there = "POST http://server.test/v2?key=1"

  /** Pings a server again and again, and gives what was requested. */
  const pinging = (
    times: number,
    answers: (what: string) => readonly [number, Record<string, string>] | undefined,
    options?: Parameters<typeof ScriptedServer.pair>[0]
  ) =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair(options)
      const requested = yield* serving(pair, answers)
      for (let i = 0; i < times; i++) yield* Effect.flatMap(pair.call("ping"), Fiber.join)
      return requested
    })

  it.scoped("is remembered: later requests go to its target at once", () =>
    Effect.gen(function*() {
      const headers: Array<string> = []
      const requested = yield* pinging(3, (what) => what === asked ? to("/v2?key=1") : undefined, {
        headers: Effect.sync(() => ({ authorization: `Bearer ${headers.push("")}` }))
      })
      assert.deepStrictEqual(requested, [asked, there, there, there])
    }))

  it.scoped("is remembered at 2026-07-28, too", () =>
    Effect.gen(function*() {
      const { client, http } = yield* ModernHttp.connect()
      const requested = yield* serving(http, (what) => what === asked ? to("/v2?key=1") : undefined)
      for (let i = 0; i < 3; i++) yield* client.callTool("t")
      assert.deepStrictEqual(requested, [asked, there, there, there])
    }))

  it.scoped("of a POST holds for the GET and the DELETE of the endpoint, with the session and the credentials", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      yield* Effect.scoped(Effect.gen(function*() {
        const pair = yield* Effect.orDie(ScriptedServer.connect({ http, headers: { authorization: "Bearer 1" } }))
        const opening = yield* pair.call("initialize")
        yield* Effect.flatMap(pair.expect("initialize"), (exchange) => exchange.reply(...to("/v2?key=1")))
        const first = yield* pair.expect("initialize")
        yield* first.result(ScriptedServer.initializeResult(), { "mcp-session-id": "s-1" })
        yield* Fiber.join(opening)
        yield* Effect.forkScoped(pair.conversation.notify("notifications/initialized"))
        const initialized = yield* pair.expect("notifications/initialized")
        assert.strictEqual(initialized.what, there)
        yield* initialized.accept
        const listening = yield* pair.expect("GET")
        assert.strictEqual(listening.what, "GET http://server.test/v2?key=1")
        yield* listening.reply(405)
      }))
      const last = http.deleted.map(({ headers, what }) => [what, headers["mcp-session-id"], headers.authorization])
      assert.deepStrictEqual(last, [["DELETE http://server.test/v2?key=1", "s-1", "Bearer 1"]])
    }))

  it.scoped("of a GET, with 301 or 308, holds for later GETs and not for a POST: it may lead to a page for browsers", () =>
    Effect.gen(function*() {
      for (const status of [301, 308]) {
        const pair = yield* Effect.orDie(ScriptedServer.connect())
        yield* ScriptedServer.initialize(pair, { id: "s-1" })
        yield* Effect.flatMap(pair.expect("GET"), (exchange) => exchange.reply(...to("/page", status)))
        const second = yield* pair.expect("GET")
        assert.strictEqual(second.what, "GET http://server.test/page")
        const stream = yield* second.events()
        yield* stream.push("id: 1\ndata:\n\n")
        yield* stream.end
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* pair.expect("GET")).what, "GET http://server.test/page")
        yield* pair.call("ping")
        assert.strictEqual((yield* pair.expect("ping")).what, asked)
      }
    }))

  it.scoped("is not remembered where a part of the way is temporary, or where the server forbids to keep its answer", () =>
    Effect.gen(function*() {
      const ways: ReadonlyArray<Record<string, readonly [number, Record<string, string>]>> = [
        { [asked]: to("/v2?key=1", 307) },
        { [asked]: to("/v2?key=1", 308, { "cache-control": "private, no-store" }) },
        { [asked]: to("/v2?key=1", 308, { "cache-control": "No-Cache" }) },
        { [asked]: to("/between", 307), "POST http://server.test/between": to("/v2?key=1") }
      ]
      for (const way of ways) {
        const once = [...Object.keys(way), there]
        assert.deepStrictEqual(yield* pinging(2, (what) => way[what]), [...once, ...once])
      }
    }))

  it.scoped("is remembered up to the first part of the way that is temporary", () =>
    Effect.gen(function*() {
      const between = "POST http://server.test/between"
      const way: Record<string, readonly [number, Record<string, string>]> = {
        [asked]: to("/between"),
        [between]: to("/v2?key=1", 307)
      }
      const requested = yield* pinging(2, (what) => way[what])
      assert.deepStrictEqual(requested, [asked, between, there, between, there])
    }))

  it.scoped("is forgotten when its target is gone: the server may have taken it back", () =>
    Effect.gen(function*() {
      for (const status of [404, 410]) {
        const answers: Array<readonly [number, Record<string, string>] | undefined> = [
          to("/v2?key=1"),
          undefined,
          [status, {}]
        ]
        const requested = yield* pinging(4, () => answers.shift())
        assert.deepStrictEqual(requested, [asked, there, there, asked, asked])
      }
    }))

  it.scoped("is replaced when its target has moved permanently, also back", () =>
    Effect.gen(function*() {
      const third = "POST http://server.test/v3"
      const moved = [to("/v2?key=1"), undefined, to("/v3"), undefined, undefined]
      assert.deepStrictEqual(yield* pinging(3, () => moved.shift()), [asked, there, there, third, third])
      const back = [to("/v2?key=1"), undefined, to("/mcp"), undefined, undefined]
      assert.deepStrictEqual(yield* pinging(3, () => back.shift()), [asked, there, there, asked, asked])
    }))

  it.scoped("never leads to another origin later", () =>
    Effect.gen(function*() {
      const requested = yield* pinging(3, (what) => {
        if (what === asked) return to("/v2?key=1")
        return to("http://evil.test/mcp")
      })
      assert.deepStrictEqual(requested, [asked, there, there, there])
    }))
})

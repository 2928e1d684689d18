import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import type { HttpRefused } from "@effect-mcp/client/HttpRefused"
import * as Remote from "@effect-mcp/client/Remote"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import { Context, Effect, Fiber, Ref } from "effect"
import * as Played from "./Played.js"

/** Asks once, and gives what is to become of it. */
const asking = (options?: Parameters<typeof Played.talk>[0]) =>
  Effect.gen(function*() {
    const talk = yield* Played.talk(options)
    const calling = yield* talk.call("ping")
    return { talk, calling: Effect.map(Fiber.join(calling), (one) => one as TransportError) }
  })

describe("The headers of a request", () => {
  it.scoped("are the protocol's and those that the application adds", () =>
    Effect.gen(function*() {
      const { talk } = yield* asking({ id: "s-1", headers: { Authorization: "Bearer 1", "X-Tenant": "t" } })
      const { headers } = yield* talk.expect("ping")
      assert.deepInclude(headers, { authorization: "Bearer 1", "x-tenant": "t", "mcp-session-id": "s-1" })
    }))

  it.scoped("may be made anew for each request", () =>
    Effect.gen(function*() {
      const count = yield* Ref.make(0)
      const headers = Effect.map(Ref.updateAndGet(count, (n) => n + 1), (n) => ({ authorization: `Bearer ${n}` }))
      const { talk } = yield* asking({ headers })
      // After `initialize` and `initialized`.
      assert.strictEqual((yield* talk.expect("ping")).headers.authorization, "Bearer 3")
    }))

  it.scoped("cannot be changed where they are the protocol's", () =>
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
        const { talk } = yield* asking({ headers })
        const asked = yield* talk.expect("ping")
        assert.deepInclude(asked.headers, {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-protocol-version": "2025-11-25",
          "x-mine": "yes"
        })
        assert.notProperty(asked.headers, "mcp-session-id")
        assert.notProperty(asked.headers, "last-event-id")
      }
    }))

  it.scoped("fail the one request that they cannot be made for", () =>
    Effect.gen(function*() {
      const broken = yield* Ref.make(false)
      const headers = Effect.flatMap(
        Ref.get(broken),
        (no) => no ? Effect.fail("no token" as const) : Effect.succeed({})
      )
      const talk = yield* Played.talk({ headers })
      yield* Ref.set(broken, true)
      const calling = yield* talk.call("ping")
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Write", cause: "no token" })
      yield* talk.quiet
    }))

  it.scoped("may need services of the application", () =>
    Effect.gen(function*() {
      class Token extends Context.Tag("Token")<Token, string>() {}
      const http = yield* Played.make()
      const connector = Remote.connector(Played.URL, {
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

describe("A request that may not come in", () => {
  it.scoped("fails alone, with what it takes to come in", () =>
    Effect.gen(function*() {
      for (const status of [401, 403]) {
        const { calling, talk } = yield* asking()
        yield* Effect.flatMap(talk.expect("ping"), (asked) =>
          asked.reply(status, { "www-authenticate": "Bearer scope=\"a\"", "content-type": "text/plain" }, "token abc"))
        const error = yield* calling
        assert.strictEqual(error.message, `POST ${Played.URL} was answered with ${status}`)
        const refused = error.cause as HttpRefused
        assert.deepInclude(refused, { _tag: "HttpRefused", status, body: "token abc" })
        assert.strictEqual(refused.headers["www-authenticate"], "Bearer scope=\"a\"")
      }
    }))

  it.scoped("is sent once more with what the application gives it, and no more than once", () =>
    Effect.gen(function*() {
      const asked: Array<HttpRefused> = []
      const { calling, talk } = yield* asking({
        headers: { authorization: "Bearer old", "x-mine": "yes" },
        authorize: (refused, request) =>
          Effect.sync(() => {
            asked.push(refused)
            assert.strictEqual(request.headers.authorization, "Bearer old")
            return { authorization: "Bearer new", "mcp-session-id": "mine" }
          })
      })
      const first = yield* talk.expect("ping")
      yield* first.reply(401, { "www-authenticate": "Bearer" })
      const second = yield* talk.expect("ping")
      assert.deepInclude(second.headers, { authorization: "Bearer new", "x-mine": "yes" })
      assert.notProperty(second.headers, "mcp-session-id")
      assert.deepStrictEqual(second.message, first.message)
      yield* second.reply(401)
      assert.deepInclude((yield* calling).cause, { _tag: "HttpRefused", status: 401 })
      assert.lengthOf(asked, 1)
      yield* talk.quiet
      yield* talk.idle
    }))

  it.scoped("comes in with it", () =>
    Effect.gen(function*() {
      const { calling, talk } = yield* asking({ authorize: () => Effect.succeed({ authorization: "Bearer new" }) })
      yield* Effect.flatMap(talk.expect("ping"), (asked) => asked.reply(403))
      yield* Effect.flatMap(talk.expect("ping"), (asked) => asked.result({ n: 1 }))
      assert.deepStrictEqual<unknown>(yield* calling, { n: 1 })
    }))

  it.scoped("fails with what the application fails with, also when it dies", () =>
    Effect.gen(function*() {
      const refusing = yield* asking({ authorize: () => Effect.fail("no consent") })
      yield* Effect.flatMap(refusing.talk.expect("ping"), (asked) => asked.reply(401))
      assert.deepInclude(yield* refusing.calling, { _tag: "TransportError", reason: "Write", cause: "no consent" })
      const dying = yield* asking({
        authorize: () => {
          throw new Error("oops")
        }
      })
      yield* Effect.flatMap(dying.talk.expect("ping"), (asked) => asked.reply(401))
      assert.deepInclude(yield* dying.calling, { _tag: "TransportError", message: "The request died" })
      yield* dying.talk.idle
    }))

  it.scoped("is let go of while the application makes up its mind", () =>
    Effect.gen(function*() {
      const talk = yield* Played.talk({ authorize: () => Effect.never })
      const calling = yield* talk.call("ping")
      yield* Effect.flatMap(talk.expect("ping"), (asked) => asked.reply(401))
      yield* Fiber.interrupt(calling)
      yield* Effect.flatMap(talk.expect("notifications/cancelled"), ({ accept }) => accept)
      yield* talk.idle
    }))
})

describe("A redirect", () => {
  for (const status of [307, 308]) {
    it.scoped(`is followed with the same method, body and headers when it is a ${status} to the same origin`, () =>
      Effect.gen(function*() {
        const { calling, talk } = yield* asking({ id: "s-1", headers: { authorization: "Bearer 1" } })
        const first = yield* talk.expect("ping")
        yield* first.reply(status, { location: "/other?a=b" })
        const second = yield* talk.expect("ping")
        assert.strictEqual(second.what, "POST http://server.test/other?a=b")
        assert.deepStrictEqual({ ...second.headers }, { ...first.headers })
        assert.deepStrictEqual(second.message, first.message)
        yield* second.result({ n: 1 })
        assert.deepStrictEqual<unknown>(yield* calling, { n: 1 })
      }))
  }

  for (const status of [300, 301, 302, 303]) {
    it.scoped(`is refused when a ${status} would make another request of it`, () =>
      Effect.gen(function*() {
        const { calling, talk } = yield* asking()
        yield* Effect.flatMap(talk.expect("ping"), (asked) => asked.reply(status, { location: "/other" }))
        const error = yield* calling
        assert.deepInclude(error, { _tag: "TransportError", reason: "Write" })
        assert.include(error.message, `with ${status} a POST would become another request`)
        assert.deepInclude(error.cause, { _tag: "HttpRefused", status })
        yield* talk.quiet
      }))
  }

  it.scoped("is followed for streams, whatever it is", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.orDie(Played.connect())
      yield* Played.shake(talk, { id: "s-1" })
      yield* Effect.flatMap(talk.expect("GET"), (asked) => asked.reply(302, { location: "/stream" }))
      const second = yield* talk.expect("GET")
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
          ["http://user:pass@server.test/mcp", "holds credentials"],
          ["javascript:alert(1)", "is another origin"],
          ["http://[", "is no URL"],
          ["", ""]
        ] as const
      ) {
        const { calling, talk } = yield* asking({ headers: { authorization: "Bearer 1" }, maxRedirects: 0 })
        yield* Effect.flatMap(talk.expect("ping"), (asked) => asked.reply(307, { location }))
        const { message } = yield* calling
        assert.include(message, why, location)
        assert.notInclude(message, "user:pass")
        yield* talk.quiet
      }
    }))

  it.scoped("is refused when it does not say where to", () =>
    Effect.gen(function*() {
      for (const status of [307, 0]) {
        const { calling, talk } = yield* asking()
        yield* Effect.flatMap(talk.expect("ping"), (asked) => asked.reply(status))
        assert.include((yield* calling).message, "not say where to")
      }
    }))

  it.scoped("is followed three times, and as often as the application wants", () =>
    Effect.gen(function*() {
      for (const maxRedirects of [undefined, 0, 5]) {
        const { calling, talk } = yield* asking({ maxRedirects })
        const most = maxRedirects ?? 3
        for (let i = 0; i <= most; i++) {
          yield* Effect.flatMap(talk.expect("ping"), (asked) => asked.reply(307, { location: `/mcp/${i}` }))
        }
        assert.include((yield* calling).message, `it was redirected more than ${most} times`)
        yield* talk.idle
      }
    }))
})

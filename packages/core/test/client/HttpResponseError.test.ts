import { assert, describe, it } from "@effect/vitest"
import { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import type { TransportError } from "@effect-mcp/core/LocalError"
import { Effect, Fiber, TestClock } from "effect"
import * as ScriptedServer from "./http/ScriptedServer.js"

const refused = (status: number, type: string, body: string) =>
  new HttpResponseError({ method: "POST", url: ScriptedServer.URL, status, headers: { "content-type": type }, body })

const said = `POST ${ScriptedServer.URL} was answered with`

describe("HttpResponseError", () => {
  it("quotes the message of a JSON-RPC error, and the beginning of other text on one line", () => {
    const error = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "Bad\nRequest" } })
    assert.strictEqual(refused(400, "application/json; charset=utf-8", error).message, `${said} 400: Bad Request`)
    assert.strictEqual(refused(400, "application/json", "{\"a\":1}").message, `${said} 400: {"a":1}`)
    assert.strictEqual(refused(400, "application/json", "no JSON").message, `${said} 400: no JSON`)
    assert.strictEqual(refused(500, "text/plain", "\u001b[31m a\r\n\u2028b ").message, `${said} 500: [31m a b`)
    assert.strictEqual(refused(500, "text/plain", "x".repeat(999)).message, `${said} 500: ${"x".repeat(200)}…`)
  })

  it("quotes no page, no bytes, and no answer with 401 or 403", () => {
    for (const type of ["text/html", "application/octet-stream", ""]) {
      assert.strictEqual(refused(500, type, "<p>").message, `${said} 500`)
    }
    assert.strictEqual(
      refused(401, "text/plain", "your token abc").message,
      `${said} 401: give the connector \`headers\` or \`authorize\``
    )
    assert.strictEqual(
      refused(403, "text/plain", "your token abc").message,
      `${said} 403: \`HttpResponseError.body\` has the answer`
    )
    assert.strictEqual(refused(403, "text/plain", "").message, `${said} 403`)
  })

  it.scoped("quotes why the server did not accept a token, without the token, and gives no advice that was followed", () =>
    Effect.gen(function*() {
      const said401 = (challenge: string, authorization?: string) =>
        Effect.gen(function*() {
          const pair = yield* ScriptedServer.pair(authorization === undefined ? {} : { headers: { authorization } })
          const calling = yield* pair.call("ping")
          const exchange = yield* pair.expect("ping")
          yield* exchange.reply(401, { "www-authenticate": challenge })
          const { message } = (yield* Fiber.join(calling)) as TransportError
          return message.slice(`${said} 401`.length)
        })
      const late = "Bearer error=\"invalid_token\", error_description=\"The access token has expired\""
      assert.strictEqual(yield* said401(late, "Bearer 123456789"), ": The access token has expired")
      assert.strictEqual(
        yield* said401("Bearer error_description=\"no: 123456789, \\\"a\\\"\"", "Bearer 123456789"),
        ": no: [redacted], \"a\""
      )
      assert.strictEqual(
        yield* said401(`Bearer error_description="${"x".repeat(999)}"`, "Bearer 123456789"),
        `: ${"x".repeat(200)}…`
      )
      assert.match(yield* said401("Bearer", "Bearer 123456789"), /does not accept the `Authorization` header/)
      assert.match(yield* said401("Bearer"), /give the connector/)
    }))

  it.scoped("says with 4xx that the server did not serve the request, and with 5xx that it may have", () =>
    Effect.gen(function*() {
      for (const [status, reason] of [[400, "Write"], [499, "Write"], [500, "Read"], [504, "Read"]] as const) {
        const pair = yield* ScriptedServer.pair()
        const calling = yield* pair.call("ping")
        yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.reply(status))
        const error = (yield* Fiber.join(calling)) as TransportError
        assert.deepInclude(error, { reason, message: `${said} ${status}` })
        assert.instanceOf(error.cause, HttpResponseError)
        assert.strictEqual(error.cause.message, error.message)
      }
    }))

  it.scoped("holds nothing that the client sent in confidence", () =>
    Effect.gen(function*() {
      const headers = { authorization: "Bearer 0123456789", "x-short": "a" }
      const pair = yield* ScriptedServer.pair({ id: "abcdefgh-1", headers })
      const calling = yield* pair.call("ping")
      yield* Effect.flatMap(pair.expect("ping"), (exchange) =>
        exchange.reply(
          500,
          { "content-type": "text/plain" },
          "Bearer 0123456789, 0123456789, abcdefgh-1, a, application/json"
        ))
      const error = (yield* Fiber.join(calling)) as TransportError
      const clean = "[redacted], [redacted], [redacted], a, application/json"
      assert.strictEqual(error.message, `${said} 500: ${clean}`)
      assert.deepInclude(error.cause, { body: clean })
    }))

  it.scoped("quotes what the headers of the protocol repeat from the body", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair({ headers: { "mcp-name": "get_weather", "mcp-param-city": "Amsterdam" } })
      const calling = yield* pair.call("ping")
      yield* Effect.flatMap(
        pair.expect("ping"),
        (exchange) => exchange.reply(400, { "content-type": "text/plain" }, "get_weather: no Amsterdam")
      )
      const error = (yield* Fiber.join(calling)) as TransportError
      assert.strictEqual(error.message, `${said} 400: get_weather: no Amsterdam`)
    }))

  it.scoped("is read for a second at most, and holds the first 64 KiB of the body", () =>
    Effect.gen(function*() {
      const pair = yield* ScriptedServer.pair()
      const first = yield* pair.call("ping")
      const slow = yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.open(500, {}))
      yield* slow.push("so far")
      yield* pair.quiet
      yield* TestClock.adjust("1 second")
      assert.deepInclude((yield* Fiber.join(first as Fiber.Fiber<any>)).cause, { body: "so far" })
      const second = yield* pair.call("ping")
      const long = yield* Effect.flatMap(pair.expect("ping"), (exchange) => exchange.open(500, {}))
      yield* long.push("x".repeat(70_000))
      assert.lengthOf((yield* Fiber.join(second as Fiber.Fiber<any>)).cause.body, 64 * 1024)
      yield* pair.idle
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Message from "@effect-mcp/core/Message"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import { Context, Deferred, Effect, Layer } from "effect"
import { answered, assertRefused, call, initialize, proper, withEndpoint } from "../http/TestExchange.js"
import { act, GreetLive, identified, logbook, Sender, serve } from "../Serving.js"

const ping = Message.request(1, "ping")

class Tokens extends Context.Tag("test/Tokens")<Tokens, ReadonlyMap<string, string>>() {}

describe("The authenticator", () => {
  const server = serve(
    act(
      Effect.flatMap(
        RequestContext.RequestContext,
        ({ principal }) => principal?.id === "ada" ? Effect.void : Effect.die("not ada")
      )
    ),
    identified(({ headers }) => Effect.succeed(headers.authorization!.slice("Bearer ".length)))
  )

  it.effect("gives handlers the principal", () =>
    withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const client = yield* http.open(undefined, {}, { authorization: "Bearer ada" })
        const exchange = yield* client.ask(call(1, "act"))
        assert.deepStrictEqual(exchange.json.result.content, [])
      })))

  it.effect("refuses before the body is read, with its own status and headers", () => {
    const refusal = new HttpRefusal.HttpRefusal({
      status: 401,
      headers: { "www-authenticate": "Bearer realm=\"mcp\"" },
      error: { code: -32001, message: "Not authenticated" }
    })
    return withEndpoint(serve(GreetLive, identified(() => Effect.fail(refusal))), (http) =>
      Effect.gen(function*() {
        for (const method of ["GET", "POST", "DELETE"]) {
          const exchange = yield* answered(http.send(method, proper, "{"))
          assertRefused(exchange, 401, -32001, /Not authenticated/)
          assert.strictEqual(exchange.sent["www-authenticate"], "Bearer realm=\"mcp\"")
          assert.isFalse(exchange.read)
        }
        // A preflight request has no credentials.
        assert.strictEqual(http.send("OPTIONS", proper).status, 204)
      }))
  })

  it.effect("may use the services that the server is made with", () => {
    let seen: unknown
    const look = act(Effect.map(RequestContext.RequestContext, ({ principal }) => seen = principal))
    const authenticator = Authenticator.make(Sender, {
      id: (id) => id,
      http: ({ headers }) => Effect.map(Tokens, (tokens) => tokens.get(headers.authorization!))
    })
    const tokens = Layer.succeed(Tokens, new Map([["token", "ada"]]))
    return withEndpoint(Layer.provide(serve(look, { authenticator }), tokens), (http) =>
      Effect.gen(function*() {
        const client = yield* http.open(undefined, {}, { authorization: "token" })
        yield* client.ask(call(1, "act"))
        assert.deepStrictEqual(seen, { id: "ada" })
      }))
  })

  it.effect("may take any time", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withEndpoint(serve(GreetLive, identified(() => Effect.as(Deferred.await(gate), "ada"))), (http) =>
        Effect.gen(function*() {
          const exchange = http.post(initialize())
          assert.isUndefined(exchange.status)
          yield* Deferred.succeed(gate, undefined)
          yield* answered(exchange)
          assert.strictEqual(exchange.status, 200)
        }))
    }))

  it.effect("refuses the request when it dies, and logs the cause", () => {
    const { layer, lines } = logbook()
    const dying = identified(() => {
      throw new Error("the password is hunter2")
    })
    return withEndpoint(serve(GreetLive, dying), (http) =>
      Effect.gen(function*() {
        const exchange = yield* http.ask(initialize())
        assertRefused(exchange, 500, -32603, /^Internal error$/)
        const logged = lines.map(({ level, message }) => [level, message])
        assert.deepStrictEqual(logged, [["Error", "The Authenticator died"]])
      })).pipe(Effect.provide(layer))
  })
})

describe("A document beside the endpoint", () => {
  const path = "/.well-known/oauth-protected-resource/mcp"
  const document = { resource: "https://mcp.example.com/mcp", authorization_servers: ["https://auth.example.com"] }

  it.effect("is for everyone to read, and nothing else is at its path", () =>
    withEndpoint(
      serve(GreetLive, identified(() => Effect.fail(HttpRefusal.unauthorized("Bearer")))),
      (http) =>
        Effect.gen(function*() {
          const get = http.send("GET", { host: "localhost" }, "", `${path}?a=b`)
          assert.deepStrictEqual([get.status, get.json, get.sent["content-type"]], [200, document, "application/json"])
          const head = http.send("HEAD", { host: "localhost" }, "", path)
          assert.deepStrictEqual([head.status, head.text, head.sent["content-type"]], [200, "", "application/json"])
          const preflight = http.send("OPTIONS", { host: "localhost", origin: "http://localhost" }, "", path)
          assert.deepStrictEqual([preflight.status, preflight.sent["access-control-allow-methods"]], [
            204,
            "GET, HEAD, OPTIONS"
          ])
          assertRefused(http.send("POST", proper, ping, path), 405, -32000, /GET, HEAD, OPTIONS/)
          assertRefused(http.send("GET", { host: "evil.com" }, "", path), 403, -32000, /Host/)
          assert.strictEqual((yield* http.ask(ping)).status, 401)
        }),
      { path: "/mcp", documents: { [path]: document } }
    ))

  it.effect("may be one of the authenticator, and the pages of every origin read it", () => {
    const released: Array<string> = []
    const authenticator = Authenticator.scoped(
      Sender,
      Effect.map(Effect.acquireRelease(Tokens, () => Effect.sync(() => released.push("released"))), (tokens) => ({
        id: (id: string | undefined) => id,
        http: ({ headers }: Authenticator.HttpRequest) => Effect.succeed(tokens.get(headers.authorization ?? "")),
        documents: { [path]: document, "/other": { a: 1 } }
      }))
    )
    const server = serve(GreetLive, { authenticator }).pipe(
      Layer.provide(Layer.succeed(Tokens, new Map([["token", "ada"]])))
    )
    return withEndpoint(
      server,
      (http) =>
        Effect.gen(function*() {
          const headers = { host: "localhost", origin: "https://app.example.com" }
          const get = http.send("GET", headers, "", path)
          assert.deepStrictEqual([get.status, get.json, get.sent["access-control-allow-origin"]], [200, document, "*"])
          assert.deepStrictEqual(http.send("GET", headers, "", "/other").json, { b: 2 })
          const preflight = http.send("OPTIONS", headers, "", path)
          assert.deepStrictEqual([preflight.status, preflight.sent["access-control-allow-origin"]], [204, "*"])
          assertRefused(http.send("GET", headers, "", "/mcp"), 403, -32000, /Origin/)
          assert.strictEqual((yield* http.ask(initialize(), { authorization: "token" })).status, 200)
          assert.lengthOf(released, 0)
        }),
      // A document of the endpoint comes before one of the authenticator.
      { path: "/mcp", documents: { "/other": { b: 2 } } }
    ).pipe(Effect.tap(() => Effect.sync(() => assert.lengthOf(released, 1))))
  })
})

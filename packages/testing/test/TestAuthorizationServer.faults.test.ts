import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import type { Options } from "@effect-mcp/testing/AuthorizationServerModel"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Effect, Exit, Fiber, Layer, Option, TestClock } from "effect"
import { authorization, ISSUER, login, RESOURCE, SECRET, send, VERIFIER, withServer } from "./Logins.js"

describe("A fault", () => {
  const faulty = (fault: NonNullable<Options["fault"]>) =>
    Layer.provideMerge(TestAuthorizationServer.layerHttpClient(), TestAuthorizationServer.layerWith({ fault }))

  const metadata = `${ISSUER}/.well-known/oauth-authorization-server`

  const get = Effect.flatMap(HttpClient.HttpClient, (client) => client.get(metadata))

  it.effect("gives another status, another response, or another issuer", () =>
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const statuses: Array<unknown> = []
      for (let n = 0; n < 2; n++) statuses.push((yield* client.get(metadata)).status)
      const { issuer } = (yield* (yield* client.get(metadata)).json) as { readonly issuer: string }
      assert.deepStrictEqual([...statuses, issuer], [503, 418, "https://evil.test"])
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.suspend(() => {
        let count = 0
        return faulty(() => {
          const faults = [{ status: 503 }, { response: new Response(null, { status: 418 }) }, {
            issuer: "https://evil.test"
          }]
          return Effect.sync(() => faults[count++])
        })
      }))
    ))

  it.effect("names another issuer in the response to a login", () =>
    withServer({ fault: () => ({ issuer: "https://evil.test" }) }, (server) =>
      Effect.gen(function*() {
        const response = yield* server.login(yield* authorization())
        assert.strictEqual(response.get("iss"), "https://evil.test")
        assert.isTrue(response.has("code"))
      })))

  it.effect("delays a response by Effect's clock", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(get)
      yield* TestClock.adjust("59 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
    }).pipe(Effect.scoped, Effect.provide(faulty(() => ({ delay: "1 minute" })))))

  it.effect("breaks the connection", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(get))._tag, "RequestError")
      const handle = yield* TestAuthorizationServer.webHandler
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => handle(new Request(metadata))))))
    }).pipe(Effect.scoped, Effect.provide(faulty(() => ({ isDropped: true })))))

  it.effect("gives a document that ends in the middle", () =>
    Effect.gen(function*() {
      const text = yield* (yield* get).text
      assert.throws(() => JSON.parse(text) as unknown)
    }).pipe(Effect.scoped, Effect.provide(faulty(() => ({ body: "malformed" })))))

  it.effect("gives a document that does not end, until the client stops reading", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.TestAuthorizationServer
      const response = yield* Effect.orDie(server.handle(new Request(metadata)))
      const reader = response.body!.getReader()
      let size = 0
      while (size < 1_000_000) size += (yield* Effect.promise(() => reader.read())).value!.length
      yield* Effect.promise(() => reader.cancel())
    }).pipe(Effect.provide(faulty(() => ({ body: "endless" })))))
})

describe("The network in memory", () => {
  it.effect("reaches the server and the hosts of a test, and no others", () =>
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const echo = (request: HttpClientRequest.HttpClientRequest) =>
        Effect.flatMap(client.execute(request), ({ text }) => text)
      const request = HttpClientRequest.post("https://mcp.test/echo")
      assert.strictEqual(yield* echo(HttpClientRequest.bodyText(request, "hello")), "POST hello")
      assert.strictEqual(yield* echo(HttpClientRequest.get("https://mcp.test/echo")), "GET ")
      assert.strictEqual((yield* Effect.flip(client.get("https://effect.test")))._tag, "RequestError")
      assert.strictEqual((yield* Effect.flip(client.get("https://other.test")))._tag, "RequestError")
      const answer = yield* client.get(`${ISSUER}/jwks`)
      assert.strictEqual(answer.status, 200)
      const { status } = yield* client.get(`${ISSUER}/nothing`)
      assert.strictEqual(status, 404)
    }).pipe(
      Effect.scoped,
      Effect.provide(
        TestAuthorizationServer.layerHttpClient({
          "https://mcp.test": (request) => request.text().then((text) => new Response(`${request.method} ${text}`)),
          "https://effect.test": () => Effect.fail("broken")
        }).pipe(Layer.provide(TestAuthorizationServer.layer))
      )
    ))

  it.effect("refuses a body that is too large", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        const { status } = yield* send(server, "/token", { method: "POST", body: "x".repeat(300 * 1024) })
        assert.strictEqual(status, 400)
        assert.lengthOf(yield* server.requests, 0)
      })))
})

describe("The memory of the server", () => {
  it.effect("keeps the newest 10,000 requests", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        for (let n = 0; n <= 10_000; n++) yield* Effect.orDie(server.handle(new Request(`${ISSUER}/${n}`)))
        const requests = yield* server.requests
        assert.lengthOf(requests, 10_000)
        assert.strictEqual(requests[0]!.url.pathname, "/1")
      })))

  it.effect("keeps the newest 10,000 tokens", () =>
    withServer({ accessTokens: "opaque" }, (server) =>
      Effect.gen(function*() {
        const [first, second] = [
          yield* server.issue({ resource: RESOURCE }),
          yield* server.issue({ resource: RESOURCE })
        ]
        for (let n = 0; n < 9_999; n++) yield* server.issue({ resource: RESOURCE })
        assert.isUndefined(yield* server.verify(first))
        assert.isDefined(yield* server.verify(second))
      })))
})

describe("The server in an application of the platform", () => {
  const answer = (path: string) =>
    Effect.gen(function*() {
      const handler = HttpApp.toWebHandlerRuntime(
        yield* Effect.runtime<TestAuthorizationServer.TestAuthorizationServer>()
      )
      const { body, status } = yield* Effect.promise(() =>
        handler(TestAuthorizationServer.httpApp)(new Request(`${ISSUER}${path}`))
      )
      const text = Effect.tryPromise(() => new Response(body).text())
      return { status, text }
    })

  it.effect("answers as elsewhere", () =>
    Effect.gen(function*() {
      const { status, text } = yield* answer("/jwks")
      assert.strictEqual(status, 200)
      assert.include(yield* text, "key-1")
      assert.strictEqual((yield* answer("/nothing")).status, 404)
    }).pipe(Effect.provide(TestAuthorizationServer.layer)))

  it.effect("breaks the connection after the head of a response", () =>
    Effect.gen(function*() {
      const { text } = yield* answer("/jwks")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(text)))
    }).pipe(Effect.provide(TestAuthorizationServer.layerWith({ fault: () => ({ isDropped: true }) }))))
})

describe("The secrets", () => {
  it.effect("are all that the server issued and received", () =>
    withServer({}, (server) =>
      Effect.gen(function*() {
        const { json } = yield* login(server)
        const secrets = yield* server.secrets
        for (const one of [SECRET, VERIFIER, "the-state", json["access_token"], json["refresh_token"]]) {
          assert.isTrue(secrets.has(String(one)))
        }
      })))
})

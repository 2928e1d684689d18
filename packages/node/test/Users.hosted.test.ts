/**
 * Users that an application has authenticated itself, and hands to the server by their type.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as PlatformServer from "@effect/platform/HttpServer"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import { Context, Effect, Layer, Schema, type Scope } from "effect"
import { createServer } from "node:http"
import { expectTypeOf } from "vitest"
import { ask, call, initialize, listening } from "./HttpFixture.js"
import { shells } from "./Shells.js"
import { features, options, User } from "./UsersServer.js"

/** Takes the users of the application alone. */
const handed: Layer.Layer<Dispatcher> = McpServer.layer({ name: "users", version: "1.0.0" }, features, {
  ...options,
  authenticator: Authenticator.make(User, { id: ({ name }) => name })
})

/** The application's own users: a cookie names them. */
const userOf = ({ cookie = "" }: Readonly<Record<string, unknown>>) => ({ name: String(cookie).replace("user=", "") })

class Authentication extends HttpApiMiddleware.Tag<Authentication>()("test/Authentication", { provides: User }) {}

const Api = HttpApi.make("api").add(
  HttpApiGroup.make("own").add(HttpApiEndpoint.get("me", "/me").addSuccess(Schema.String)).middleware(Authentication)
)

type Start = Effect.Effect<string, never, Dispatcher | Scope.Scope>

const hosts: Readonly<Record<string, Start>> = {
  "middleware of the platform's router": Effect.gen(function*() {
    const server = yield* PlatformHttpServer.make(createServer, { port: 0, host: "127.0.0.1" })
    const endpoint = yield* HttpEndpoint.make({ user: User })
    yield* server.serve(HttpRouter.empty.pipe(
      HttpRouter.get("/", HttpServerResponse.empty()),
      HttpRouter.mountApp("/api/mcp", endpoint),
      HttpRouter.provideServiceEffect(User, Effect.map(HttpServerRequest, ({ headers }) => userOf(headers)))
    ))
    // Without middleware that provides it, the application requires the user.
    const lacking = server.serve(HttpRouter.empty.pipe(HttpRouter.mountApp("/mcp", endpoint)))
    expectTypeOf(lacking).toEqualTypeOf<Effect.Effect<void, never, Scope.Scope | User>>()
    return server.address._tag === "TcpAddress" ? `http://127.0.0.1:${server.address.port}/api/mcp` : ""
  }).pipe(Effect.orDie),
  "the middleware of an HttpApi": Effect.gen(function*() {
    const context = yield* Layer.build(PlatformHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    // The middleware that the API has for its own endpoints gives the endpoint of the server its user, too.
    const mounted = HttpApiBuilder.Router.use((router) =>
      Effect.gen(function*() {
        const endpoint = yield* HttpEndpoint.make({ user: User })
        const authenticated = yield* Authentication
        yield* router.all("/mcp", Effect.provideServiceEffect(endpoint, User, authenticated))
      })
    )
    const live = HttpApiBuilder.serve().pipe(
      Layer.provide(mounted),
      Layer.provide(HttpApiBuilder.api(Api)),
      Layer.provide(
        HttpApiBuilder.group(Api, "own", (own) => own.handle("me", () => Effect.map(User, ({ name }) => name)))
      ),
      Layer.provide(Layer.succeed(
        Authentication,
        Effect.map(HttpServerRequest, ({ headers }) => userOf(headers))
      ))
    )
    yield* Effect.provide(Layer.build(live), context)
    return yield* Effect.provide(
      PlatformServer.addressFormattedWith((address) => Effect.succeed(`${address}/mcp`)),
      context
    )
  }).pipe(Effect.orDie),
  "an HTTP server of Node": Effect.gen(function*() {
    const { handler } = yield* NodeHandler.make({ user: User })
    const { origin } = yield* listening((request, response) =>
      handler(request, response, { context: Context.make(User, userOf(request.headers)) })
    )
    return `${origin}/mcp`
  }),
  "a framework that calls a web handler": Effect.gen(function*() {
    const { handler } = yield* WebHandler.make({ user: User })
    const { getRequestListener } = yield* Effect.promise(() => import("@hono/node-server"))
    const { origin } = yield* listening(getRequestListener(
      (request) => handler(request, Context.make(User, userOf({ cookie: request.headers.get("cookie") }))),
      { overrideGlobalObjects: false }
    ))
    return `${origin}/mcp`
  })
}

const as = (name: string) => ({ cookie: `user=${name}` })

for (const [name, start] of Object.entries(hosts)) {
  describe(`The user of ${name}`, () => {
    it.scopedLive("reaches the handlers by its type, and owns the sessions that it opens", () =>
      Effect.gen(function*() {
        const url = yield* start
        const opened = yield* ask(url, initialize(), as("ada"))
        assert.strictEqual(opened.status, 200, opened.text)
        const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) }
        const answer = yield* ask(url, call(1, "who"), { ...session, ...as("ada") })
        assert.strictEqual(answer.json.result.content[0].text, "ada home of ada badge of ada ada")
        assert.strictEqual((yield* ask(url, Message.request(2, "ping"), { ...session, ...as("bob") })).status, 404)
      }).pipe(Effect.provide(handed)))
  })
}

describe("What an authenticator sees of a request", () => {
  for (const [shell, start] of Object.entries(shells)) {
    it.scopedLive(`on ${shell}: the method, the path as the client sent it, and the connection`, () => {
      const seen: Array<Authenticator.HttpRequest> = []
      const server = McpServer.layer({ name: "users", version: "1.0.0" }, features, {
        ...options,
        authenticator: Authenticator.make(User, {
          id: ({ name }) => name,
          http: (request) => {
            seen.push(request)
            return Effect.fail(HttpRefusal.unauthorized("Bearer"))
          }
        })
      })
      return Effect.gen(function*() {
        const port = yield* start({ path: "/mcp" })
        const { headers, status } = yield* ask(`http://127.0.0.1:${port}/mcp?tenant=7`, "{", { dpop: "proof" })
        assert.deepStrictEqual([status, headers["www-authenticate"]], [401, "Bearer"])
        const [{ encrypted, headers: { dpop }, method, remoteAddress, url }] = seen as [Authenticator.HttpRequest]
        assert.deepStrictEqual([method, url, dpop], ["POST", "/mcp?tenant=7", "proof"])
        const known = shell !== "a web handler"
        assert.strictEqual(encrypted, known ? false : undefined)
        assert.match(String(remoteAddress), known ? /127\.0\.0\.1$/ : /^undefined$/)
      }).pipe(Effect.provide(server))
    })
  }

  for (const [shell, start] of Object.entries(shells)) {
    it.scopedLive(`on ${shell}: each header as it was sent, whatever it holds`, () => {
      const seen: Array<string | undefined> = []
      const server = McpServer.layer({ name: "users", version: "1.0.0" }, features, {
        ...options,
        authenticator: Authenticator.make(User, {
          id: ({ name }) => name,
          http: ({ headers: { authorization } }) => {
            seen.push(authorization)
            return Effect.fail(HttpRefusal.unauthorized("Bearer"))
          }
        })
      })
      return Effect.gen(function*() {
        const port = yield* start({ path: "/mcp" })
        const hostile = [
          "Bearer",
          "Bearer a, Bearer b",
          "__proto__",
          "constructor",
          "%00%0d%0aset-cookie: a=b",
          "x".repeat(8000)
        ]
        for (const authorization of hostile) {
          const { headers, status, text } = yield* ask(`http://127.0.0.1:${port}/mcp`, initialize(), { authorization })
          assert.strictEqual(status, 401)
          assert.notProperty(headers, "set-cookie")
          assert.isFalse(authorization.length > 10 && text.includes(authorization))
        }
        assert.deepStrictEqual(seen, hostile)
      }).pipe(Effect.provide(server))
    })
  }

  it.scopedLive("mounted below a path: the whole path, which the router has cut off", () => {
    const seen: Array<string> = []
    const server = McpServer.layer({ name: "users", version: "1.0.0" }, features, {
      ...options,
      authenticator: Authenticator.make(User, {
        id: ({ name }) => name,
        http: ({ url }) => {
          seen.push(url)
          return Effect.fail(HttpRefusal.unauthorized("Bearer"))
        }
      })
    })
    return Effect.gen(function*() {
      const own = yield* Effect.orDie(PlatformHttpServer.make(createServer, { port: 0, host: "127.0.0.1" }))
      yield* own.serve(HttpRouter.empty.pipe(HttpRouter.mountApp("/api", yield* HttpEndpoint.make())))
      const port = own.address._tag === "TcpAddress" ? own.address.port : 0
      yield* ask(`http://127.0.0.1:${port}/api/mcp?a=b`, "{}")
      assert.deepStrictEqual(seen, ["/api/mcp?a=b"])
    }).pipe(Effect.provide(server))
  })
})

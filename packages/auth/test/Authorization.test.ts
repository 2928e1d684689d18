import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import * as Net from "./Net.js"
import * as World from "./World.js"

const tokensOf = (world: World.World) =>
  world.sent("POST /mcp").map(({ headers }) => headers["authorization"]?.split("-")[0])

describe("A client that meets a server with authorization", () => {
  it.effect("MUST log in after 401, and send the token with every request", () =>
    Effect.gen(function*() {
      const world = World.make()
      yield* World.run(world, (client) => Effect.zipRight(client.ping(), client.callTool("any")))
      const [first, ...others] = tokensOf(world)
      assert.isUndefined(first)
      assert.isAtLeast(others.length, 4)
      for (const token of others) assert.strictEqual(token, "Bearer access")
      assert.lengthOf(world.opened, 1)
    }))

  it.effect("MUST NOT send a token in a query", () =>
    Effect.gen(function*() {
      const world = World.make({ expiresIn: 100 })
      yield* World.run(world, (client) => Effect.zipRight(TestClock.adjust("2 minutes"), client.ping()))
      const tokens = [...world.server.secrets()].filter((one) =>
        one.startsWith("access-") || one.startsWith("refresh-")
      )
      assert.lengthOf(tokens, 4)
      for (const url of world.net.log()) {
        for (const token of tokens) assert.notInclude(url, token)
      }
    }))

  it.effect("MUST name the resource in every authorization and token request", () =>
    Effect.gen(function*() {
      const world = World.make({ expiresIn: 100 })
      yield* World.run(world, (client) => Effect.zipRight(TestClock.adjust("2 minutes"), client.ping()))
      assert.strictEqual(world.opened[0]!.searchParams.get("resource"), World.SERVER)
      const requests = world.sent("POST /token")
      assert.deepStrictEqual(requests.map(({ form }) => form.get("grant_type")), [
        "authorization_code",
        "refresh_token"
      ])
      for (const { form } of requests) assert.strictEqual(form.get("resource"), World.SERVER)
    }))

  it.effect("SHOULD name its revision when it looks for metadata", () =>
    Effect.gen(function*() {
      const world = World.make()
      yield* World.run(world, () => Effect.void)
      const asked = world.net.received.filter(({ url }) => url.pathname.startsWith("/.well-known/"))
      assert.lengthOf(asked, 2)
      for (const { headers } of asked) assert.strictEqual(headers["mcp-protocol-version"], "2025-11-25")
    }))

  it.effect("logs in once for all requests that meet a 401, and sends each of them once more", () =>
    Effect.gen(function*() {
      const world = World.make()
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          world.server.revoke()
          world.server.revokeRefresh()
          const before = world.sent("POST /mcp").length
          yield* Effect.all(Array.from({ length: 50 }, () => client.ping()), { concurrency: "unbounded" })
          assert.lengthOf(world.opened, 2)
          assert.lengthOf(world.sent("POST /mcp").slice(before), 100)
        }))
    }))

  it.effect("refreshes once for a thousand requests that meet one expired token", () =>
    Effect.gen(function*() {
      const world = World.make()
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          world.server.revoke()
          yield* Effect.all(Array.from({ length: 1000 }, () => client.ping()), { concurrency: "unbounded" })
          assert.deepStrictEqual(world.sent("POST /token").map(({ form }) => form.get("grant_type")), [
            "authorization_code",
            "refresh_token"
          ])
          assert.lengthOf(world.opened, 1)
        }))
    }), 180_000)

  it.effect("interrupts the login when the last request that waits for it is interrupted, and not before", () =>
    Effect.gen(function*() {
      const opened = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      let logins = 0
      const world = World.make({
        browse: (_, consent) =>
          logins++ === 0
            ? consent
            : Deferred.succeed(opened, undefined).pipe(
              Effect.zipRight(Effect.never),
              Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
            )
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          world.server.revoke()
          world.server.revokeRefresh()
          const first = yield* Effect.fork(client.ping())
          const second = yield* Effect.fork(client.ping())
          yield* Deferred.await(opened)
          // The second request joins the login.
          yield* Effect.yieldNow({ priority: 10 })
          yield* Fiber.interrupt(first)
          yield* Effect.yieldNow({ priority: 10 })
          assert.isFalse(yield* Deferred.isDone(ended))
          yield* Fiber.interrupt(second)
          yield* Deferred.await(ended)
        }))
    }))

  it.effect("interrupts the login when its layer closes", () =>
    Effect.gen(function*() {
      const opened = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const world = World.make({
        browse: () =>
          Deferred.succeed(opened, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
          )
      })
      const running = yield* Effect.fork(Effect.scoped(
        Effect.flatMap(Authorization.Authorization, ({ login }) => login(World.SERVER)).pipe(
          Effect.provide(world.layer)
        )
      ))
      yield* Deferred.await(opened)
      yield* Fiber.interrupt(running)
      yield* Deferred.await(ended)
    }))

  it.effect("does not ask the user again within 30 seconds after a login that failed", () =>
    Effect.gen(function*() {
      const world = World.make({
        redirect: (response) => {
          response.searchParams.delete("code")
          response.searchParams.set("error", "access_denied")
        }
      })
      yield* Effect.gen(function*() {
        const connect = Effect.map(Effect.flip(Effect.scoped(world.connect)), World.causeOf)
        assert.deepInclude(yield* connect, { reason: "Denied", error: "access_denied" })
        assert.deepInclude(yield* connect, { reason: "Denied" })
        assert.lengthOf(world.opened, 1)
        yield* TestClock.adjust("31 seconds")
        yield* connect
        assert.lengthOf(world.opened, 2)
        // The application asks.
        const { login } = yield* Authorization.Authorization
        yield* Effect.flip(login(World.SERVER))
        assert.lengthOf(world.opened, 3)
      }).pipe(Effect.provide(world.layer))
    }))

  for (
    const [reason, options] of [
      ["UntrustedResponse", { redirect: (response) => response.searchParams.set("iss", "https://other.test") }],
      ["TokenRefused", { instead: ({ url }) => url.pathname === "/token" ? Net.json({}, 400) : undefined }],
      ["Unreachable", { instead: ({ url }) => url.pathname === "/token" ? Net.json({}, 503) : undefined }]
    ] satisfies ReadonlyArray<readonly [string, World.Options]>
  ) {
    it.effect(`does not ask the user again at once when a login fails with ${reason} after the user has consented`, () =>
      Effect.gen(function*() {
        const world = World.make(options)
        yield* Effect.gen(function*() {
          const connect = Effect.map(Effect.flip(Effect.scoped(world.connect)), World.causeOf)
          for (let call = 0; call < 3; call++) assert.strictEqual((yield* connect).reason, reason)
          assert.lengthOf(world.opened, 1)
        }).pipe(Effect.provide(world.layer))
      }))
  }

  it.effect("asks the user as soon as its client can be registered", () =>
    Effect.gen(function*() {
      let isAway = true
      const world = World.make({
        instead: ({ url }) => isAway && url.pathname === "/register" ? Net.json({}, 503) : undefined
      })
      yield* Effect.gen(function*() {
        // As often as the user may be asked, and more.
        for (let time = 0; time < 10; time++) {
          const error = yield* Effect.flip(Effect.scoped(world.connect))
          assert.deepInclude(["Unreachable", "UnknownClient"], World.causeOf(error).reason)
        }
        isAway = false
        yield* Effect.scoped(world.connect)
        assert.lengthOf(world.opened, 1)
      }).pipe(Effect.provide(world.layer))
    }))

  it.effect("leaves a request refused that another authorization would not change", () =>
    Effect.gen(function*() {
      const world = World.make({
        tools: { admin: "x" },
        insteadOfMcp: ({ text }) => text.includes("closed") ? new Response("no", { status: 403 }) : undefined
      })
      const error = yield* World.run(world, (client) => Effect.flip(client.callTool("closed")))
      assert.deepInclude((error as { cause: object }).cause, { _tag: "HttpResponseError", status: 403 })
      assert.lengthOf(world.opened, 1)
    }))

  it.effect("gives up when the server refuses every token", () =>
    Effect.gen(function*() {
      const world = World.make({
        insteadOfMcp: ({ url }) =>
          url.pathname === "/mcp"
            ? new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } })
            : undefined
      })
      const { message, reason } = yield* World.refused(world)
      assert.strictEqual(reason, "TokenRefused")
      assert.include(message, World.SERVER)
      assert.include(message, World.ISSUER)
      assert.lengthOf(world.opened, 1)
      assert.lengthOf(world.sent("POST /mcp"), 2)
    }))

  it.effect("says why the server refuses every token, in the server's words, without the token", () =>
    Effect.gen(function*() {
      const world = World.make({
        insteadOfMcp: ({ headers, url }) => {
          const challenge = `Bearer error_description="Not for ${
            headers.authorization?.slice(7)
          }: it has no claim \\"name\\""`
          return url.pathname === "/mcp"
            ? new Response(null, { status: 401, headers: { "www-authenticate": challenge } })
            : undefined
        }
      })
      const { message } = yield* World.refused(world)
      assert.include(message, `Not for [redacted]: it has no claim "name"`)
    }))
})

describe("login and logout", () => {
  it.effect("get the tokens before the first request, and forget them", () =>
    Effect.gen(function*() {
      const world = World.make()
      yield* Effect.gen(function*() {
        const { login, logout } = yield* Authorization.Authorization
        yield* login(World.SERVER)
        yield* login(World.SERVER)
        assert.lengthOf(world.opened, 1)
        yield* Effect.scoped(world.connect)
        for (const token of tokensOf(world)) assert.strictEqual(token, "Bearer access")
        yield* logout(World.SERVER)
        yield* Effect.scoped(world.connect)
        assert.lengthOf(world.opened, 2)
        assert.lengthOf(world.sent("POST /register"), 2)
      }).pipe(Effect.provide(world.layer))
    }))

  it.effect("fail and end what waits when the user logs out during a login, and leave no tokens", () =>
    Effect.gen(function*() {
      const opened = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const world = World.make({
        store: Layer.succeed(CredentialStore.CredentialStore, store),
        browse: () =>
          Deferred.succeed(opened, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
          )
      })
      yield* Effect.gen(function*() {
        const { login, logout } = yield* Authorization.Authorization
        const waiting = yield* Effect.fork(Effect.flip(login(World.SERVER)))
        const request = yield* Effect.fork(Effect.flip(Effect.scoped(world.connect)))
        yield* Deferred.await(opened)
        yield* Effect.yieldNow({ priority: 10 })
        yield* logout(World.SERVER)
        assert.isTrue(yield* Deferred.isDone(ended))
        assert.include((yield* Fiber.join(waiting)).message, "ended by a logout")
        assert.strictEqual(World.causeOf(yield* Fiber.join(request)).reason, "Denied")
      }).pipe(Effect.provide(world.layer))
      assert.isUndefined(yield* store.bindings.get(World.SERVER))
    }))

  it.effect("revoke the tokens where the authorization server supports it, as the client that got them", () =>
    Effect.gen(function*() {
      const world = World.make({
        metadata: {
          revocation_endpoint: `${World.ISSUER}/revoke`,
          token_endpoint_auth_methods_supported: ["client_secret_basic"]
        },
        instead: ({ url }) => url.pathname === "/revoke" ? new Response(null) : undefined
      })
      yield* Effect.gen(function*() {
        const { login, logout } = yield* Authorization.Authorization
        yield* login(World.SERVER)
        yield* logout(World.SERVER)
        // There is nothing left to revoke.
        yield* logout(World.SERVER)
      }).pipe(Effect.provide(world.layer))
      const sent = world.sent("POST /revoke")
      assert.deepStrictEqual(sent.map(({ form }) => form.get("token_type_hint")), ["refresh_token", "access_token"])
      for (const { form, headers } of sent) {
        assert.isTrue(world.server.secrets().has(form.get("token")!))
        assert.match(headers["authorization"]!, /^Basic /)
      }
    }))

  it.effect("forget tokens that cannot be revoked", () =>
    Effect.gen(function*() {
      for (const endpoint of [`${World.ISSUER}/revoke`, "http://evil.test/revoke", "https://10.0.0.1/revoke"]) {
        const world = World.make({
          metadata: { revocation_endpoint: endpoint },
          instead: ({ url }) => url.pathname === "/revoke" ? new Response("no", { status: 503 }) : undefined
        })
        yield* Effect.gen(function*() {
          const { headers, login, logout } = yield* Authorization.Authorization
          yield* login(World.SERVER)
          yield* logout(World.SERVER)
          assert.deepStrictEqual(yield* headers(World.SERVER, HttpClientRequest.get(World.SERVER)), {})
        }).pipe(Effect.provide(world.layer))
        assert.isTrue(
          world.net.received.every(({ url }) => url.hostname.endsWith(".test") && url.protocol === "https:")
        )
      }
    }))

  it.effect("die when their layer has closed, with a message that says what to do", () =>
    Effect.gen(function*() {
      const world = World.make()
      const closed = yield* Effect.provide(Authorization.Authorization, world.layer)
      for (const name of ["login", "logout"] as const) {
        const exit = yield* Effect.exit(closed[name](World.SERVER))
        const { message } = Exit.isFailure(exit) ? Cause.squash(exit.cause) as Error : new Error("It has succeeded")
        assert.strictEqual(
          message,
          `The layer of \`Authorization\` has closed: run \`${name}\` before its scope ends`
        )
      }
      assert.deepStrictEqual(world.net.log(), [])
    }))

  it.effect("leave requests that fail when their layer closes, or has closed", () =>
    Effect.gen(function*() {
      const opened = yield* Deferred.make<void>()
      const world = World.make({
        browse: () => Effect.zipRight(Deferred.succeed(opened, undefined), Effect.never)
      })
      const scope = yield* Scope.make()
      const connect = Effect.flip(Effect.scoped(
        Effect.provide(world.connect, yield* Layer.buildWithScope(world.layer, scope))
      ))
      const waiting = yield* Effect.fork(connect)
      yield* Deferred.await(opened)
      yield* Scope.close(scope, Exit.void)
      for (const error of [yield* Fiber.join(waiting), yield* connect]) {
        const { message, reason } = World.causeOf(error)
        assert.strictEqual(reason, "Closed")
        assert.include(message, `${World.SERVER}: the layer of \`Authorization\` has closed`)
      }
    }))

  it.effect("find stored tokens again", () =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const world = World.make({ store: Layer.succeed(CredentialStore.CredentialStore, store) })
      for (let run = 0; run < 2; run++) yield* World.run(world, (client) => client.ping())
      assert.lengthOf(world.opened, 1)
      assert.lengthOf(tokensOf(world).filter((token) => token === undefined), 1)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import { Deferred, Effect, Encoding, Fiber, TestClock } from "effect"
import * as World from "./World.js"

const failed = (options: World.Options) =>
  Effect.gen(function*() {
    const world = World.make(options)
    const error = yield* World.refused(world)
    return { error, world }
  })

/** Changes the response of the authorization server. */
const redirect = (change: (parameters: URLSearchParams) => void): World.Options => ({
  redirect: ({ searchParams }) => change(searchParams)
})

describe("The authorization request", () => {
  it.effect("MUST have a challenge of PKCE with S256, and the token request its verifier", () =>
    Effect.gen(function*() {
      const world = World.make()
      yield* World.run(world, () => Effect.void)
      const { searchParams } = world.opened[0]!
      const verifier = world.sent("POST /token")[0]!.form.get("code_verifier")!
      assert.match(verifier, /^[\w-]{43}$/)
      assert.strictEqual(searchParams.get("code_challenge_method"), "S256")
      const digest = yield* Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)))
      assert.strictEqual(searchParams.get("code_challenge"), Encoding.encodeBase64Url(new Uint8Array(digest)))
      assert.strictEqual(searchParams.get("response_type"), "code")
    }))

  for (const methods of [undefined, [], ["plain"]]) {
    it.effect(`MUST NOT be made when the server's methods of PKCE are ${JSON.stringify(methods)}`, () =>
      Effect.gen(function*() {
        const { error, world } = yield* failed({ metadata: { code_challenge_methods_supported: methods } })
        assert.strictEqual(error.reason, "UnsupportedServer")
        assert.lengthOf(world.opened, 0)
        assert.lengthOf(world.sent("POST /register"), 0)
      }))
  }

  it.effect("SHOULD have a state that no other login has", () =>
    Effect.gen(function*() {
      const world = World.make({ refreshTokens: "none" })
      yield* World.run(world, (client) => Effect.zipRight(Effect.sync(world.server.revoke), client.ping()))
      const states = world.opened.map(({ searchParams }) => searchParams.get("state")!)
      assert.lengthOf(new Set(states), 2)
      for (const state of states) assert.match(state, /^[\w-]{43}$/)
    }))

  it.effect("MUST have a challenge of PKCE that no other login has", () =>
    Effect.gen(function*() {
      const world = World.make({ refreshTokens: "none" })
      yield* World.run(world, (client) => Effect.zipRight(Effect.sync(world.server.revoke), client.ping()))
      assert.lengthOf(new Set(world.opened.map(({ searchParams }) => searchParams.get("code_challenge"))), 2)
      assert.lengthOf(new Set(world.sent("POST /token").map(({ form }) => form.get("code_verifier"))), 2)
    }))

  it.effect("keeps the parameters of the endpoint, and its own win over those of the application", () =>
    Effect.gen(function*() {
      const world = World.make({
        metadata: { authorization_endpoint: `${World.ISSUER}/authorize?tenant=1&state=fixed` },
        identity: { parameters: { prompt: "consent", code_challenge_method: "plain" } }
      })
      yield* World.run(world, () => Effect.void)
      const { searchParams } = world.opened[0]!
      assert.strictEqual(searchParams.get("tenant"), "1")
      assert.strictEqual(searchParams.get("prompt"), "consent")
      assert.lengthOf(searchParams.getAll("state"), 1)
      assert.deepStrictEqual(searchParams.getAll("code_challenge_method"), ["S256"])
    }))
})

describe("The authorization response", () => {
  const issuers: ReadonlyArray<readonly [what: string, value: string]> = [
    ["another issuer", "https://evil.test"],
    ["a slash at its end", `${World.ISSUER}/`],
    ["another case", "https://AUTH.test"],
    ["the default port", `${World.ISSUER}:443`],
    ["another encoding", "https://auth%2Etest"],
    ["nothing", ""]
  ]
  for (const [what, value] of issuers) {
    for (const advertised of [true, false]) {
      it.effect(
        `MUST be rejected when its iss is ${what} and the server ${advertised ? "sends" : "does not announce"} it`,
        () =>
          Effect.gen(function*() {
            const { error, world } = yield* failed({
              ...redirect((parameters) => parameters.set("iss", value)),
              metadata: { authorization_response_iss_parameter_supported: advertised }
            })
            assert.strictEqual(error.reason, "UntrustedResponse")
            assert.lengthOf(world.sent("POST /token"), 0)
          })
      )
    }
  }

  it.effect("MUST be rejected without iss when the server announces it, and used when it does not", () =>
    Effect.gen(function*() {
      const { error } = yield* failed(redirect((parameters) => parameters.delete("iss")))
      assert.strictEqual(error.reason, "UntrustedResponse")
      const world = World.make({ metadata: { authorization_response_iss_parameter_supported: false } })
      yield* World.run(world, () => Effect.void)
      assert.isFalse(world.opened.length === 0)
    }))

  it.effect("MUST be compared with the issuer that was recorded before the browser was opened", () =>
    Effect.gen(function*() {
      const world: World.World = World.make({
        // While the user logs in, the server begins to name an authorization server of an attacker.
        browse: (_, consent) =>
          Effect.zipRight(
            Effect.sync(() => {
              World.addServer(world, "https://evil.test")
              world.authorizationServers[0] = "https://evil.test"
            }),
            Effect.tap(consent, (response) => Effect.sync(() => response.set("iss", "https://evil.test")))
          )
      })
      assert.strictEqual((yield* World.refused(world)).reason, "UntrustedResponse")
      assert.isFalse(world.net.received.some(({ url }) => url.origin === "https://evil.test"))
      assert.lengthOf(world.sent("POST /token"), 0)
    }))

  it.effect("is rejected when iss, state or code is there twice", () =>
    Effect.gen(function*() {
      for (const name of ["iss", "state", "code"]) {
        const { error } = yield* failed(redirect((parameters) => parameters.append(name, parameters.get(name)!)))
        assert.strictEqual(error.reason, "UntrustedResponse")
      }
    }))

  it.effect("MUST NOT show the error of a response from another issuer", () =>
    Effect.gen(function*() {
      const { error } = yield* failed(redirect((parameters) => {
        parameters.set("iss", "https://evil.test")
        parameters.set("error", "call-0900-EVIL")
        parameters.set("error_description", "call 0900 EVIL")
      }))
      assert.strictEqual(error.reason, "UntrustedResponse")
      assert.isUndefined(error.error)
      assert.notInclude(JSON.stringify(error) + error.message, "EVIL")
    }))

  it.effect("SHOULD be discarded with a forged or missing state", () =>
    Effect.gen(function*() {
      for (const state of ["forged", "", undefined]) {
        const { error, world } = yield* failed(
          redirect((parameters) => state === undefined ? parameters.delete("state") : parameters.set("state", state))
        )
        assert.strictEqual(error.reason, "UntrustedResponse")
        assert.lengthOf(world.sent("POST /token"), 0)
      }
    }))

  it.effect("SHOULD NOT bring a token itself: one in its address is not used", () =>
    Effect.gen(function*() {
      const { world } = yield* failed(redirect((parameters) => {
        parameters.delete("code")
        parameters.set("access_token", "injected")
        parameters.set("token_type", "Bearer")
      }))
      assert.lengthOf(world.sent("POST /token"), 0)
      assert.deepStrictEqual(
        world.sent("POST /mcp").filter(({ headers }) => headers["authorization"] !== undefined),
        []
      )
    }))

  it.effect("cannot be that of an earlier login", () =>
    Effect.gen(function*() {
      let first: URLSearchParams | undefined
      const world = World.make({
        refreshTokens: "none",
        browse: (_, consent) =>
          first === undefined
            ? Effect.tap(consent, (response) => Effect.sync(() => first = response))
            : Effect.succeed(first)
      })
      const error = yield* World.run(world, (client) =>
        Effect.zipRight(Effect.sync(world.server.revoke), Effect.flip(client.ping())))
      assert.strictEqual(World.causeOf(error).reason, "UntrustedResponse")
      assert.lengthOf(world.sent("POST /token"), 1)
    }))

  it.effect("with a code that was issued for another login brings no token", () =>
    Effect.gen(function*() {
      const world: World.World = World.make({
        // The attacker has begun a login of its own, and gives its code to this user.
        browse: (url, consent) => {
          const attack = new URL(url)
          attack.searchParams.set("code_challenge", "x".repeat(43))
          return Effect.zipWith(consent, world.server.login(attack), (own, stolen) => {
            own.set("code", stolen.get("code")!)
            return own
          })
        }
      })
      assert.strictEqual((yield* World.refused(world)).reason, "TokenRefused")
    }))

  it.effect("that denies access fails the request with the code of the error, and repeats no control characters", () =>
    Effect.gen(function*() {
      const { error } = yield* failed(redirect((parameters) => {
        parameters.delete("code")
        parameters.set("error", "access_denied")
        parameters.set("error_description", `The user\n\u001b[31m said no${"!".repeat(5000)}`)
      }))
      assert.deepInclude(error, { reason: "Denied", error: "access_denied" })
      assert.notMatch(error.message, /\p{Cc}/u)
      assert.isBelow(error.message.length, 400)
    }))
})

describe("A login", () => {
  it.effect("ends after 10 minutes, or after `loginTimeout`", () =>
    Effect.gen(function*() {
      for (const [identity, limit] of [[{}, "10 minutes"], [{ loginTimeout: "1 minute" }, "1 minute"]] as const) {
        const opened = yield* Deferred.make<void>()
        const world = World.make({
          identity,
          browse: () => Effect.zipRight(Deferred.succeed(opened, undefined), Effect.never)
        })
        const calling = yield* Effect.fork(World.login(world).pipe(Effect.flip))
        yield* Deferred.await(opened)
        yield* TestClock.adjust(limit)
        assert.strictEqual((yield* Fiber.join(calling)).reason, "Browser")
      }
    }))

  it.effect("MUST have a redirect URI that is https, or http on this machine", () =>
    Effect.gen(function*() {
      for (
        const redirectUri of ["http://app.test/callback", "javascript:alert(1)", "app://callback", "https://a.test/#x"]
      ) {
        const world = World.make({ redirectUri })
        const error = yield* Effect.flip(World.login(world))
        assert.strictEqual(error.reason, "UnsafeUrl")
        assert.lengthOf(world.sent("POST /register"), 0)
      }
    }))

  it.effect("runs alone: a second server that needs one waits", () =>
    Effect.gen(function*() {
      let open = 0
      let most = 0
      const world = World.make({
        browse: (_, consent) =>
          Effect.suspend(() => {
            most = Math.max(most, ++open)
            return Effect.zipRight(Effect.yieldNow(), Effect.ensuring(consent, Effect.sync(() => open--)))
          })
      })
      world.net.add("https://second.test", ({ url }) =>
        url.pathname === "/.well-known/oauth-protected-resource/mcp"
          ? new Response(JSON.stringify({ resource: "https://second.test/mcp", authorization_servers: [World.ISSUER] }))
          : new Response(null, { status: 404 }))
      yield* Effect.flatMap(Authorization.Authorization, ({ login }) =>
        Effect.all([login(World.SERVER), login("https://second.test/mcp")], { concurrency: "unbounded" })).pipe(
          Effect.provide(world.layer)
        )
      assert.strictEqual(most, 1)
      assert.lengthOf(world.opened, 2)
      // Both servers use one registration at their authorization server.
      assert.lengthOf(world.sent("POST /register"), 1)
    }))
})

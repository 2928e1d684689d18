import { assert, describe, it } from "@effect/vitest"
import * as ClientIdentity from "@effect-mcp/auth/ClientIdentity"
import { Effect, Redacted, TestClock } from "effect"
import * as World from "./World.js"

const DOCUMENT = "https://app.test/client.json"

const secret = Redacted.make("a-secret-of-the-client")

const preRegistered = { issuer: World.ISSUER, clientId: "known", clientSecret: secret }

const clientIdOf = (world: World.World) => world.opened[0]?.searchParams.get("client_id")

const connected = (options: World.Options) =>
  Effect.gen(function*() {
    const world = World.make(options)
    yield* World.run(world, () => Effect.void)
    return world
  })

describe("The identity of a client", () => {
  const all: World.Options = {
    clients: { known: "a-secret-of-the-client", asked: undefined },
    metadata: { client_id_metadata_document_supported: true },
    identity: {
      preRegistered: [preRegistered],
      metadataDocument: DOCUMENT,
      ask: () => Effect.succeed({ clientId: "asked" })
    }
  }

  it.effect("SHOULD be a registration made before, then a document, then a dynamic registration, then what the user gives", () =>
    Effect.gen(function*() {
      assert.strictEqual(clientIdOf(yield* connected(all)), "known")
      const second = {
        ...all,
        identity: { ...all.identity, preRegistered: [{ ...preRegistered, issuer: "https://other.test" }] }
      }
      assert.strictEqual(clientIdOf(yield* connected(second)), DOCUMENT)
      const third = { ...second, metadata: {} }
      assert.strictEqual(clientIdOf(yield* connected(third)), "client-3-of-auth.test")
      const fourth = { ...second, metadata: { registration_endpoint: undefined } }
      assert.strictEqual(clientIdOf(yield* connected(fourth)), "asked")
      const never = { ...third, identity: { ...third.identity, dynamicRegistration: false } }
      assert.strictEqual(clientIdOf(yield* connected(never)), "asked")
    }))

  it.effect("is missing when there is no way to have one", () =>
    Effect.gen(function*() {
      const world = World.make({ metadata: { registration_endpoint: undefined } })
      const error = yield* World.refused(world)
      assert.strictEqual(error.reason, "UnknownClient")
      assert.include(error.message, "`preRegistered`")
    }))

  it.effect("MUST NOT be the one that a hostile server registers with the id of a client elsewhere", () =>
    Effect.gen(function*() {
      const world = World.make({
        identity: {
          dynamicRegistration: true,
          preRegistered: [{ issuer: "https://honest.test", clientId: "known" }]
        },
        instead: ({ url }) =>
          url.pathname === "/register" ? new Response("{\"client_id\":\"known\"}", { status: 201 }) : undefined
      })
      const { message, reason } = yield* World.refused(world)
      assert.strictEqual(reason, "UnknownClient")
      assert.include(message, "https://honest.test")
      assert.lengthOf(world.opened, 0)
    }))

  it.effect("MUST be an https URL with a path when it is a document", () =>
    Effect.gen(function*() {
      for (
        const metadataDocument of [
          "http://app.test/c",
          "https://app.test",
          "https://app.test/",
          "https://u@app.test/c",
          "x"
        ]
      ) {
        const world = World.make({
          metadata: { client_id_metadata_document_supported: true },
          identity: { metadataDocument }
        })
        assert.strictEqual((yield* World.refused(world)).reason, "UnknownClient")
        assert.lengthOf(world.opened, 0)
      }
    }))

  it("MUST be published with the same client_id, a name and its redirect URIs", () => {
    const document = ClientIdentity.document(DOCUMENT, {
      name: "App",
      metadata: { client_uri: "https://app.test", client_id: "x" }
    }, [
      "http://127.0.0.1/callback"
    ])
    assert.deepInclude(document, {
      client_id: DOCUMENT,
      client_name: "App",
      client_uri: "https://app.test",
      redirect_uris: ["http://127.0.0.1/callback"]
    })
    assert.include(document["grant_types"], "refresh_token")
  })
})

describe("A dynamic registration", () => {
  const bodyOf = (world: World.World) => JSON.parse(world.sent("POST /register")[0]!.text) as Record<string, unknown>

  it.effect("MUST have an application type: native on this machine, web elsewhere", () =>
    Effect.gen(function*() {
      assert.strictEqual(bodyOf(yield* connected({}))["application_type"], "native")
      const world = World.make({ redirectUri: "https://host.test/callback" })
      yield* World.run(world, () => Effect.void)
      assert.strictEqual(bodyOf(world)["application_type"], "web")
    }))

  it.effect("has the further members of the application, which replace none of those that the client sends", () =>
    Effect.gen(function*() {
      const metadata = { client_uri: "https://app.test", redirect_uris: ["https://evil.test"], client_name: "Other" }
      const world = World.make({ identity: { metadata } })
      yield* World.run(world, () => Effect.void)
      assert.deepInclude(bodyOf(world), {
        client_uri: "https://app.test",
        client_name: "Test",
        redirect_uris: ["http://127.0.0.1:7777/callback"]
      })
    }))

  it.effect("SHOULD ask for refresh tokens, unless the server does not issue any", () =>
    Effect.gen(function*() {
      const types = (world: World.World) => bodyOf(world)["grant_types"]
      assert.deepStrictEqual(types(yield* connected({})), ["authorization_code", "refresh_token"])
      const without = { metadata: { grant_types_supported: ["authorization_code"] } }
      assert.deepStrictEqual(types(yield* connected(without)), ["authorization_code"])
    }))

  it.effect("MUST be allowed to fail: the error has what the server says, and what to do", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<Response> = [
        new Response(JSON.stringify({ error: "invalid_redirect_uri", error_description: "No loopback" }), {
          status: 400
        }),
        new Response("<html>", { status: 403 }),
        new Response("{}", { status: 201 }),
        new Response(JSON.stringify({ client_id: "" }), { status: 201 }),
        new Response(null, { status: 302, headers: { location: "https://evil.test" } })
      ]
      for (const [nth, answer] of answers.entries()) {
        const world = World.make({ instead: ({ url }) => url.pathname === "/register" ? answer.clone() : undefined })
        const error = yield* World.refused(world)
        if (nth < 4) {
          assert.strictEqual(error.reason, "UnknownClient")
          assert.include(error.message, "`preRegistered`")
        } else assert.strictEqual(error.reason, "UnsafeUrl")
        if (nth === 0) assert.include(error.message, "\"invalid_redirect_uri\": No loopback")
        assert.lengthOf(world.opened, 0)
      }
    }))

  it.effect("is made anew when the authorization server has forgotten the client", () =>
    Effect.gen(function*() {
      const world = World.make()
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          world.server.forgetClients()
          world.server.revoke()
          yield* client.ping()
          assert.lengthOf(world.sent("POST /register"), 2)
          assert.lengthOf(world.opened, 2)
        }))
    }))

  it.effect("is made anew when its secret has expired", () =>
    Effect.gen(function*() {
      const world = World.make({
        refreshTokens: "none",
        instead: ({ url }) =>
          url.pathname === "/register"
            ? new Response(
              JSON.stringify({
                client_id: "short",
                client_secret: "a-secret-of-the-client",
                client_secret_expires_at: 60
              })
            )
            : undefined,
        clients: { short: "a-secret-of-the-client" }
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          world.server.revoke()
          yield* client.ping()
          assert.lengthOf(world.sent("POST /register"), 1)
          yield* TestClock.adjust("2 minutes")
          world.server.revoke()
          yield* client.ping()
          assert.lengthOf(world.sent("POST /register"), 2)
        }))
    }))
})

describe("The token endpoint", () => {
  const methods: ReadonlyArray<readonly [string, ClientIdentity.AuthMethod | undefined, ReadonlyArray<string>]> = [
    ["client_secret_basic", undefined, ["client_secret_basic", "client_secret_post"]],
    ["client_secret_basic", undefined, []],
    ["client_secret_post", undefined, ["client_secret_post"]],
    ["client_secret_post", "client_secret_post", ["client_secret_basic"]]
  ]
  for (const [used, authMethod, supported] of methods) {
    it.effect(`is given the secret by ${used} when the server takes ${supported.join(" and ") || "nothing"}`, () =>
      Effect.gen(function*() {
        const clientId = "i d:%é"
        const clientSecret = Redacted.make("s:ecret +%/é")
        yield* Effect.either(connected({
          clients: { [clientId]: Redacted.value(clientSecret) },
          metadata: { token_endpoint_auth_methods_supported: supported },
          identity: { preRegistered: [{ issuer: World.ISSUER, clientId, clientSecret, authMethod }] },
          // The server decodes a form as the specification says.
          instead: ({ form, headers, url }) => {
            if (url.pathname !== "/token") return undefined
            const basic = headers["authorization"]?.slice("Basic ".length)
            const [id, secret] = basic === undefined
              ? [form.get("client_id"), form.get("client_secret")]
              : atob(basic).split(":").map((one) => new URLSearchParams(`x=${one}`).get("x"))
            assert.strictEqual(basic === undefined, used === "client_secret_post")
            assert.strictEqual(form.has("client_secret"), used === "client_secret_post")
            assert.deepStrictEqual([id, secret], [clientId, Redacted.value(clientSecret)])
            return undefined
          }
        }))
      }))
  }

  it.effect("is given the id alone by a public client", () =>
    Effect.gen(function*() {
      const world = yield* connected({})
      const [request] = world.sent("POST /token")
      assert.isUndefined(request!.headers["authorization"])
      assert.strictEqual(request!.form.get("client_id"), "client-1-of-auth.test")
      assert.isFalse(request!.form.has("client_secret"))
    }))
})

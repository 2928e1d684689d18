import { assert, describe, it } from "@effect/vitest"
import type { Client } from "@effect-mcp/auth/ClientIdentity"
import * as EnterpriseManaged from "@effect-mcp/auth/EnterpriseManaged"
import { Effect, Redacted } from "effect"
import * as Jose from "jose"
import * as Net from "./Net.js"
import * as World from "./World.js"

const PROVIDER = "https://idp.test"

const make = (provider: Net.Handler, client: Partial<Client> = {}, subjectTokenType?: "saml2", origin = PROVIDER) => {
  const world = World.make({
    grant: EnterpriseManaged.make({
      provider: {
        tokenEndpoint: `${origin}/token`,
        client: { clientId: "app-at-idp", ...client },
        subjectTokenType,
        subjectToken: Effect.succeed(Redacted.make("the-identity-token"))
      },
      client: { issuer: World.ISSUER, clientId: "app", clientSecret: Redacted.make("the-secret-of-the-app") }
    }),
    scope: "read",
    instead: ({ form, headers, url }) => {
      if (url.pathname !== "/token") return undefined
      assert.strictEqual(form.get("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer")
      assert.strictEqual(form.get("assertion"), "the-id-jag")
      assert.isTrue(headers["authorization"]?.startsWith("Basic "))
      return Net.json({ access_token: "for-employee", token_type: "Bearer" })
    },
    insteadOfMcp: ({ headers, url }) =>
      url.pathname === "/mcp" && headers["authorization"] === "Bearer for-employee"
        ? new Response(null, { status: 202 })
        : undefined
  })
  world.net.add(origin, provider)
  return world
}

const idJag = {
  access_token: "the-id-jag",
  issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
  token_type: "N_A"
}

describe("An employee's application", () => {
  it.effect("exchanges the identity token for an ID-JAG, and that for an access token, without a browser", () =>
    Effect.gen(function*() {
      const world = make(() => Net.json(idJag))
      yield* World.login(world)
      const [request] = world.net.received.filter(({ url }) => url.origin === PROVIDER)
      assert.deepStrictEqual(Object.fromEntries(request!.form), {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
        subject_token: "the-identity-token",
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
        audience: World.ISSUER,
        resource: World.SERVER,
        client_id: "app-at-idp"
      })
      assert.lengthOf(world.opened, 0)
    }))

  it.effect("proves who it is with a signature that is for the provider, and names the type of the subject token", () =>
    Effect.gen(function*() {
      const { privateKey } = yield* Effect.promise(() => Jose.generateKeyPair("ES256", { extractable: true }))
      const key = Redacted.make(yield* Effect.promise(() => Jose.exportPKCS8(privateKey)))
      const world = make(() => Net.json(idJag), { privateKey: { key, algorithm: "ES256" } }, "saml2")
      yield* World.login(world)
      const [request] = world.net.received.filter(({ url }) => url.origin === PROVIDER)
      assert.strictEqual(Jose.decodeJwt(request!.form.get("client_assertion")!).aud, `${PROVIDER}/token`)
      assert.strictEqual(request!.form.get("subject_token_type"), "urn:ietf:params:oauth:token-type:saml2")
    }))

  it.effect("fails when the provider gives no access, without repeating the identity token", () =>
    Effect.gen(function*() {
      const answers = [
        Net.json({ error: "access_denied", error_description: "the-identity-token" }, 400),
        Net.json({ error: "the-identity-token" }, 400),
        Net.json({ ...idJag, issued_token_type: "urn:ietf:params:oauth:token-type:access_token" }),
        new Response("<html>", { status: 200 })
      ]
      for (const answer of answers) {
        const world = make(() => answer.clone())
        const error = yield* Effect.flip(World.login(world))
        assert.strictEqual(error.reason, "Denied")
        assert.notInclude(`${error.message} ${error.error}`, "the-identity-token")
        assert.lengthOf(world.sent("POST /token").filter(({ url }) => url.origin === World.ISSUER), 0)
      }
    }))

  it.effect("may have its provider on a private network: the application names that one itself", () =>
    Effect.gen(function*() {
      for (const origin of ["https://idp.corp.internal", "https://10.1.2.3:8443", "http://127.0.0.1:9000"]) {
        yield* World.login(make(() => Net.json(idJag), {}, undefined, origin))
      }
      // Tokens never go over http to another machine.
      const error = yield* Effect.flip(World.login(make(() => Net.json(idJag), {}, undefined, "http://10.1.2.3")))
      assert.strictEqual(error.reason, "UnsafeUrl")
    }))

  it.effect("gets no identity token sent for another authorization server", () =>
    Effect.gen(function*() {
      const world = make(() => Net.json(idJag))
      World.addServer(world, "https://other.test")
      world.authorizationServers[0] = "https://other.test"
      assert.strictEqual((yield* Effect.flip(World.login(world))).reason, "UnknownClient")
      assert.isFalse(world.net.received.some(({ url }) => url.origin === PROVIDER))
    }))
})

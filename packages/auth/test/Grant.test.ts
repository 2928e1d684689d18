import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import * as ClientCredentials from "@effect-mcp/auth/ClientCredentials"
import * as ClientIdentity from "@effect-mcp/auth/ClientIdentity"
import * as EnterpriseManaged from "@effect-mcp/auth/EnterpriseManaged"
import * as WorkloadIdentity from "@effect-mcp/auth/WorkloadIdentity"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Effect, Redacted } from "effect"
import * as Login from "./Login.js"

const whoami = Effect.flatMap(Login.connect(), (client) => Login.call(client, "whoami"))

const refused = (grant: Parameters<typeof Login.layer>[0], settings: Login.Settings) =>
  Effect.flatMap(Authorization.Authorization, ({ login }) => Effect.flip(login(Login.SERVER))).pipe(
    Effect.provide(Login.layer(grant, settings))
  )

describe("An authorization server and a protected server, which verify everything, let in", () => {
  it.scoped("a client that publishes a document of itself", () =>
    Effect.gen(function*() {
      const url = "https://app.test/client.json"
      const identity = { name: "App", metadataDocument: url }
      const document = ClientIdentity.document(url, identity, [TestAuthorizationServer.redirectUri])
      const fetched: Array<string> = []
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* whoami, `ada of ${url}: read`)
        assert.include(fetched, url)
      }).pipe(Effect.provide(Login.layer(AuthorizationCode.make(identity), {
        clientDocument: (at) =>
          Effect.sync(() => {
            fetched.push(at)
            return document
          })
      })))
    }))

  it.scoped("a program with a private key", () =>
    Effect.gen(function*() {
      const { privateKey, publicKey } = yield* TestAuthorizationServer.keyPair
      const grant = ClientCredentials.privateKey({ issuer: Login.ISSUER, clientId: "nightly", privateKey })
      assert.strictEqual(
        yield* Effect.provide(whoami, Login.layer(grant, { clients: [{ clientId: "nightly", publicKey }] })),
        "nightly of nightly: read"
      )
      // A key that the server does not know.
      const other = yield* TestAuthorizationServer.keyPair
      const error = yield* refused(grant, { clients: [{ clientId: "nightly", publicKey: other.publicKey }] })
      assert.deepInclude(error, { reason: "TokenRefused", error: "invalid_client" })
    }))

  it.scoped("an employee's application with an ID-JAG of the identity provider", () =>
    Effect.gen(function*() {
      const clientSecret = Redacted.make("the-secret-of-the-app")
      const secret = Redacted.value(clientSecret)
      const other = yield* TestAuthorizationServer.make({
        issuer: "https://idp.test",
        clients: [{ clientId: "app-at-idp", secret, idsElsewhere: { [Login.ISSUER]: "app" } }]
      })
      const grant = EnterpriseManaged.make({
        provider: {
          tokenEndpoint: `${other.issuer}/token`,
          client: { clientId: "app-at-idp", clientSecret },
          subjectToken: Effect.map(other.sign({ sub: "grace", aud: "app-at-idp" }), Redacted.make)
        },
        client: { issuer: Login.ISSUER, clientId: "app", clientSecret }
      })
      const settings = { other, clients: [{ clientId: "app", secret }] }
      assert.strictEqual(
        yield* Effect.provide(whoami, Login.layer(grant, { ...settings, trusts: [other] })),
        "grace of app: read"
      )
      const error = yield* refused(grant, settings)
      assert.deepInclude(error, { reason: "TokenRefused", error: "invalid_grant" })
    }))

  it.scoped("a workload with the token of its platform", () =>
    Effect.gen(function*() {
      const platform = yield* TestAuthorizationServer.make({ issuer: "https://kubernetes.test" })
      const grant = WorkloadIdentity.make({
        issuer: Login.ISSUER,
        token: Effect.map(platform.sign({ sub: "system:job", aud: Login.ISSUER }), Redacted.make)
      })
      assert.strictEqual(
        yield* Effect.provide(whoami, Login.layer(grant, { trusts: [platform] })),
        "system:job of system:job: read"
      )
    }))
})

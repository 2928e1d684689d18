import { assert, describe, it } from "@effect/vitest"
import * as TokenExchange from "@effect-mcp/auth/TokenExchange"
import { Effect, Redacted } from "effect"
import * as World from "./World.js"

const SECRET = "the-secret-of-the-gateway"

const clients = { gateway: SECRET }

const grant = (options: Partial<TokenExchange.Options> = {}) =>
  TokenExchange.make({
    client: { issuer: World.ISSUER, clientId: "gateway", clientSecret: Redacted.make(SECRET) },
    subjectToken: Effect.succeed(Redacted.make("unknown-token")),
    ...options
  })

describe("A server that acts for its user at another server", () => {
  it.effect("MUST NOT pass the user's token on: it exchanges the token for one of the other server", () =>
    Effect.gen(function*() {
      let token = ""
      const world = World.make({
        clients,
        scope: "read",
        grant: grant({ subjectToken: Effect.sync(() => Redacted.make(token)), audience: "upstream" })
      })
      token = yield* world.server.issue({ resource: "https://gateway.test/mcp", subject: "ada", scopes: ["read"] })
      yield* World.run(world, (client) => client.ping())
      const [request] = world.sent("POST /token")
      assert.deepStrictEqual(Object.fromEntries(request!.form), {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token: token,
        subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
        requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
        audience: "upstream",
        resource: World.SERVER,
        scope: "read"
      })
      assert.isTrue(request!.headers["authorization"]?.startsWith("Basic "))
      const sent = world.sent("POST /mcp").map(({ headers }) => headers["authorization"]).filter((one) =>
        one !== undefined
      )
      assert.isAbove(sent.length, 0)
      for (const one of sent) assert.notInclude(one, token)
      const exchanged = yield* world.server.verify(sent[0]!.split(" ")[1]!)
      assert.deepInclude(exchanged, { subject: "ada", actor: "gateway", resource: World.SERVER })
    }))

  it.effect("fails when the user's token is missing, or refused, without repeating it", () =>
    Effect.gen(function*() {
      const refused = yield* World.refused(World.make({ clients, grant: grant() }))
      assert.deepInclude(refused, { reason: "TokenRefused", error: "invalid_request" })
      assert.notInclude(refused.message, "unknown-token")
      const missing = World.make({ clients, grant: grant({ subjectToken: Effect.fail("none") }) })
      assert.strictEqual((yield* World.refused(missing)).reason, "Denied")
      assert.lengthOf(missing.sent("POST /token"), 0)
    }))

  it.effect("sends the user's token to no other authorization server", () =>
    Effect.gen(function*() {
      const world = World.make({ clients, grant: grant() })
      World.addServer(world, "https://other.test")
      world.authorizationServers[0] = "https://other.test"
      assert.strictEqual((yield* World.refused(world)).reason, "UnknownClient")
      assert.lengthOf(world.sent("POST /token"), 0)
    }))
})

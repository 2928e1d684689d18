import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Protected from "./Protected.js"
import * as World from "./World.js"

describe("A protected server", () => {
  it.scoped("MUST NOT send its clients on to a third party: it is not an authorization server", () =>
    Effect.gen(function*() {
      const { net, server } = yield* Protected.world()
      const query = "?response_type=code&client_id=evil&redirect_uri=https%3A%2F%2Fevil.test%2F&state=x"
      for (const base of ["", "/mcp"]) {
        for (const path of ["/authorize", "/token", "/register", "/callback", "/consent"]) {
          for (const method of ["GET", "POST"]) {
            const { headers, status } = yield* server.fetch(`${base}${path}${query}`, { method })
            assert.strictEqual(status, 404, `${method} ${base}${path}`)
            assert.isNull(headers.get("location"))
          }
        }
        for (const name of ["oauth-authorization-server", "openid-configuration"]) {
          assert.strictEqual((yield* server.fetch(`/.well-known/${name}${base}`)).status, 404)
        }
      }
      assert.deepStrictEqual(net.log(), [])
    }))

  it.scoped("MUST NOT set a cookie, nor take one for a token", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const token = yield* login.sign()
      const cookie = `access_token=${token}; authorization=Bearer ${token}`
      const answers = [
        yield* server.call("whoami", token),
        yield* server.call("whoami", undefined, { cookie }),
        yield* server.call("write", token, { cookie }),
        yield* server.fetch("/.well-known/oauth-protected-resource/mcp"),
        yield* server.legacy(Protected.initialize, token)
      ]
      assert.deepStrictEqual(answers.map(({ status }) => status), [200, 401, 403, 200, 200])
      for (const { headers } of answers) assert.isNull(headers.get("set-cookie"))
    }))
})

describe("A client at an authorization server", () => {
  it.effect("MUST be known by where its responses go: it names one redirect URI, which it has registered", () =>
    Effect.gen(function*() {
      const world = World.make()
      yield* World.run(world, (client) => client.ping())
      const [registration] = world.sent("POST /register")
      const { redirect_uris: registered } = JSON.parse(registration!.text) as { readonly redirect_uris: unknown }
      const { searchParams } = world.opened[0]!
      assert.deepStrictEqual(registered, searchParams.getAll("redirect_uri"))
      assert.strictEqual(world.sent("POST /token")[0]!.form.get("redirect_uri"), searchParams.get("redirect_uri"))
    }))

  it.effect("MUST have a state that is random, and good for one login", () =>
    Effect.gen(function*() {
      const states: Array<string> = []
      const world = World.make({
        redirect: ({ searchParams }) => {
          states.push(searchParams.get("state")!)
          // The second response has the state of the first one.
          searchParams.set("state", states[0]!)
        }
      })
      const second = yield* World.run(world, (client) =>
        Effect.gen(function*() {
          world.server.revoke()
          world.server.revokeRefresh()
          return yield* Effect.flip(client.ping())
        }))
      assert.strictEqual(World.causeOf(second).reason, "UntrustedResponse")
      assert.lengthOf(new Set(states), 2)
      for (const state of states) assert.match(state, /^[\w-]{43}$/)
      for (const { headers } of world.net.received) assert.notProperty(headers, "cookie")
    }))
})

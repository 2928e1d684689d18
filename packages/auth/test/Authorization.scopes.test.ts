import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import { Effect, Layer, TestClock } from "effect"
import * as World from "./World.js"

const scopesOf = (world: World.World) => world.opened.map(({ searchParams }) => searchParams.get("scope"))

const connected = (options: World.Options) =>
  Effect.gen(function*() {
    const world = World.make(options)
    yield* World.run(world, () => Effect.void)
    return scopesOf(world)[0]
  })

describe("The scopes of a login", () => {
  it.effect("SHOULD be those of the challenge, else all that the resource supports, else none", () =>
    Effect.gen(function*() {
      const supported = { scopes_supported: ["a", "b"] }
      assert.strictEqual(yield* connected({ scope: "x y", resourceMetadata: supported }), "x y")
      assert.strictEqual(yield* connected({ resourceMetadata: supported }), "a b")
      assert.isNull(yield* connected({}))
      assert.isNull(yield* connected({ resourceMetadata: { scopes_supported: [] } }))
    }))

  it.effect("MAY be extended by offline_access, only if the server lists it", () =>
    Effect.gen(function*() {
      const lists = { metadata: { scopes_supported: ["x", "offline_access"] } }
      assert.strictEqual(yield* connected({ ...lists, scope: "x" }), "x offline_access")
      assert.strictEqual(yield* connected({ scope: "x", metadata: { scopes_supported: ["x"] } }), "x")
      assert.strictEqual(yield* connected({ ...lists, scope: "x", identity: { offlineAccess: false } }), "x")
      assert.isNull(yield* connected(lists))
    }))

  it.effect("MUST come with the consent of the user where they have offline_access, unless the application has a prompt", () =>
    Effect.gen(function*() {
      const lists = { scope: "x", metadata: { scopes_supported: ["x", "offline_access"] } }
      const prompt = (options: World.Options) =>
        Effect.gen(function*() {
          const world = World.make(options)
          yield* World.run(world, () => Effect.void)
          return world.opened[0]!.searchParams.get("prompt")
        })
      assert.strictEqual(yield* prompt(lists), "consent")
      assert.strictEqual(yield* prompt({ scope: "x", authorization: { scopes: ["offline_access"] } }), "consent")
      assert.isNull(yield* prompt({ scope: "x" }))
      assert.isNull(yield* prompt({ ...lists, identity: { offlineAccess: false } }))
      assert.strictEqual(yield* prompt({ ...lists, identity: { parameters: { prompt: "login" } } }), "login")
    }))

  it.effect("are extended by those of the application", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* connected({ scope: "x", authorization: { scopes: ["mine", "x"] } }), "x mine")
    }))
})

describe("A request that needs more scopes", () => {
  it.effect("SHOULD be sent again after a login with the scopes of before and those that are missing", () =>
    Effect.gen(function*() {
      const world = World.make({ scope: "basic", tools: { write: "write", read: "basic" } })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* client.callTool("read")
          assert.lengthOf(world.opened, 1)
          yield* client.callTool("write")
          yield* client.callTool("write")
          yield* client.callTool("read")
        }))
      assert.deepStrictEqual(scopesOf(world), ["basic", "basic write"])
    }))

  it.effect("keeps the scopes that were granted when none was requested by name", () =>
    Effect.gen(function*() {
      const world = World.make({
        tools: { write: "write" },
        instead: ({ form }) => {
          if (form.get("grant_type") === "authorization_code" && world.opened.length === 1) form.set("scope", "ignored")
          return undefined
        },
        consent: ({ scopes }) => scopes.length === 0 ? { scopes: ["usual"] } : {}
      })
      yield* World.run(world, (client) => client.callTool("write"))
      assert.deepStrictEqual(scopesOf(world), [null, "usual write"])
    }))

  it.effect("SHOULD fail when the scopes were requested and are still missing, without another login", () =>
    Effect.gen(function*() {
      const world = World.make({
        scope: "admin",
        consent: () => ({ scopes: ["basic"] }),
        tools: { admin: "admin", more: "more" }
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          for (let time = 0; time < 3; time++) {
            const error = World.causeOf(yield* Effect.flip(client.callTool("admin")))
            assert.deepInclude(error, { reason: "InsufficientScope", error: "insufficient_scope" })
          }
          assert.lengthOf(world.opened, 1)
          // The one login that could help is made once.
          assert.strictEqual(World.causeOf(yield* Effect.flip(client.callTool("more"))).reason, "InsufficientScope")
          assert.strictEqual(World.causeOf(yield* Effect.flip(client.callTool("more"))).reason, "InsufficientScope")
          assert.lengthOf(world.opened, 2)
        }))
    }))

  it.effect("leads to a login when the server has named the scopes before, and the tokens were only refreshed", () =>
    Effect.gen(function*() {
      const options = { scope: "basic", tools: { write: "write" } }
      const world = World.make(options)
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          options.scope = "basic write"
          world.server.revoke()
          yield* client.ping()
          assert.deepStrictEqual(scopesOf(world), ["basic"])
          yield* client.callTool("write")
        }))
      assert.deepStrictEqual(scopesOf(world), ["basic", "basic write"])
    }))

  it.effect("SHOULD NOT lead to more than three logins, whatever the server asks for", () =>
    Effect.gen(function*() {
      let challenges = 0
      const world = World.make({
        insteadOfMcp: ({ text }) =>
          text.includes("greedy")
            ? new Response(null, {
              status: 403,
              headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="s${challenges++}"` }
            })
            : undefined
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          const before = world.opened.length
          const error = yield* Effect.flip(client.callTool("greedy"))
          assert.deepInclude((error as { cause: object }).cause, { _tag: "HttpResponseError", status: 403 })
          assert.strictEqual(world.opened.length - before, 3)
        }))
    }))

  it.effect("leads to four logins in ten minutes at most, also when each of them succeeds", () =>
    Effect.gen(function*() {
      let challenges = 0
      let isGreedy = false
      const world = World.make({
        insteadOfMcp: ({ headers, text }) => {
          if (headers["authorization"] === undefined || !text.includes("tools/call") || !isGreedy) return undefined
          isGreedy = false
          return new Response(null, {
            status: 403,
            headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="s${challenges++}"` }
          })
        }
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          const call = Effect.suspend(() => {
            isGreedy = true
            return client.callTool("any")
          })
          for (let time = 0; time < 3; time++) yield* call
          assert.lengthOf(world.opened, 4)
          for (let time = 0; time < 20; time++) {
            const error = World.causeOf(yield* Effect.flip(call))
            assert.deepInclude(error, { reason: "InsufficientScope" })
            assert.match(error.message, /asked 4 times within 10 minutes/)
          }
          assert.lengthOf(world.opened, 4)
          yield* TestClock.adjust("10 minutes")
          yield* call
          assert.lengthOf(world.opened, 5)
        }))
    }))

  it.effect("leads to four logins in ten minutes at most when the server refuses each token after a while", () =>
    Effect.gen(function*() {
      const world = World.make({ refreshTokens: "none" })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          for (let time = 0; time < 10; time++) {
            world.server.revoke()
            yield* Effect.either(client.ping())
          }
          assert.lengthOf(world.opened, 4)
          // The program may ask at any time.
          yield* World.login(world)
        }))
    }))

  it.effect("requests a bounded number of scopes, those that are missing and those of the application among them", () =>
    Effect.gen(function*() {
      const many = (name: string, length = 150) => Array.from({ length }, (_, i) => `${name}${i}`)
      const world = World.make({
        scope: many("a").join(" "),
        tools: { write: "write" },
        authorization: { scopes: ["mine"] }
      })
      yield* World.run(world, (client) => client.callTool("write"))
      for (const scopes of scopesOf(world)) assert.isAtMost(scopes!.split(" ").length, 100)
      assert.includeMembers(scopesOf(world)[1]!.split(" "), ["write", "mine", "a149"])
      const long = World.make({ scope: many("x".repeat(200), 50).join(" "), tools: { write: "write" } })
      yield* World.run(long, (client) => client.callTool("write"))
      for (const scopes of scopesOf(long)) assert.isAtMost(scopes!.length, 4096)
      assert.include(scopesOf(long)[1]!.split(" "), "write")
    }))

  it.effect("does not request again what was not granted, for another scope or after a restart", () =>
    Effect.gen(function*() {
      const store = yield* KeyValueStore.KeyValueStore
      const layer = Layer.succeed(CredentialStore.CredentialStore, CredentialStore.make(store))
      const world = World.make({
        scope: "basic",
        consent: ({ scopes }) => ({ scopes: scopes.filter((scope) => scope !== "admin") }),
        tools: { admin: "admin", write: "write" },
        store: layer
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* Effect.flip(client.callTool("admin"))
          yield* client.callTool("write")
          yield* Effect.flip(client.callTool("admin"))
        }))
      assert.deepStrictEqual(scopesOf(world), ["basic", "basic admin", "basic write"])
    }).pipe(Effect.provide(KeyValueStore.layerMemory)))

  it.effect("gets both scopes when two requests need different ones at once, one login after another", () =>
    Effect.gen(function*() {
      const world = World.make({ scope: "basic", tools: { a: "a", b: "b" } })
      yield* World.run(
        world,
        (client) =>
          Effect.all([client.callTool("a"), client.callTool("b"), client.callTool("a")], { concurrency: "unbounded" })
      )
      assert.lengthOf(world.opened, 3)
      assert.sameMembers(scopesOf(world)[2]!.split(" "), ["basic", "a", "b"])
    }))

  it.effect("is left refused when the challenge names no scope", () =>
    Effect.gen(function*() {
      const world = World.make({
        insteadOfMcp: ({ text }) =>
          text.includes("tools/call")
            ? new Response(null, {
              status: 403,
              headers: { "www-authenticate": "Bearer error=\"insufficient_scope\"" }
            })
            : undefined
      })
      yield* World.run(world, (client) => Effect.flip(client.callTool("any")))
      assert.lengthOf(world.opened, 1)
    }))
})

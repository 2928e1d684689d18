/**
 * Programs whose dynamic registration the authorization server has forgotten, or deletes: `oidc-provider` says so at once, on its own
 * page; `better-auth` says so after the user has logged in, on its own page. No program reads these pages.
 */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import { Effect, Exit, Fiber, Layer, Schedule, Scope } from "effect"
import * as Program from "./Program.js"
import * as Protected from "./Protected.js"
import * as Provider from "./Provider.js"
import * as Visitor from "./Visitor.js"

/** A store that programs use one after the other. */
const shared = Effect.map(
  KeyValueStore.KeyValueStore,
  (store) => Layer.succeed(CredentialStore.CredentialStore, CredentialStore.make(store))
).pipe(Effect.provide(KeyValueStore.layerMemory))

/** A program whose user looks at a page that leads nowhere, and does nothing. */
const patient = (store: Layer.Layer<CredentialStore.CredentialStore>, options?: Partial<AuthorizationCode.Options>) => {
  const visitor = Visitor.make()
  return Program.make({
    store,
    grant: AuthorizationCode.make({ name: "Test", ...options }),
    visitor: { ...visitor, open: (url) => Effect.catchAllCause(visitor.open(url), () => Effect.void) }
  })
}

/** The user of a program, as the server knows it. */
const userOf = (program: Program.Program, url: string) =>
  Effect.scoped(Effect.flatMap(program.connect(url), Protected.whoami))

describe("A registration that the authorization server has forgotten", () => {
  it.scopedLive("is replaced before the user is asked, where the server says so at once: oidc-provider after a restart", () =>
    Effect.gen(function*() {
      const store = yield* shared
      const life = yield* Scope.make()
      const before = yield* Scope.extend(Provider.make({ hasStockRefresh: true }), life)
      const server = yield* Protected.make(before)
      assert.strictEqual((yield* userOf(yield* patient(store), server.url)).name, "ada")
      yield* Scope.close(life, Exit.void)
      const port = Number(new URL(before.issuer).port)
      const after = yield* Effect.retry(
        Effect.sandbox(Provider.make({ hasStockRefresh: true, port })),
        Schedule.addDelay(Schedule.recurs(20), () => "200 millis")
      )
      const program = yield* patient(store)
      assert.strictEqual((yield* userOf(program, server.url)).name, "ada")
      assert.lengthOf(program.visitor.opened, 1)
      assert.strictEqual(after.count("POST /reg"), 1)
    }))

  for (const end of ["timed out", "was interrupted"] as const) {
    it.scopedLive(`is replaced after a login that ${end}, where the server asks the user first: better-auth`, () =>
      Effect.gen(function*() {
        const launched = yield* Provider.launch(new URL("./better-auth.mjs", import.meta.url), {})
        const provider = Provider.controlled(launched)
        const verify: Protected.Verify = (token) =>
          fetch(`${provider.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } })
            .then((response) => response.json() as Promise<Readonly<Record<string, string>>>)
            .then(({ clientId, name, scopes }) =>
              clientId === undefined ? undefined : { sub: name, client_id: clientId, scope: scopes }
            )
        const server = yield* Protected.make(provider, { introspect: verify })
        const store = yield* shared
        const user = yield* userOf(yield* patient(store), server.url)
        assert.deepInclude(user, { name: "ada", scopes: ["notes:read", "offline_access"] })
        yield* provider.forget("Client", "AccessToken")
        const program = yield* patient(store, end === "timed out" ? { loginTimeout: "2 seconds" } : {})
        const first = yield* Effect.fork(userOf(program, server.url))
        yield* Effect.retry(
          Effect.filterOrFail(Effect.sync(() => program.visitor.opened.length), (count) => count === 1),
          Schedule.spaced("50 millis")
        )
        if (end === "timed out") {
          const error = Program.causeOf(yield* Effect.flip(Fiber.join(first)))
          assert.deepInclude(error, { reason: "Browser" })
        } else {
          yield* Effect.sleep("1 second")
          yield* Fiber.interrupt(first)
        }
        assert.strictEqual(provider.count("POST /api/auth/mcp/register"), 1)
        const next = yield* patient(store)
        assert.notStrictEqual((yield* userOf(next, server.url)).clientId, user.clientId)
        assert.strictEqual(provider.count("POST /api/auth/mcp/register"), 2)
      }))
  }
})

describe("A logout", () => {
  it.scopedLive("deletes the registration, unless the program uses it for another server: oidc-provider", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make({ registrationManagement: true })
      const one = yield* Protected.make(provider)
      const other = yield* Protected.make(provider)
      const program = yield* Program.make()
      assert.strictEqual((yield* userOf(program, one.url)).name, "ada")
      assert.strictEqual((yield* userOf(program, other.url)).name, "ada")
      yield* program.provide(program.authorization.logout(one.url))
      assert.strictEqual(provider.count("DELETE /reg"), 0)
      yield* program.advance(3600)
      assert.strictEqual((yield* program.provide(userOf(program, other.url))).name, "ada")
      assert.lengthOf(program.visitor.opened, 2)
      yield* program.provide(program.authorization.logout(other.url))
      assert.strictEqual(provider.count("DELETE /reg"), provider.count("POST /reg"))
      assert.strictEqual((yield* userOf(program, one.url)).name, "ada")
    }))
})

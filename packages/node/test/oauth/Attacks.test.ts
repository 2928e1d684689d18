/**
 * What an attacker gets who sees the responses of a login, or has a server that users log in to: with a real authorization
 * server.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, initialize } from "../HttpFixture.js"
import * as Guarded from "./Guarded.js"
import * as Program from "./Program.js"
import * as Protected from "./Protected.js"
import * as Provider from "./Provider.js"
import * as Visitor from "./Visitor.js"

/** Redeems a code, as the client that it was issued to; gives the status. */
const redeem = (provider: Provider.Provider, form: Readonly<Record<string, string>>) =>
  Effect.promise(() =>
    fetch(`${provider.issuer}/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "authorization_code", ...form })
    }).then(({ status }) => status)
  )

describe("An attacker", () => {
  it.scopedLive("gets no token with a stolen code, neither before nor after the program has used it", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make()
      const server = yield* Protected.make(provider)
      const visitor: Visitor.Visitor = Visitor.make({ onResponse: (response) => Effect.asVoid(steal(response)) })
      const statuses: Array<number> = []
      const steal = (response: URL) =>
        Effect.gen(function*() {
          const { searchParams } = visitor.opened[0]!
          const stolen = {
            code: response.searchParams.get("code")!,
            client_id: searchParams.get("client_id")!,
            redirect_uri: searchParams.get("redirect_uri")!
          }
          statuses.push(yield* redeem(provider, stolen))
          statuses.push(yield* redeem(provider, { ...stolen, code_verifier: "v".repeat(43) }))
        })
      const program = yield* Program.make({ visitor })
      const outcome = yield* Effect.either(Effect.flatMap(program.connect(server.url), Protected.whoami))
      yield* steal(visitor.responses[0]!)
      assert.deepStrictEqual(statuses, [400, 400, 400, 400])
      // A code that was tried without its verifier may be lost, but it is not the attacker's.
      if (outcome._tag === "Left") assert.strictEqual(Program.causeOf(outcome.left).reason, "TokenRefused")
    }))

  it.scopedLive("cannot send the response of a login again, nor one of another login", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make()
      const server = yield* Protected.make(provider)
      const other = Visitor.make({ name: "mallory" })
      const attacker = yield* Program.make({ visitor: other })
      yield* attacker.connect(server.url)
      const [forged] = other.responses
      const statuses: Array<number> = []
      const visitor = Visitor.make({
        onResponse: (response) =>
          Effect.promise(async () => {
            // The attacker's own code, at the address of this login.
            const url = new URL(response)
            for (const name of ["code", "state"]) url.searchParams.set(name, forged!.searchParams.get(name)!)
            statuses.push((await fetch(url)).status)
          })
      })
      const program = yield* Program.make({ visitor })
      const client = yield* program.connect(server.url)
      assert.strictEqual((yield* Protected.whoami(client)).name, "ada")
      assert.deepStrictEqual(statuses, [400])
      // Nothing listens there after the login.
      const [response] = visitor.responses
      const again = yield* Effect.promise(() => fetch(response!).then(({ status }) => status, () => "refused"))
      assert.strictEqual(again, "refused")
      assert.strictEqual(provider.count("POST /token"), 2)
    }))

  it.scopedLive("MUST NOT use the token that a user got for the attacker's server at another server", () =>
    Effect.gen(function*() {
      for (const introspects of [false, true]) {
        const provider = yield* Provider.make({
          format: introspects ? "opaque" : "jwt",
          clients: [Protected.introspector]
        })
        const evil = yield* Protected.make(provider, { introspect: introspects })
        const honest = yield* Guarded.make(provider, { introspects })
        const program = yield* Program.make()
        yield* program.connect(evil.url)
        const authorization = evil.authorizations.at(-1)!
        assert.match(authorization, /^Bearer ./)
        assert.strictEqual((yield* ask(honest.url, initialize(), { authorization })).status, 401)
        // The program itself never sends one server the token of another.
        yield* program.connect(honest.url)
        assert.lengthOf(program.visitor.opened, 2)
        // Not even when the attacker's server says that it is the other one.
        const lying = yield* Protected.make(provider, { metadata: { resource: honest.url } })
        const error = Program.causeOf(yield* Effect.flip(program.connect(lying.url)))
        assert.strictEqual(error.reason, "InvalidMetadata")
        assert.deepStrictEqual([...new Set(lying.authorizations)], [undefined])
      }
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import * as Jose from "jose"
import * as Net from "./Net.js"
import * as Protected from "./Protected.js"

const refusal = (sent: Protected.Sent) => [
  sent.status,
  /error="([^"]*)"/.exec(sent.challenge ?? "")?.[1],
  /error_description="([^"]*)"/.exec(sent.challenge ?? "")?.[1]
]

const invalid = (message: string) => [401, "invalid_token", message]

const encode = (value: unknown) => Jose.base64url.encode(JSON.stringify(value))

const keySets = (net: Net.Net) => net.log().filter((one) => one.endsWith("/keys")).length

const NOT_SIGNED = "The signature of the access token is not valid"

describe("A verifier of JWTs", () => {
  it.scoped("MUST refuse a token that has expired, that is not valid yet, or that never expires", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const token = yield* login.sign()
      assert.strictEqual((yield* server.call("whoami", token)).status, 200)
      // Half a minute later than the token says, because clocks differ.
      yield* TestClock.adjust("3629 seconds")
      assert.strictEqual((yield* server.call("whoami", token)).status, 200)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(refusal(yield* server.call("whoami", token)), invalid("The access token has expired"))
      const later = yield* login.sign({ claims: { nbf: 3661 } })
      assert.deepStrictEqual(refusal(yield* server.call("whoami", later)), invalid("The access token is not valid yet"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* server.call("whoami", later)).status, 200)
      const forever = yield* login.sign({ claims: { exp: undefined } })
      assert.deepStrictEqual(
        refusal(yield* server.call("whoami", forever)),
        invalid("The access token does not say when it expires")
      )
    }))

  it.scoped("refuses algorithms that are not on the list, and keys of another type", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world()
      const [, payload] = (yield* login.sign()).split(".")
      const unsigned = `${encode({ alg: "none", typ: "at+jwt" })}.${payload}.`
      const hmac = (secret: string) =>
        Effect.promise(() =>
          new Jose.SignJWT(Jose.decodeJwt(`e30.${payload}.`))
            .setProtectedHeader({ alg: "HS256", kid: "key-0" })
            .sign(new TextEncoder().encode(secret))
        )
      const forged = [unsigned, yield* hmac(JSON.stringify(login.published[0])), yield* hmac("key-0")]
      for (const token of forged) {
        assert.deepStrictEqual(
          refusal(yield* server.call("whoami", token)),
          invalid("The access token is signed with an algorithm that this server does not allow")
        )
      }
      const other = `${encode({ alg: "RS256", kid: "key-0" })}.${payload}.${forged[1]!.split(".")[2]}`
      assert.deepStrictEqual(refusal(yield* server.call("whoami", other)), invalid(NOT_SIGNED))
      assert.strictEqual(keySets(net), 2)
    }))

  it.scoped("never takes a key that the token brings", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world()
      const evil = yield* Protected.issuer()
      net.add("https://evil.test", evil.handler)
      const [jwk] = evil.published
      for (const header of [{ jwk }, { jku: "https://evil.test/keys" }, { x5u: "https://evil.test/keys" }]) {
        const token = yield* evil.sign({ header })
        assert.deepStrictEqual(refusal(yield* server.call("whoami", token)), invalid(NOT_SIGNED))
      }
      const extended = yield* Effect.promise(() =>
        new Jose.SignJWT({}).setProtectedHeader({ alg: "ES256", crit: ["b64"], b64: true, kid: "key-0" })
          .setIssuer(login.issuer).setExpirationTime(9e9).sign(Jose.base64url.decode("AAAA")).catch(() =>
            `${encode({ alg: "ES256", crit: ["b64"], b64: false })}.${encode({ iss: login.issuer })}.AAAA`
          )
      )
      assert.strictEqual((yield* server.call("whoami", extended)).status, 401)
      assert.deepStrictEqual(net.log().filter((one) => one.includes("evil")), [])
    }))

  it.scoped("MUST NOT accept a token of another issuer, also where its key has the same id", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world({
        authorizationServers: [Protected.ISSUER, "https://b.test"]
      })
      const second = yield* Protected.issuer("https://b.test")
      net.add("https://b.test", second.handler)
      const third = yield* Protected.issuer("https://c.test")
      net.add("https://c.test", third.handler)
      const served = yield* Effect.flatMap(second.sign(), (token) => server.call("whoami", token))
      assert.strictEqual(served.json.result.content[0].text, "https://b.test#ada true")
      // Signed by one trusted issuer in the name of the other.
      const mixed = yield* second.sign({ claims: { iss: login.issuer } })
      assert.deepStrictEqual(refusal(yield* server.call("whoami", mixed)), invalid(NOT_SIGNED))
      for (const iss of ["https://c.test", `${Protected.ISSUER}/`, "HTTPS://login.test", undefined]) {
        const token = yield* third.sign({ claims: { iss } })
        assert.deepStrictEqual(
          refusal(yield* server.call("whoami", token)),
          invalid("The access token is from an issuer that this server does not trust")
        )
      }
      assert.deepStrictEqual(net.log().filter((one) => one.includes("c.test")), [])
    }))

  it.scoped("refuses tokens of other types, and with `requireType` those without a type", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world()
      const strict = yield* Protected.make(net, { verifier: JwtVerifier.make({ requireType: true }) })
      for (const typ of ["dpop+jwt", "secevent+jwt", "logout+jwt"]) {
        const token = yield* login.sign({ header: { typ } })
        assert.deepStrictEqual(refusal(yield* server.call("whoami", token)), invalid("The JWT is not an access token"))
      }
      for (const typ of ["JWT", undefined]) {
        const token = yield* login.sign({ header: { typ } })
        assert.strictEqual((yield* server.call("whoami", token)).status, 200)
        assert.strictEqual((yield* strict.call("whoami", token)).status, 401)
      }
      const token = yield* login.sign({ header: { typ: "application/AT+JWT" } })
      assert.strictEqual((yield* strict.call("whoami", token)).status, 200)
    }))

  it.scoped("refuses what is not a JWT, without a request to the issuer", () =>
    Effect.gen(function*() {
      const { net, server } = yield* Protected.world()
      for (const token of ["opaque", "a.b.c", "a.b.c.d.e", "..", `${encode({ alg: "ES256" })}.${encode([])}.AAAA`]) {
        assert.deepStrictEqual(refusal(yield* server.call("whoami", token)), invalid("The access token is not a JWT"))
      }
      assert.lengthOf(net.received, 0)
    }))

  it("dies for an algorithm with a shared secret", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const verifier = JwtVerifier.make({ algorithms: ["HS256" as "ES256"] })
      const exit = yield* Effect.exit(Protected.make(Net.make(), { verifier }))
      assert.isTrue(Exit.isFailure(exit))
    }))))
})

describe("The keys of an issuer", () => {
  it.scoped("are requested once for all tokens, and again when they are old", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world()
      const call = Effect.flatMap(login.sign(), (token) => server.call("whoami", token))
      const all = yield* Effect.all(Array.from({ length: 20 }, () => call), { concurrency: "unbounded" })
      assert.isTrue(all.every(({ status }) => status === 200))
      assert.strictEqual(keySets(net), 1)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* call).status, 200)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(keySets(net), 2)
    }))

  it.scoped("rotate: a token with a new key is accepted, and one with a withdrawn key is not", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world()
      const before = yield* login.sign()
      assert.strictEqual((yield* server.call("whoami", before)).status, 200)
      yield* TestClock.adjust("31 seconds")
      yield* login.rotate
      login.published.shift()
      assert.strictEqual((yield* Effect.flatMap(login.sign(), (token) => server.call("whoami", token))).status, 200)
      assert.strictEqual(keySets(net), 2)
      // It was remembered as verified.
      assert.deepStrictEqual(refusal(yield* server.call("whoami", before)), invalid(NOT_SIGNED))
    }))

  it.scoped("are not requested for each of a flood of unknown keys", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world()
      const flood = (count: number) =>
        Effect.forEach(
          Array.from({ length: count }, (_, index) => index),
          (index) =>
            Effect.flatMap(login.sign({ header: { kid: `no-${index}` } }), (token) => server.call("whoami", token)),
          { concurrency: "unbounded" }
        )
      const refused = yield* flood(100)
      yield* flood(100)
      assert.isTrue(refused.every(({ status }) => status === 401))
      assert.isAtMost(keySets(net), 1 + 4)
      yield* TestClock.adjust("30 seconds")
      yield* flood(100)
      yield* flood(100)
      const requested = keySets(net)
      assert.isAtMost(requested, 1 + 4 + 4)
      // The same unknown key is not sought again.
      yield* TestClock.adjust("30 seconds")
      for (let n = 0; n < 5; n++) yield* flood(1)
      assert.strictEqual(keySets(net), requested + 1)
      // Signatures that are not valid for a known key cause no request at all.
      yield* TestClock.adjust("30 seconds")
      const [header, payload] = (yield* login.sign()).split(".")
      yield* server.call("whoami", `${header}.${payload}.${"A".repeat(86)}`)
      assert.strictEqual(keySets(net), requested + 1)
    }))

  it.scoped("are found when they are new, although somebody has just invented one", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world()
      const status = (token: string) => Effect.map(server.call("whoami", token), ({ status }) => status)
      assert.strictEqual(yield* status(yield* login.sign()), 200)
      assert.strictEqual(yield* status(yield* login.sign({ header: { kid: "invented" } })), 401)
      yield* login.rotate
      assert.strictEqual(yield* status(yield* login.sign()), 200)
      assert.strictEqual(keySets(net), 3)
    }))

  it.scoped("stay when the issuer publishes a set whose keys can have signed no token", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const token = yield* login.sign({ claims: { exp: 1e6 } })
      const call = Effect.map(server.call("whoami", token), ({ status }) => status)
      assert.strictEqual(yield* call, 200)
      const good = [...login.published]
      const [key] = good
      const useless: ReadonlyArray<Record<string, unknown>> = [
        { ...key, use: "enc" },
        { ...key, alg: "ECDH-ES" },
        { ...key, key_ops: ["deriveBits"] },
        { ...key, crv: "secp256k1" },
        { ...key, y: undefined },
        { ...key, x: 7 },
        { ...key, x: "" },
        { ...key, kty: "OKP" },
        { kty: "RSA", kid: key!["kid"], n: "AQAB", e: "AQAB" },
        { kty: "RSA", kid: key!["kid"] },
        { kty: "oct", kid: key!["kid"], k: "AQAB" }
      ]
      for (const one of useless) {
        login.published.splice(0, Infinity, one as typeof key & object)
        yield* TestClock.adjust("11 minutes")
        assert.strictEqual(yield* call, 200, JSON.stringify(one))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* call, 200, JSON.stringify(one))
        login.published.splice(0, Infinity, ...good)
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* call, 200)
      }
    }))

  it.scoped("serve on while the issuer does not answer, for an hour, and other tokens do not wait", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world()
      const call = server.call("whoami", yield* login.sign({ claims: { exp: 1e6 } }))
      assert.strictEqual((yield* call).status, 200)
      const requested = yield* Effect.makeSemaphore(0)
      net.add(Protected.ISSUER, () => Effect.zipRight(requested.release(1), Effect.never))
      yield* TestClock.adjust("11 minutes")
      assert.strictEqual((yield* call).status, 200)
      yield* requested.take(1)
      const unknown = yield* Effect.fork(server.call("whoami", yield* login.sign({ header: { kid: "no" } })))
      assert.strictEqual((yield* call).status, 200)
      yield* TestClock.adjust("5 seconds")
      const late = yield* Fiber.join(unknown)
      assert.deepStrictEqual([late.status, late.headers.get("retry-after")], [503, "5"])
      yield* TestClock.adjust("58 minutes")
      assert.strictEqual((yield* call).status, 200)
      yield* requested.take(1)
      yield* TestClock.adjust("2 minutes")
      const waiting = yield* Effect.fork(call)
      yield* requested.take(1)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(waiting)).status, 503)
      // The failure is the answer for a while: nothing waits.
      assert.strictEqual((yield* call).status, 503)
      net.add(Protected.ISSUER, login.handler)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* call).status, 200)
    }))

  it.scoped("may have rotated while the issuer is away: whether a new key is one of its own cannot be known", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world()
      yield* Effect.flatMap(login.sign(), (token) => server.call("whoami", token))
      yield* login.rotate
      const token = yield* login.sign()
      net.add(Protected.ISSUER, () => new Response(null, { status: 502 }))
      yield* TestClock.adjust("31 seconds")
      for (let n = 0; n < 3; n++) {
        // A client would log in again after 401.
        assert.strictEqual((yield* server.call("whoami", token)).status, 503)
        yield* TestClock.adjust("6 seconds")
      }
      const requested = net.log().length
      assert.strictEqual((yield* server.call("whoami", token)).status, 503)
      assert.lengthOf(net.log(), requested)
      net.add(Protected.ISSUER, login.handler)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* server.call("whoami", token)).status, 200)
    }))

  it.scoped("are not used from an answer that is huge, endless, empty or for another issuer", () =>
    Effect.gen(function*() {
      const endless = () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65536)) }),
          { headers: { "content-type": "application/json" } }
        )
      const huge = () => Net.json({ keys: [{ kty: "EC", x: "x".repeat(300_000) }] })
      const keys = (answer: () => Response): Net.Handler => (request) =>
        request.url.pathname === "/keys" ? answer() : Net.documents({
          "/.well-known/oauth-authorization-server": {
            issuer: Protected.ISSUER,
            jwks_uri: `${Protected.ISSUER}/keys`
          }
        })(request)
      const metadata = (members: object): Net.Handler =>
        Net.documents({ "/.well-known/oauth-authorization-server": { issuer: Protected.ISSUER, ...members } })
      for (
        const handler of [
          keys(endless),
          keys(huge),
          keys(() => Net.json({ keys: [] })),
          keys(() => Net.json({ keys: [{ kty: "oct", k: "AAAA" }] })),
          metadata({ issuer: "https://other.test", jwks_uri: `${Protected.ISSUER}/keys` }),
          metadata({}),
          metadata({ jwks_uri: "https://169.254.169.254/keys" }),
          metadata({ jwks_uri: "http://keys.test/" }),
          metadata({ jwks_uri: "https://[::1]/keys" })
        ]
      ) {
        const login = yield* Protected.issuer()
        const net = Net.make({ [Protected.ISSUER]: handler })
        const server = yield* Protected.make(net)
        const token = yield* login.sign()
        const refused = yield* server.call("whoami", token)
        assert.strictEqual(refused.status, 503)
        assert.deepStrictEqual(net.received.filter(({ url }) => url.origin !== Protected.ISSUER), [])
      }
    }))

  it.scoped("may be given, or have an address that the application names", () =>
    Effect.gen(function*() {
      const { login, net } = yield* Protected.world()
      const token = yield* login.sign()
      const given = yield* Protected.make(Net.make(), {
        verifier: JwtVerifier.make({ keys: { [Protected.ISSUER]: login.published as ReadonlyArray<object> as any } })
      })
      assert.strictEqual((yield* given.call("whoami", token)).status, 200)
      const named = yield* Protected.make(net, {
        verifier: JwtVerifier.make({ keySets: { [Protected.ISSUER]: `${Protected.ISSUER}/keys` } })
      })
      assert.strictEqual((yield* named.call("whoami", token)).status, 200)
      assert.deepStrictEqual(net.log(), [`GET ${Protected.ISSUER}/keys`])
    }))

  it.scoped("are tried in turn for a token without a key id", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      yield* login.rotate
      for (const key of [0, 1]) {
        const token = yield* login.sign({ key, header: { kid: undefined } })
        assert.strictEqual((yield* server.call("whoami", token)).status, 200)
      }
    }))

  for (
    const [what, published] of [
      ["are for encryption", { use: "enc" }],
      ["may not verify", { key_ops: ["encrypt"] }],
      ["are for another algorithm", { alg: "ES384" }],
      ["are of another type", { kty: "RSA" }],
      ["are on another curve", { crv: "P-384" }],
      ["are symmetric", { kty: "oct", k: "AAAA" }],
      ["are malformed", { x: "AAAA" }]
    ] satisfies ReadonlyArray<readonly [string, Jose.JWK]>
  ) {
    it.scoped(`MUST NOT verify when they ${what}, and keep no other key from it, however many they are`, () =>
      Effect.gen(function*() {
        const { login, server } = yield* Protected.world()
        const right = login.published[0]!
        login.published.splice(0, 1, ...Array.from({ length: 8 }, () => ({ ...right, ...published })))
        yield* login.rotate
        const given = yield* Protected.make(Net.make(), {
          verifier: JwtVerifier.make({ keys: { [Protected.ISSUER]: login.published.slice() as ReadonlyArray<any> } })
        })
        for (const header of [{}, { kid: undefined }]) {
          const token = yield* login.sign({ key: 0, header })
          for (const { call } of [server, given]) {
            assert.deepStrictEqual(refusal(yield* call("whoami", token)), invalid(NOT_SIGNED))
          }
        }
        const token = yield* login.sign({ header: { kid: undefined } })
        for (const { call } of [server, given]) assert.strictEqual((yield* call("whoami", token)).status, 200)
      }))
  }

  it.scoped("of all algorithms verify", () =>
    Effect.gen(function*() {
      for (const algorithm of JwtVerifier.algorithms) {
        const login = yield* Protected.issuer(Protected.ISSUER, algorithm)
        const server = yield* Protected.make(Net.make({ [Protected.ISSUER]: login.handler }))
        const token = yield* login.sign()
        assert.strictEqual((yield* server.call("whoami", token)).status, 200, algorithm)
      }
    }))

  it.scoped("are waited for by all that need them, and requested once", () =>
    Effect.gen(function*() {
      const login = yield* Protected.issuer()
      const gate = yield* Deferred.make<void>()
      const net = Net.make({
        [Protected.ISSUER]: (request) => {
          const answer = login.handler(request)
          return Effect.zipRight(Deferred.await(gate), Effect.isEffect(answer) ? answer : Effect.succeed(answer))
        }
      })
      const server = yield* Protected.make(net)
      const token = yield* login.sign()
      const calls = yield* Effect.fork(
        Effect.all(Array.from({ length: 10 }, () => server.call("whoami", token)), { concurrency: "unbounded" })
      )
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      assert.isTrue((yield* Fiber.join(calls)).every(({ status }) => status === 200))
      assert.strictEqual(keySets(net), 1)
    }))
})

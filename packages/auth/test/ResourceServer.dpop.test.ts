import { assert, describe, it } from "@effect/vitest"
import * as Dpop from "@effect-mcp/auth/Dpop"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as Message from "@effect-mcp/core/Message"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import { Clock, Effect, Encoding, Layer, Logger, Redacted, TestClock } from "effect"
import * as Jose from "jose"
import * as Protected from "./Protected.js"

const challengeOf = ({ challenge, status }: Protected.Sent) => [
  status,
  /error="([^"]*)"/.exec(challenge ?? "")?.[1],
  /error_description="([^"]*)"/.exec(challenge ?? "")?.[1]
]

const refused = (message: string) => [401, "invalid_dpop_proof", message]

/** A client with a key, and a token that is bound to it. */
const bound = (login: Protected.Issuer, claims: object = {}) =>
  Effect.gen(function*() {
    const prover = yield* Dpop.es256.prover(undefined)
    const jwk = JSON.parse(Redacted.value(prover.key)) as Jose.JWK
    const jkt = yield* Effect.promise(() => Jose.calculateJwkThumbprint(jwk))
    const token = yield* login.sign({ claims: { cnf: { jkt }, ...claims } })
    const proof = (method = "POST", url = Protected.RESOURCE, of = token) =>
      prover.headers(method, url, Redacted.make(of)) as Effect.Effect<{ readonly dpop: string }>
    return { prover, token, jwk, proof }
  })

/** A proof with members of the test's choice. */
const forge = (
  jwk: Jose.JWK,
  token: string,
  claims: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = {}
) =>
  Effect.flatMap(Clock.currentTimeMillis, (millis) =>
    Effect.promise(async () => {
      const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))
      const { crv, kty, x, y } = jwk
      const proof = await new Jose.SignJWT({
        jti: crypto.randomUUID(),
        htm: "POST",
        htu: Protected.RESOURCE,
        iat: Math.floor(millis / 1000),
        ath: Encoding.encodeBase64Url(new Uint8Array(hash)),
        ...claims
      }).setProtectedHeader({ typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } as Jose.JWK, ...header })
        .sign(await Jose.importJWK(jwk, "ES256"))
      return { dpop: proof }
    }))

describe("A token that is bound to a key", () => {
  it.scoped("is accepted with a proof for this request", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const { proof, token } = yield* bound(login)
      for (const url of [Protected.RESOURCE, `${Protected.RESOURCE}/`, "https://mcp.test/mcp?a=b#c"]) {
        const served = yield* server.call("whoami", `DPoP ${token}`, yield* proof("POST", url))
        assert.strictEqual(served.status, 200, served.challenge ?? "")
      }
    }))

  it.scoped("is refused without one, as a bearer token, and with the proof of another key", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const { proof, token } = yield* bound(login)
      const other = yield* bound(login)
      assert.deepStrictEqual(challengeOf(yield* server.call("whoami", token, yield* proof())), [
        401,
        "invalid_token",
        "The access token needs a proof of DPoP"
      ])
      assert.deepStrictEqual(
        challengeOf(yield* server.call("whoami", `DPoP ${token}`)),
        refused("The request has no DPoP header")
      )
      assert.deepStrictEqual(
        challengeOf(
          yield* server.call("whoami", `DPoP ${token}`, yield* other.proof("POST", Protected.RESOURCE, token))
        ),
        refused("The proof of DPoP is not signed with the key of the token")
      )
      const free = yield* login.sign()
      assert.deepStrictEqual(challengeOf(yield* server.call("whoami", `DPoP ${free}`, yield* proof())), [
        401,
        "invalid_token",
        "The access token is not bound to a key"
      ])
    }))

  it.scoped("is refused with a proof for another request, another time, or of another kind", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      yield* TestClock.adjust("1 hour")
      const { jwk: key, proof, token: valid } = yield* bound(login)
      const cases: ReadonlyArray<readonly [Record<string, unknown>, Record<string, unknown>, RegExp]> = [
        [{ htm: "GET" }, {}, /another method/],
        [{ htm: undefined }, {}, /another method/],
        [{ htu: "https://mcp.test/other" }, {}, /another URL/],
        [{ htu: "https://mcp.test:8443/mcp" }, {}, /another URL/],
        [{ htu: "not a url" }, {}, /another URL/],
        [{ ath: "AAAA" }, {}, /another access token/],
        [{ ath: undefined }, {}, /another access token/],
        [{ iat: 3600 - 91 }, {}, /too old/],
        [{ iat: 3600 + 31 }, {}, /too old/],
        [{ iat: "now" }, {}, /too old/],
        [{ jti: undefined }, {}, /needs an id/],
        [{ jti: "x".repeat(257) }, {}, /needs an id/],
        [{}, { typ: "JWT" }, /does not have the type/],
        [{}, { jwk: undefined }, /a single proof/],
        [{}, { jwk: key }, /a single proof/]
      ]
      for (const [claims, header, message] of cases) {
        const sent = yield* server.call("whoami", `DPoP ${valid}`, yield* forge(key, valid, claims, header))
        const [status, error, description] = challengeOf(sent)
        assert.deepStrictEqual([status, error], [401, "invalid_dpop_proof"], JSON.stringify([claims, header]))
        assert.match(description as string, message)
      }
      for (const dpop of ["", "a.b.c", "x".repeat(9000), `${(yield* proof()).dpop},${(yield* proof()).dpop}`]) {
        assert.strictEqual((yield* server.call("whoami", `DPoP ${valid}`, { dpop })).status, 401)
      }
    }))

  it.scoped("is refused with a proof whose payload is not an object of claims, or whose claims are of other types", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      yield* TestClock.adjust("1 hour")
      const { jwk, token } = yield* bound(login)
      const values = [null, 5, "text", true, [], [null], {}]
      const sign = (payload: string) =>
        Effect.promise(async () => {
          const { crv, kty, x, y } = jwk
          return new Jose.CompactSign(new TextEncoder().encode(payload))
            .setProtectedHeader({ typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } as Jose.JWK })
            .sign(await Jose.importJWK(jwk, "ES256"))
        })
      const proofs = yield* Effect.forEach(
        ["", "{", "null null", ...values.map((value) => JSON.stringify(value))],
        (payload) => Effect.map(sign(payload), (dpop) => ({ dpop }))
      )
      const forged = yield* Effect.forEach(
        ["htm", "htu", "ath", "jti", "iat"].flatMap((claim) =>
          // Any text is an id.
          values.filter((value) => claim !== "jti" || value !== "text").map((value) => ({ [claim]: value }))
        ),
        (claims) => forge(jwk, token, claims)
      )
      for (const proof of [...proofs, ...forged]) {
        const [status, error] = challengeOf(yield* server.call("whoami", `DPoP ${token}`, proof))
        assert.deepStrictEqual([status, error], [401, "invalid_dpop_proof"], proof.dpop)
      }
    }))

  it.scoped("is refused with a proof that was used, and its memory is bounded", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({ dpop: { maxProofs: 20 } })
      const { proof, token } = yield* bound(login)
      const first = yield* proof()
      assert.strictEqual((yield* server.call("whoami", `DPoP ${token}`, first)).status, 200)
      const [status, error, description] = challengeOf(yield* server.call("whoami", `DPoP ${token}`, first))
      assert.deepStrictEqual([status, error, description], refused("The proof of DPoP was used before"))
      assert.strictEqual((yield* server.call("whoami", `DPoP ${token}`, yield* proof())).status, 200)
      const full = yield* server.call("whoami", `DPoP ${token}`, yield* proof())
      assert.deepStrictEqual([full.status, full.headers.get("retry-after")], [503, "5"])
      // Another client is served, and the first one again when its proofs are too old to be used.
      const other = yield* bound(login)
      assert.strictEqual((yield* server.call("whoami", `DPoP ${other.token}`, yield* other.proof())).status, 200)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* server.call("whoami", `DPoP ${token}`, yield* proof())).status, 200)
      assert.strictEqual((yield* server.call("whoami", `DPoP ${token}`, first)).status, 401)
    }))

  it.scoped("is refused when all clients have used as many proofs as are remembered, and served as often again after their time", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({ dpop: { maxProofs: 3 } })
      const clients = yield* Effect.replicateEffect(bound(login), 4)
      for (const _ of ["filled", "filled again"]) {
        const statuses = yield* Effect.forEach(
          clients,
          ({ proof, token }) => Effect.flatMap(proof(), (proof) => server.call("whoami", `DPoP ${token}`, proof))
        )
        assert.deepStrictEqual(statuses.map(({ status }) => status), [200, 200, 200, 503])
        yield* TestClock.adjust("2 minutes")
      }
    }))

  it.scoped("is refused with a proof that was used at another node, where the nodes share their limits", () =>
    Effect.gen(function*() {
      const limits = yield* SharedLimits.memory()
      const { login, net, server } = yield* Protected.world({ limits, dpop: { maxAge: "1 minute" } })
      const other = yield* Protected.make(net, { limits, dpop: { maxAge: "1 minute" } })
      const { proof, token } = yield* bound(login)
      const first = yield* proof()
      assert.strictEqual((yield* server.call("whoami", `DPoP ${token}`, first)).status, 200)
      for (const node of [other, server]) {
        const sent = yield* node.call("whoami", `DPoP ${token}`, first)
        assert.deepStrictEqual(challengeOf(sent), refused("The proof of DPoP was used before"))
        assert.strictEqual((yield* node.call("whoami", `DPoP ${token}`, yield* proof())).status, 200)
      }
      // As long as it is young enough, by the clock that accepts it longest.
      yield* TestClock.adjust("90 seconds")
      const late = challengeOf(yield* other.call("whoami", `DPoP ${token}`, first))
      assert.deepStrictEqual(late, refused("The proof of DPoP was used before"))
      yield* TestClock.adjust("1 minute")
      const old = challengeOf(yield* other.call("whoami", `DPoP ${token}`, first))
      assert.deepStrictEqual(old, refused("The proof of DPoP is too old, or from the future"))
    }))

  it.scoped("is accepted once where its request arrives, also when another node serves the session", () =>
    Effect.gen(function*() {
      const http = { drainTimeout: 0 }
      const options = { http, limits: yield* SharedLimits.memory(), dpop: { nonce: "5 minutes" } } as const
      const { login, net, server } = yield* Protected.world(options)
      const other = yield* Protected.make(net, options)
      const { jwk, token } = yield* bound(login)
      const nonce = (yield* server.call("whoami", `DPoP ${token}`, yield* forge(jwk, token, {}))).headers.get(
        "dpop-nonce"
      )
      const opened = yield* server.legacy(Protected.initialize, `DPoP ${token}`, yield* forge(jwk, token, { nonce }))
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! }
      const ping = (headers: Readonly<Record<string, string>>) =>
        other.legacy(Message.request(2, "ping"), `DPoP ${token}`, { ...session, ...headers })
      const unready = yield* ping(yield* forge(jwk, token, { nonce }))
      assert.deepStrictEqual(challengeOf(unready).slice(0, 2), [401, "use_dpop_nonce"])
      const proof = yield* forge(jwk, token, { nonce: unready.headers.get("dpop-nonce") })
      const served = yield* ping(proof)
      assert.deepStrictEqual([served.status, served.json.result], [200, {}], served.text)
      assert.deepStrictEqual(challengeOf(yield* ping(proof)), refused("The proof of DPoP was used before"))
    }).pipe(Effect.provide(Layer.merge(SessionDirectory.layerMemory, Inbox.layerMemory))))

  it.scoped("presents its proof once for a stream, however often its user is found again", () =>
    Effect.gen(function*() {
      const limits = yield* SharedLimits.memory()
      const counted = { proofs: 0, users: 0 }
      const { login, server } = yield* Protected.world({
        limits: {
          ...limits,
          once: (...args) => {
            counted.proofs++
            return limits.once(...args)
          }
        },
        user: (token) =>
          Effect.sync(() => {
            counted.users++
            return token
          })
      })
      const { proof, token } = yield* bound(login)
      const opened = yield* server.legacy(Protected.initialize, `DPoP ${token}`, yield* proof())
      const headers = {
        authorization: `DPoP ${token}`,
        "mcp-session-id": opened.headers.get("mcp-session-id")!
      }
      const get = { method: "GET", headers: { ...headers, accept: "text/event-stream", ...yield* proof("GET") } }
      const stream = yield* Effect.promise(() => server.handler(new Request(Protected.RESOURCE, get)))
      assert.deepStrictEqual([stream.status, counted.proofs, counted.users], [200, 2, 2])
      // Longer than a proof may be used.
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(counted.proofs, 2)
      assert.isAbove(counted.users, 10)
      yield* server.fetch("/mcp", { method: "DELETE", headers: { ...headers, ...yield* proof("DELETE") } })
      yield* Effect.promise(() => stream.text())
    }))

  it.scoped("is refused with 503 while the shared limits do not answer, and the client does not learn why; the log says once that it begins", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.add(Logger.make(({ message }) => {
        lines.push(String(message))
      }))
      const limits = yield* SharedLimits.memory()
      let isAway = true
      const { login, server } = yield* Effect.provide(
        Protected.world({
          limits: {
            ...limits,
            once: (...args) =>
              isAway
                ? new SharedLimits.SharedLimitsError({ message: "connect ECONNREFUSED 10.0.0.5" })
                : limits.once(...args)
          }
        }),
        logger
      )
      const { proof, token } = yield* bound(login)
      const call = Effect.flatMap(proof(), (headers) => server.call("whoami", `DPoP ${token}`, headers))
      for (const times of [1, 2]) {
        isAway = true
        for (let n = 0; n < 10; n++) {
          const sent = yield* call
          assert.deepStrictEqual([sent.status, sent.headers.get("retry-after")], [503, "5"])
          assert.notInclude(sent.text, "ECONNREFUSED")
        }
        assert.lengthOf(lines.filter((message) => message.includes("ECONNREFUSED")), times)
        isAway = false
        assert.strictEqual((yield* call).status, 200)
      }
      assert.strictEqual((yield* server.call("whoami", yield* login.sign())).status, 200)
    }))

  it.scoped("may be required, and its proof may need a nonce of the server", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({ dpop: { required: true, nonce: "5 minutes" } })
      const unbound = yield* server.call("whoami", yield* login.sign())
      assert.strictEqual(unbound.status, 401)
      assert.match(unbound.challenge!, /^DPoP error="invalid_token", .*algs="ES256 [^"]*"$/)
      const metadata = (yield* server.fetch("/.well-known/oauth-protected-resource/mcp")).json
      assert.isTrue(metadata.dpop_bound_access_tokens_required)
      assert.include(metadata.dpop_signing_alg_values_supported, "ES256")
      const { proof, prover, token } = yield* bound(login)
      const call = Effect.flatMap(proof(), (headers) => server.call("whoami", `DPoP ${token}`, headers))
      const first = yield* call
      assert.deepStrictEqual([first.status, challengeOf(first)[1]], [401, "use_dpop_nonce"])
      const keep = (sent: Protected.Sent) =>
        prover.keepNonce(Protected.RESOURCE, { "dpop-nonce": sent.headers.get("dpop-nonce")! }, undefined)
      assert.isTrue(keep(first))
      assert.strictEqual((yield* call).status, 200)
      // The nonce before is accepted as long as the one after it lives.
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* call).status, 200)
      yield* TestClock.adjust("5 minutes")
      const late = yield* call
      assert.strictEqual(late.status, 401)
      assert.isTrue(keep(late))
      assert.strictEqual((yield* call).status, 200)
    }))
})

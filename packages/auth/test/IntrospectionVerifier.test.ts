import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as IntrospectionVerifier from "@effect-mcp/auth/IntrospectionVerifier"
import { Effect, Exit, Fiber, Redacted, TestClock } from "effect"
import { preempted } from "../../testing/test/support/Preempted.js"
import * as SeenTokens from "../src/resource/SeenTokens.js"
import * as Net from "./Net.js"
import * as Protected from "./Protected.js"

const client = { clientId: "notes", clientSecret: Redacted.make("s3cr3t") }

const active = { active: true, sub: "ada", aud: Protected.RESOURCE, scope: "notes:read", token_type: "Bearer" }

const METADATA = "/.well-known/oauth-authorization-server"

/** An issuer whose introspection endpoint answers with a function of the token. */
const world = (
  answer: (token: string) => unknown,
  options: Partial<IntrospectionVerifier.Options> = {}
) =>
  Effect.gen(function*() {
    const net = Net.make({
      [Protected.ISSUER]: (request) => {
        const { form, url } = request
        if (url.pathname === "/introspect") {
          const given = answer(form.get("token")!)
          return given instanceof Response || Effect.isEffect(given)
            ? given as Response | Effect.Effect<Response>
            : Net.json(given)
        }
        return Net.documents({
          [METADATA]: { issuer: Protected.ISSUER, introspection_endpoint: `${Protected.ISSUER}/introspect` }
        })(request)
      }
    })
    const server = yield* Protected.make(net, { verifier: IntrospectionVerifier.make({ client, ...options }) })
    return { net, server, asked: () => net.received.filter(({ url }) => url.pathname === "/introspect") }
  })

describe("A verifier by introspection", () => {
  it.scoped("sends the token to the authorization server, as the client that it is there", () =>
    Effect.gen(function*() {
      const { asked, server } = yield* world(() => active)
      const served = yield* server.call("whoami", "opaque")
      assert.strictEqual(served.json.result.content[0].text, "https://login.test#ada true")
      const [request] = asked()
      assert.strictEqual(request!.headers["authorization"], `Basic ${btoa("notes:s3cr3t")}`)
      assert.deepStrictEqual([...request!.form], [["token", "opaque"], ["token_type_hint", "access_token"]])
    }))

  it.scoped("sees a revocation after the time for which an answer is used", () =>
    Effect.gen(function*() {
      let revoked = false
      const { asked, server } = yield* world(() => revoked ? { active: false } : active)
      yield* server.call("whoami", "opaque")
      revoked = true
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual((yield* server.call("whoami", "opaque")).status, 200)
      assert.lengthOf(asked(), 1)
      yield* TestClock.adjust("1 second")
      const refused = yield* server.call("whoami", "opaque")
      assert.strictEqual(refused.status, 401)
      assert.match(refused.challenge!, /error_description="The access token is not active"/)
    }))

  it.scoped("MUST refuse what is not active, expired, or for others", () =>
    Effect.gen(function*() {
      const answers: Record<string, object> = {
        good: active,
        string: { ...active, active: "true" },
        expired: { ...active, exp: -31 },
        audience: { ...active, aud: "https://mcp.test/other" },
        none: { ...active, aud: undefined },
        issuer: { ...active, iss: "https://other.test" },
        refresh: { ...active, token_type: "refresh_token" }
      }
      const { server } = yield* world((token) => answers[token])
      for (const token of Object.keys(answers)) {
        assert.strictEqual((yield* server.call("whoami", token)).status, token === "good" ? 200 : 401, token)
      }
    }))

  it.scoped("answers 503 when the authorization server fails, refuses this server, or sends too much", () =>
    Effect.gen(function*() {
      const { server } = yield* world((token) =>
        token === "large" ? { ...active, x: "x".repeat(300_000) } : new Response("{}", { status: Number(token) })
      )
      for (const token of ["401", "500", "302", "404", "large"]) {
        const refused = yield* server.call("whoami", token)
        assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "5"], token)
        assert.notInclude(refused.text, "s3cr3t")
      }
      // The token itself was not refused: it is introspected again.
      assert.strictEqual((yield* server.call("whoami", "500")).status, 503)
    }))

  it.scoped("waits for a slow authorization server with the requests of one token only", () =>
    Effect.gen(function*() {
      const asking = yield* Effect.makeSemaphore(0)
      const { asked, server } = yield* world((token) =>
        token === "slow" ? Effect.zipRight(asking.release(1), Effect.never) : active
      )
      yield* server.call("whoami", "known")
      const slow = yield* Effect.fork(
        Effect.all([server.call("whoami", "slow"), server.call("whoami", "slow")], { concurrency: "unbounded" })
      )
      yield* asking.take(1)
      assert.strictEqual((yield* server.call("whoami", "known")).status, 200)
      assert.strictEqual((yield* server.call("whoami", "unknown")).status, 200)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual((yield* Fiber.join(slow)).map(({ status }) => status), [503, 503])
      assert.lengthOf(asked(), 3)
    }))

  it.scoped("makes a limited number of requests at once", () =>
    Effect.gen(function*() {
      const asking = yield* Effect.makeSemaphore(0)
      const { asked, server } = yield* world(
        () => Effect.zipRight(asking.release(1), Effect.never),
        { maxConcurrent: 2, endpoint: `${Protected.ISSUER}/introspect` }
      )
      const waiting = yield* Effect.fork(
        Effect.all([server.call("whoami", "a"), server.call("whoami", "b")], { concurrency: "unbounded" })
      )
      yield* asking.take(2)
      assert.strictEqual((yield* server.call("whoami", "c")).status, 503)
      assert.lengthOf(asked(), 2)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(waiting)
    }))

  it.scoped("serves users whose tokens were active before, whatever number of invented tokens come", () =>
    Effect.gen(function*() {
      const asking = yield* Effect.makeSemaphore(0)
      const { asked, server } = yield* world((token) =>
        token.startsWith("junk") ? Effect.zipRight(asking.release(1), Effect.never) : active
      )
      const users = Array.from({ length: 10 }, (_, n) => `user-${n}`)
      const statuses = Effect.forEach(users, (token) => server.call("whoami", token), { concurrency: "unbounded" })
        .pipe(
          Effect.map((answers) => answers.map(({ status }) => status))
        )
      assert.deepStrictEqual(yield* statuses, Array(10).fill(200))
      yield* TestClock.adjust("31 seconds")
      const before = asked().length
      const junk = yield* Effect.fork(Effect.forEach(
        Array.from({ length: 150 }, (_, n) => `junk-${n}`),
        (token) => server.call("whoami", token),
        { concurrency: "unbounded" }
      ))
      yield* asking.take(64)
      assert.deepStrictEqual(yield* statuses, Array(10).fill(200))
      assert.lengthOf(asked(), before + 64 + 10)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(junk)
    }))

  it.scoped("has places of their own for known tokens, too, but not without limit", () =>
    Effect.gen(function*() {
      let isAway = false
      const asking = yield* Effect.makeSemaphore(0)
      const { server } = yield* world(
        () => isAway ? Effect.zipRight(asking.release(1), Effect.never) : active,
        { maxConcurrent: 2, cacheFor: "1 second" }
      )
      for (const token of ["a", "b", "c"]) yield* server.call("whoami", token)
      isAway = true
      yield* TestClock.adjust("2 seconds")
      const waiting = yield* Effect.forEach(["a", "b", "d", "e"], (token) => Effect.fork(server.call("whoami", token)))
      yield* asking.take(4)
      assert.strictEqual((yield* server.call("whoami", "c")).status, 503)
      assert.strictEqual((yield* server.call("whoami", "f")).status, 503)
      yield* TestClock.adjust("5 seconds")
      for (const one of waiting) yield* Fiber.join(one)
    }))

  it.scoped("refuses a token that was not active without another request, for 5 seconds", () =>
    Effect.gen(function*() {
      let answer: unknown = { active: false }
      const { asked, server } = yield* world(() => answer)
      const status = Effect.map(server.call("whoami", "opaque"), ({ status }) => status)
      for (let n = 0; n < 10; n++) assert.strictEqual(yield* status, 401)
      assert.lengthOf(asked(), 1)
      answer = active
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* status, 200)
      assert.lengthOf(asked(), 2)
    }))

  it("remembers a limited number of tokens", () => {
    const seen = SeenTokens.make()
    for (const isActive of [true, false]) {
      for (let n = 0; n < 20_000; n++) seen.set(`${isActive} ${n}`, isActive, 0)
    }
    const counted = (is: (token: string) => boolean, name: boolean) =>
      Array.from({ length: 20_000 }, (_, n) => `${name} ${n}`).filter(is).length
    assert.strictEqual(counted(seen.wasActive, true), 10_000)
    assert.strictEqual(counted((token) => seen.isInactive(token, 1), false), 1000)
    const long = (n: number) => `${n}`.padEnd(8192, "x")
    for (let n = 0; n < 300; n++) seen.set(long(n), false, 0)
    assert.strictEqual(Array.from({ length: 300 }, (_, n) => n).filter((n) => seen.isInactive(long(n), 1)).length, 128)
    seen.set("one", true, 0)
    seen.set("one", false, 0)
    assert.isFalse(seen.wasActive("one"))
  })

  it.scopedLive("makes as many requests as before after some were interrupted, wherever that was", () =>
    Effect.gen(function*() {
      const endpoint = `${Protected.ISSUER}/introspect`
      const { start } = IntrospectionVerifier.make({ client, endpoint, maxConcurrent: 1 })
      const verify = yield* start({ resource: Protected.RESOURCE, issuers: [Protected.ISSUER] })
      const verifying = Effect.forkDaemon(verify(Redacted.make("opaque")))
      yield* preempted(Effect.gen(function*() {
        const interrupted = yield* verifying
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(interrupted)
      }))
      const asking = yield* verifying
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      assert.isNull(asking.unsafePoll())
      yield* Fiber.interrupt(asking)
    }).pipe(Effect.provideService(HttpClient.HttpClient, HttpClient.make(() => Effect.never))))

  it.scoped("may have its endpoint at a private address, where the application names it", () =>
    Effect.gen(function*() {
      const endpoint = "https://10.0.0.7/introspect"
      const net = Net.make({
        "https://10.0.0.7": () => Net.json(active),
        [Protected.ISSUER]: Net.documents({
          [METADATA]: { issuer: Protected.ISSUER, introspection_endpoint: endpoint }
        })
      })
      const call = (options: Partial<IntrospectionVerifier.Options>) =>
        Effect.flatMap(
          Protected.make(net, { verifier: IntrospectionVerifier.make({ client, ...options }) }),
          (server) => Effect.map(server.call("whoami", "opaque"), ({ status }) => status)
        )
      assert.strictEqual(yield* call({ endpoint }), 200)
      // Where the metadata names it, the authorization server has.
      assert.strictEqual(yield* call({}), 503)
    }))

  it("dies when it is not known which of several authorization servers to ask", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const exit = yield* Effect.exit(Protected.make(Net.make(), {
        authorizationServers: [Protected.ISSUER, "https://b.test"],
        verifier: IntrospectionVerifier.make({ client })
      }))
      assert.isTrue(Exit.isFailure(exit))
    }))))
})

import { assert, describe, it } from "@effect/vitest"
import * as IntrospectionVerifier from "@effect-mcp/auth/IntrospectionVerifier"
import * as TokenVerifier from "@effect-mcp/auth/TokenVerifier"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Exit, Fiber, Layer, Logger, LogLevel, Redacted, TestClock, Tracer } from "effect"
import { settled } from "../../testing/test/support/Settled.js"
import * as Net from "./Net.js"
import * as Protected from "./Protected.js"

const OTHER = /error="invalid_token", error_description="The access token is not for this server"/

describe("A token", () => {
  it.scoped("MUST be for exactly this server", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const others = [
        "https://mcp.test/mcp/",
        "https://mcp.test",
        "https://mcp.test/other",
        "https://mcp.test:8443/mcp",
        "https://mcp.test/mcp#a",
        "https://mcp.test/mcp?a=b",
        "https://MCP.test/mcp",
        "http://mcp.test/mcp",
        ["https://a.test", "https://b.test"],
        [],
        [Protected.RESOURCE + "x"],
        { [Protected.RESOURCE]: true },
        undefined
      ]
      for (const aud of others) {
        const refused = yield* Effect.flatMap(login.sign({ claims: { aud } }), (token) => server.call("whoami", token))
        assert.strictEqual(refused.status, 401, JSON.stringify(aud))
        assert.match(refused.challenge!, OTHER)
      }
      const several = yield* login.sign({ claims: { aud: ["https://a.test", Protected.RESOURCE] } })
      assert.strictEqual((yield* server.call("whoami", several)).status, 200)
    }))

  it.scoped("has the scopes of the claims that the application names, and as many as there are", () =>
    Effect.gen(function*() {
      const { login, net } = yield* Protected.world()
      const statusOf = (claims: object, scopeClaims?: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const server = yield* Protected.make(net, { maxTokenLength: 100_000, ...(scopeClaims && { scopeClaims }) })
          const token = yield* login.sign({ claims: { scope: undefined, ...claims } })
          return (yield* server.call("write", token)).status
        })
      const many = Array.from({ length: 600 }, (_, n) => `scope-${n}`)
      assert.strictEqual(yield* statusOf({ scope: [...many, "notes:write"].join(" ") }), 200)
      assert.strictEqual(yield* statusOf({ permissions: ["notes:write"] }), 403)
      assert.strictEqual(yield* statusOf({ permissions: ["notes:write"] }, ["scope", "permissions"]), 200)
      assert.strictEqual(yield* statusOf({ scope: "a", permissions: ["notes:write"] }, ["scope", "permissions"]), 200)
      assert.strictEqual(yield* statusOf({ roles: "notes:write" }, ["roles"]), 200)
      assert.strictEqual(yield* statusOf({ scope: "notes:write" }, ["roles"]), 403)
      // A role with a space in its name is one role.
      assert.strictEqual(yield* statusOf({ roles: ["Readers notes:write"] }, ["roles"]), 403)
      assert.strictEqual(yield* statusOf({ scope: "notes:write", roles: [{}] }, ["scope", "roles"]), 401)
    }))

  it.scoped("for an origin is the same with and without a slash, and may have an audience that the application names", () =>
    Effect.gen(function*() {
      const { login, net } = yield* Protected.world()
      const origin = yield* Protected.make(net, { resource: "https://mcp.test" })
      for (const aud of ["https://mcp.test", "https://mcp.test/"]) {
        const token = yield* login.sign({ claims: { aud } })
        assert.strictEqual((yield* origin.call("whoami", token)).status, 200)
      }
      const named = yield* Protected.make(net, { audience: ["api://notes", "notes"] })
      const token = yield* login.sign({ claims: { aud: "notes" } })
      assert.strictEqual((yield* named.call("whoami", token)).status, 200)
      assert.strictEqual((yield* named.call("whoami", yield* login.sign())).status, 401)
    }))

  it.scoped("MUST answer 400 to what is not a token, and to one in the query, which is never used", () =>
    Effect.gen(function*() {
      const { login, net, server } = yield* Protected.world({ maxTokenLength: 1000 })
      const token = yield* login.sign()
      const malformed = [
        server.call("whoami", "Bearer "),
        server.call("whoami", "Bearer a b"),
        server.call("whoami", "Bearer a=b"),
        server.call("whoami", `Bearer ${token},`),
        server.call("whoami", "a".repeat(1001)),
        server.call("whoami", undefined, {}, `/mcp?access_token=${token}`),
        server.call("whoami", undefined, {}, `/mcp?a=b&access%5ftoken=${token}`),
        server.call("whoami", token, {}, `/mcp?access_token=${token}`)
      ]
      for (const call of malformed) {
        const refused = yield* call
        assert.strictEqual(refused.status, 400)
        assert.match(
          refused.challenge!,
          /^Bearer error="invalid_request", error_description="[^"]+", resource_metadata=/
        )
        assert.notInclude(refused.text + refused.challenge, token)
      }
      assert.lengthOf(net.received, 0)
    }))

  it.scoped("is verified with every request, also in a session", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const token = yield* login.sign({ claims: { exp: 60 } })
      const opened = yield* server.legacy(Protected.initialize, token)
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! }
      const ping = Message.request(2, "ping")
      assert.strictEqual((yield* server.legacy(ping, token, session)).status, 200)
      yield* TestClock.adjust("90 seconds")
      assert.strictEqual((yield* server.legacy(ping, token, session)).status, 401)
      const renewed = yield* login.sign()
      assert.strictEqual((yield* server.legacy(ping, renewed, session)).status, 200)
      // The same subject of another issuer or of no user is another user.
      const client = yield* login.sign({ claims: { sub: undefined, client_id: "ada" } })
      assert.strictEqual((yield* server.legacy(ping, client, session)).status, 404)
    }))

  it.scoped("names its user by issuer and subject, or by the client where there is no subject", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const id = (claims: object) =>
        Effect.map(
          Effect.flatMap(login.sign({ claims: { ...claims } }), (token) => server.call("whoami", token)),
          ({ json, status }) => status === 200 ? json.result.content[0].text.split(" ")[0] : status
        )
      assert.deepStrictEqual(
        yield* Effect.all([
          id({}),
          id({ sub: "?a" }),
          id({ sub: undefined, client_id: "a" }),
          id({ sub: undefined, client_id: undefined, azp: "b" }),
          id({ sub: undefined, client_id: undefined })
        ]),
        ["https://login.test#ada", "https://login.test#?a", "https://login.test?a", "https://login.test?b", 401]
      )
    }))

  it.scoped("has its scopes as a text or as a list", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      for (
        const claims of [
          { scope: "notes:read notes:write" },
          { scope: undefined, scp: ["notes:write"] },
          { scope: undefined, scp: "notes:write" }
        ]
      ) {
        const token = yield* login.sign({ claims })
        assert.strictEqual((yield* server.call("write", token)).status, 200)
      }
    }))
})

describe("The claims of a token", () => {
  it.scoped("that are of another type than they should be never break the server", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({ requires: ["notes:read"] })
      const cannotBeText = { toString: 1, valueOf: null }
      const refused: Array<Record<string, unknown>> = [
        { scope: { "notes:read": true } },
        { scope: cannotBeText },
        { scope: undefined, scp: cannotBeText },
        { sub: cannotBeText },
        { sub: { name: "ada" } },
        { aud: 7 },
        { aud: cannotBeText },
        { aud: [cannotBeText] },
        { aud: null },
        { exp: "tomorrow" },
        { exp: null },
        { exp: [1] },
        { nbf: "yesterday" },
        { nbf: cannotBeText },
        { iss: 7 },
        { iss: cannotBeText },
        { cnf: null },
        { cnf: "key" },
        { cnf: [] },
        { cnf: { jkt: 7 } },
        { cnf: { jkt: cannotBeText } },
        { cnf: { "x5t#S256": "abc" } },
        { sub: undefined, client_id: 7 },
        { scope: ["notes:read", cannotBeText, 7] },
        { client_id: cannotBeText, azp: 7 }
      ]
      for (const claims of refused) {
        const token = yield* login.sign({ claims })
        for (const call of [server.call("whoami", token), server.call("whoami", `DPoP ${token}`)]) {
          const { challenge, status } = yield* call
          assert.strictEqual(status, 401, JSON.stringify(claims))
          assert.match(challenge!, /error="invalid_/)
        }
      }
      const served: Array<Record<string, unknown>> = [
        { iat: cannotBeText, jti: 7, auth_time: "now" },
        { exp: 1e300 },
        { nbf: -1e300 }
      ]
      for (const claims of served) {
        const token = yield* login.sign({ claims })
        assert.strictEqual((yield* server.call("whoami", token)).status, 200, JSON.stringify(claims))
      }
    }))

  it.scoped("that a verifier of the application gives are read in the same way", () =>
    Effect.gen(function*() {
      for (
        const odd of [{ scope: Object.create(null) }, { scope: [Object.create(null)] }, { exp: 1n }, { aud: Symbol() }]
      ) {
        const claims = { aud: Protected.RESOURCE, sub: "ada", ...odd }
        const server = yield* Protected.make(Net.make(), {
          verifier: TokenVerifier.make(() => Effect.succeed({ issuer: Protected.ISSUER, claims }))
        })
        assert.notInclude([500, 503], (yield* server.call("write", "token")).status)
      }
    }))
})

/** Every type that JSON has, and the odd values of each. */
const JSON_VALUES: ReadonlyArray<unknown> = [
  undefined,
  null,
  "",
  "x",
  0,
  1001,
  -1.5,
  true,
  false,
  [],
  ["x"],
  ["x", "y"],
  ["x", 1],
  [null],
  [["x"]],
  {},
  { sub: "x" }
]

const isText = (value: unknown): boolean => typeof value === "string" && value !== ""

/** What each claim says by its value: a text, `undefined` for nothing, "refused" for a token that is refused. */
const MEANING: Readonly<Record<string, (value: unknown) => unknown>> = {
  sub: (value) => value === undefined || isText(value) ? value : "refused",
  client_id: (value) => value === undefined || value === null ? undefined : isText(value) ? value : "refused",
  azp: (value) => MEANING["client_id"]!(value),
  scope: (value) =>
    value === undefined || value === null || value === ""
      ? ""
      : typeof value === "string"
      ? value
      : Array.isArray(value) && value.every((one) => typeof one === "string")
      ? value.join(" ")
      : "refused",
  scp: (value) => MEANING["scope"]!(value)
}

/** What the server reads of a token with these claims. */
const meaningOf = (claims: Readonly<Record<string, unknown>>): string => {
  const read = Object.fromEntries(Object.keys(MEANING).map((name) => [name, MEANING[name]!(claims[name])]))
  const client = read["client_id"] ?? read["azp"]
  const isRefused = Object.values(read).includes("refused") || (read["azp"] !== undefined && read["azp"] !== client) ||
    (read["sub"] === undefined && client === undefined)
  if (isRefused) return "401"
  const id = read["sub"] === undefined ? `?${String(client)}` : `#${String(read["sub"])}`
  return `${Protected.ISSUER}${id} of ${String(client)} may ${String(read["scope"] || read["scp"])}`
}

describe("A claim that is there and cannot be read is refused, never treated as absent", () => {
  /** How the server gets the claims, and what it then answers. */
  const verifiers = {
    "a signed token": Effect.map(Protected.issuer(), (login) => ({
      handler: login.handler,
      verifier: undefined,
      token: (claims: Readonly<Record<string, unknown>>) => login.sign({ claims })
    })),
    introspection: Effect.sync(() => {
      const known = new Map<string, Readonly<Record<string, unknown>>>()
      return {
        handler: (request: Net.Received) =>
          request.url.pathname === "/introspect"
            ? Net.json({ active: true, aud: Protected.RESOURCE, ...known.get(request.form.get("token")!) })
            : Net.documents({
              "/.well-known/oauth-authorization-server": {
                issuer: Protected.ISSUER,
                introspection_endpoint: `${Protected.ISSUER}/introspect`
              }
            })(request),
        verifier: IntrospectionVerifier.make({
          client: { clientId: "notes", clientSecret: Redacted.make("s3cr3t") }
        }),
        token: (claims: Readonly<Record<string, unknown>>) =>
          Effect.sync(() => {
            const token = `token-${known.size}`
            known.set(token, claims)
            return token
          })
      }
    })
  }

  for (const [how, setting] of Object.entries(verifiers)) {
    it.scoped(`with ${how}: each claim with every type of JSON`, () =>
      Effect.gen(function*() {
        const { handler, token, verifier } = yield* setting
        const seen: Array<string> = []
        const server = yield* Protected.make(Net.make({ [Protected.ISSUER]: handler as Net.Handler }), {
          ...verifier === undefined ? {} : { verifier },
          user: (given) => {
            seen.push(`${given.id} of ${given.clientId} may ${given.scopes.join(" ")}`)
            return Effect.succeed(given)
          }
        })
        const base = { sub: "ada", client_id: undefined, azp: undefined, scope: undefined, scp: undefined }
        const sets = [
          ...Object.keys(MEANING).flatMap((name) =>
            JSON_VALUES.flatMap((value) => [{ ...base, [name]: value }, { ...base, sub: undefined, [name]: value }])
          ),
          ...JSON_VALUES.map((sub) => ({ ...base, sub, client_id: "x" })),
          { ...base, client_id: "x", azp: "x" },
          { ...base, client_id: "x", azp: "y" },
          { ...base, client_id: null, azp: "x" },
          { ...base, scope: "x", scp: [1] },
          { ...base, scope: "", scp: ["x"] }
        ]
        for (const claims of sets) {
          seen.length = 0
          const { status } = yield* server.call("whoami", yield* token(claims))
          const meaning = status === 401 ? "401" : seen[0]
          assert.strictEqual(meaning, meaningOf(claims), JSON.stringify(claims))
        }
      }))
  }
})

describe("Tokens that are not known", () => {
  it.scoped("leave places for known ones while their issuer is away, and are refused beyond a limit", () =>
    Effect.gen(function*() {
      let isAway = false
      const login = yield* Protected.issuer()
      const net = Net.make({
        [Protected.ISSUER]: (request) => isAway ? Effect.never : login.handler(request)
      })
      const server = yield* Protected.make(net, {
        concurrency: 3,
        user: (token) => Effect.as(Effect.sleep("1 seconds"), token)
      })
      const known = yield* login.sign()
      const first = yield* Effect.fork(server.call("whoami", known))
      yield* settled
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* Fiber.join(first)).status, 200)
      isAway = true
      yield* TestClock.adjust("40 seconds")
      const unknown = yield* Effect.forEach(
        ["a", "b", "c", "d", "d"],
        (kid) => Effect.flatMap(login.sign({ header: { kid } }), (token) => Effect.fork(server.call("whoami", token)))
      )
      const again = yield* Effect.forEach([known, known], (token) => Effect.fork(server.call("whoami", token)))
      yield* settled
      yield* TestClock.adjust("1 seconds")
      for (const fiber of again) assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
      yield* TestClock.adjust("1 minutes")
      const all = yield* Effect.forEach(unknown, (fiber) => Fiber.join(fiber))
      assert.deepStrictEqual(all.map(({ status }) => status), [503, 503, 503, 503, 503])
      assert.match(all[4]!.text, /too many access tokens/)
    }))
})

describe("The memory of verified tokens", () => {
  it.scoped("is bounded, and forgets the oldest", () =>
    Effect.gen(function*() {
      let verified = 0
      const server = yield* Protected.make(Net.make(), {
        maxCachedTokens: 2,
        verifier: TokenVerifier.make((token) =>
          Effect.sync(() => {
            verified++
            const claims = { aud: Protected.RESOURCE, sub: Redacted.value(token) }
            return { issuer: Protected.ISSUER, claims, isCurrent: () => true }
          })
        )
      })
      for (const token of ["a", "b", "a", "c", "b"]) yield* server.call("whoami", token)
      assert.strictEqual(verified, 3)
      yield* server.call("whoami", "a")
      assert.strictEqual(verified, 4)
    }))
})

describe("The secrets of a protected server", () => {
  it.scoped("are in no log, no span and no answer", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ annotations, cause, message }) =>
          void seen.push(JSON.stringify([message, cause, [...annotations]]))
        )
      )
      const tracer = Tracer.make({
        context: (f) => f(),
        span: (name, parent, context, links, startTime, kind, options) => {
          const attributes = new Map(Object.entries(options?.attributes ?? {}))
          return {
            _tag: "Span",
            name,
            spanId: "1",
            traceId: "1",
            parent,
            context,
            status: { _tag: "Started", startTime },
            attributes,
            links,
            sampled: true,
            kind,
            end: (_, exit) => void seen.push(name + JSON.stringify([...attributes]) + String(exit)),
            attribute: (key, value) => void seen.push(`${key} ${String(value)}`),
            event: (name, _, attributes) => void seen.push(name + JSON.stringify(attributes)),
            addLinks: () => {}
          }
        }
      })
      const answers: Array<string> = []
      yield* Effect.gen(function*() {
        const { login, net, server } = yield* Protected.world()
        const good = yield* login.sign()
        const late = yield* login.sign({ claims: { exp: -100 } })
        const secret = "hunter2-client-secret"
        const asked = yield* Protected.make(net, {
          verifier: IntrospectionVerifier.make({ client: { clientId: "notes", clientSecret: Redacted.make(secret) } })
        })
        const dying = yield* Protected.make(net, { verifier: TokenVerifier.make(() => Effect.die("broken")) })
        for (const [one, token] of [[server, good], [server, late], [asked, good], [dying, good]] as const) {
          const { challenge, text } = yield* one.call("write", token)
          answers.push(text + String(challenge))
        }
        for (const text of [...seen, ...answers]) {
          for (const part of [good.split(".")[2]!, late.split(".")[2]!, secret, btoa(`notes:${secret}`)]) {
            assert.notInclude(text, part)
          }
        }
      }).pipe(
        Effect.withSpan("all"),
        Logger.withMinimumLogLevel(LogLevel.All),
        Effect.provide(Layer.merge(logger, Layer.setTracer(tracer)))
      )
      assert.isAbove(seen.length, 2)
    }))
})

describe("The options of a protected server", () => {
  it("die for a resource that is not a URL, or has a fragment", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      for (const resource of ["notes", "https://mcp.test/mcp#a", "file:///mcp"]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Protected.make(Net.make(), { resource }))))
      }
      const issuers = ["login"] as const
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Protected.make(Net.make(), { authorizationServers: issuers }))))
    }))))

  it.scoped("MUST account for scopes that include others", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({
        covers: (granted, required) => granted.some((one) => required === one || required.startsWith(`${one}:`))
      })
      const token = yield* login.sign({ claims: { scope: "notes" } })
      assert.strictEqual((yield* server.call("purge", token)).status, 200)
      const other = yield* login.sign({ claims: { scope: "note" } })
      assert.strictEqual((yield* server.call("purge", other)).status, 403)
    }))

  it.scoped("MUST answer 403 to every request without the scopes that all need", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({ requires: ["notes:use"] })
      const token = yield* login.sign()
      const ping = Message.request(2, "ping")
      for (const refused of [yield* server.call("whoami", token), yield* server.legacy(ping, token)]) {
        assert.strictEqual(refused.status, 403)
        assert.match(refused.challenge!, / scope="notes:use", resource_metadata=/)
      }
      for (const method of ["GET", "DELETE"]) {
        const refused = yield* server.fetch("/mcp", { method, headers: { authorization: `Bearer ${token}` } })
        assert.strictEqual(refused.status, 403)
      }
      const missing = yield* server.call("whoami")
      assert.match(missing.challenge!, /^Bearer scope="notes:use"/)
    }))
})

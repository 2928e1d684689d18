import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as ClientCredentials from "@effect-mcp/auth/ClientCredentials"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import * as Dpop from "@effect-mcp/auth/Dpop"
import { Cause, Effect, Either, Exit, Layer, Logger, LogLevel, Redacted, Tracer } from "effect"
import * as Jose from "jose"
import { inspect } from "node:util"
import * as World from "./World.js"

const SECOND = "https://second.test"

/** What a reporter of errors writes that reads every member, but not what is redacted or a function. */
const everyMember = (value: unknown): string => {
  const known = new Set<unknown>()
  const walk = (one: unknown): ReadonlyArray<string> => {
    if (typeof one === "string") return [one]
    if (typeof one !== "object" || one === null || known.has(one) || Redacted.isRedacted(one)) return []
    known.add(one)
    const members = one instanceof Map
      ? [...one.entries()].flat()
      : Reflect.ownKeys(one).map((key) => Reflect.get(one, key))
    return members.flatMap(walk)
  }
  return walk(value).join("\n")
}

const gone = Effect.die(new Error("the connection was reset"))

/** A response whose body ends too early. */
const cutOff = () =>
  new Response(new ReadableStream({ pull: (one) => one.error(new Error("reset")) }), {
    headers: { "content-type": "application/json" }
  })

describe("A server that names another authorization server", () => {
  it.effect("MUST get another registration and other tokens", () =>
    Effect.gen(function*() {
      const world = World.make()
      const second = World.addServer(world, SECOND)
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* client.ping()
          world.authorizationServers[0] = SECOND
          yield* client.ping()
        }))
      const toSecond = world.net.received.filter(({ url }) => url.origin === SECOND)
      assert.lengthOf(toSecond.filter(({ url }) => url.pathname === "/register"), 1)
      const ofFirst = [...world.server.secrets(), "client-1-of-auth.test"]
      for (const { headers, text, url } of toSecond) {
        for (const one of ofFirst) assert.notInclude(JSON.stringify(headers) + text + url.href, one)
      }
      assert.strictEqual(world.opened[1]!.searchParams.get("client_id"), `client-1-of-${new URL(second.issuer).host}`)
    }))

  it.effect("leaves no tokens of the other in the store", () =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const world = World.make({ store: Layer.succeed(CredentialStore.CredentialStore, store) })
      World.addServer(world, SECOND)
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* client.ping()
          assert.isDefined(yield* store.tokens.get(World.ISSUER, World.SERVER))
          world.authorizationServers[0] = SECOND
          yield* client.ping()
          assert.isUndefined(yield* store.tokens.get(World.ISSUER, World.SERVER))
          assert.isDefined(yield* store.tokens.get(SECOND, World.SERVER))
          assert.strictEqual((yield* store.bindings.get(World.SERVER))?.issuer, SECOND)
        }))
    }))

  it.effect("MUST NOT get a refresh token or a secret of the other", () =>
    Effect.gen(function*() {
      const secret = Redacted.make("the-secret-for-auth.test")
      const world = World.make({
        clients: { known: Redacted.value(secret) },
        identity: { preRegistered: [{ issuer: World.ISSUER, clientId: "known", clientSecret: secret }] }
      })
      World.addServer(world, SECOND)
      const error = yield* World.run(world, (client) =>
        Effect.gen(function*() {
          world.authorizationServers[0] = SECOND
          return yield* Effect.flip(client.ping())
        }))
      const { message, reason } = World.causeOf(error)
      assert.strictEqual(reason, "UnknownClient")
      assert.include(message, World.ISSUER)
      assert.include(message, SECOND)
      for (const { url } of world.net.received.filter(({ url }) => url.origin === SECOND)) {
        assert.strictEqual(url.pathname, "/.well-known/oauth-authorization-server")
      }
    }))

  const DOCUMENT = "https://app.test/client"
  const grants = (world: World.World) => world.sent("POST /token").map(({ form }) => form.get("grant_type"))

  it.effect("MUST NOT get the refresh token, the key or the scopes of the other, also where the client has one id at both", () =>
    Effect.gen(function*() {
      let scope = "files:read"
      const metadata = {
        client_id_metadata_document_supported: true,
        dpop_signing_alg_values_supported: ["ES256"],
        scopes_supported: ["files:read", "files:write"]
      }
      const world = World.make({
        metadata,
        authorization: { dpop: Dpop.es256 },
        identity: { metadataDocument: DOCUMENT },
        get scope() {
          return scope
        }
      })
      World.addServer(world, SECOND, { metadata })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* client.ping()
          scope = "files:write"
          world.authorizationServers[0] = SECOND
          yield* client.ping()
        }))
      assert.deepStrictEqual(grants(world), ["authorization_code", "authorization_code"])
      for (const { headers, text, url } of world.net.received.filter(({ url }) => url.origin === SECOND)) {
        for (const one of world.server.secrets()) assert.notInclude(JSON.stringify(headers) + text + url.href, one)
      }
      assert.deepStrictEqual(
        world.opened.map(({ searchParams }) => [searchParams.get("client_id"), searchParams.get("scope")]),
        [[DOCUMENT, "files:read"], [DOCUMENT, "files:write"]]
      )
      const keys = world.sent("POST /token").map(({ headers }) => Jose.decodeProtectedHeader(headers["dpop"]!).jwk!.x)
      assert.notStrictEqual(keys[0], keys[1])
    }))

  it.effect("MUST NOT get the refresh token of the other that another program has stored meanwhile", () =>
    Effect.gen(function*() {
      const memory = yield* Effect.provide(CredentialStore.CredentialStore, CredentialStore.layerMemory)
      const secret = "the-refresh-token-of-second.test"
      const storing = Effect.zipRight(
        memory.bindings.set(
          { issuer: SECOND, resource: World.SERVER, scopes: undefined, key: undefined },
          World.SERVER
        ),
        memory.tokens.set(
          {
            accessToken: Redacted.make("expired"),
            type: "Bearer",
            expiresAt: 0,
            renewAt: 0,
            refreshToken: Redacted.make(secret),
            scopes: undefined,
            clientId: DOCUMENT
          },
          SECOND,
          World.SERVER
        )
      )
      let meanwhile: Effect.Effect<void> = Effect.void
      const store: CredentialStore.CredentialStoreService = {
        ...memory,
        exclusive: (effect, ...key) =>
          memory.exclusive(Effect.zipRight(Effect.suspend(() => meanwhile), effect), ...key)
      }
      const world = World.make({
        metadata: { client_id_metadata_document_supported: true },
        identity: { metadataDocument: DOCUMENT },
        store: Layer.succeed(CredentialStore.CredentialStore, store)
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* client.ping()
          world.server.revoke()
          meanwhile = Effect.orDie(storing)
          yield* client.ping()
        }))
      assert.deepStrictEqual(grants(world), ["authorization_code", "authorization_code"])
      for (const { text } of world.net.received) assert.notInclude(text, secret)
    }))

  it.effect("does not refresh tokens that are for another resource", () =>
    Effect.gen(function*() {
      let resource = World.SERVER
      const world = World.make({
        get resourceMetadata() {
          return { resource }
        }
      })
      yield* World.run(world, (client) =>
        Effect.gen(function*() {
          yield* client.ping()
          world.server.revoke()
          resource = `${World.SERVER}/`
          // The server takes no tokens for this resource.
          yield* Effect.flip(client.ping())
        }))
      assert.notInclude(grants(world), "refresh_token")
      assert.deepStrictEqual(
        world.sent("POST /token").slice(0, 2).map(({ form }) => form.get("resource")),
        [World.SERVER, `${World.SERVER}/`]
      )
    }))

  it.effect("cannot get tokens for all servers of its host: the metadata at its own address names no resource above it", () =>
    Effect.gen(function*() {
      for (const resource of ["https://mcp.test", "https://mcp.test/"]) {
        const world = World.make({ resourceMetadata: { resource } })
        const { message, reason } = yield* World.refused(world)
        assert.strictEqual(reason, "InvalidMetadata")
        assert.include(message, "is for \"https://mcp.test")
        assert.lengthOf(world.sent("POST /token"), 0)
      }
    }))

  it.effect("uses the one that the client is registered at, when it names several", () =>
    Effect.gen(function*() {
      const world = World.make({
        clients: { known: undefined },
        identity: { preRegistered: [{ issuer: World.ISSUER, clientId: "known" }] }
      })
      World.addServer(world, SECOND)
      world.authorizationServers.unshift(SECOND)
      yield* World.run(world, () => Effect.void)
      assert.isFalse(world.net.received.some(({ url }) => url.origin === SECOND))
    }))
})

describe("An attacker", () => {
  it.effect("cannot mix up issuers: a code of one authorization server never reaches another", () =>
    Effect.gen(function*() {
      // The honest server answers a login that the attacker's metadata began, as in a mix-up attack.
      const world = World.make({ metadata: { token_endpoint: "https://evil.test/token" }, issuer: "https://evil.test" })
      const honest = World.addServer(world, World.ISSUER)
      world.net.add("https://evil.test", ({ url }) =>
        url.pathname === "/.well-known/oauth-authorization-server"
          ? new Response(JSON.stringify({
            issuer: "https://evil.test",
            authorization_endpoint: `${World.ISSUER}/authorize`,
            token_endpoint: "https://evil.test/token",
            registration_endpoint: `${World.ISSUER}/register`,
            code_challenge_methods_supported: ["S256"]
          }))
          : new Response("{}", { status: 400 }))
      const error = yield* World.refused(world)
      assert.strictEqual(error.reason, "UntrustedResponse")
      assert.lengthOf([...honest.secrets()].filter((one) => one.startsWith("code-")), 1)
      assert.lengthOf(world.sent("POST /token"), 0)
    }))

  it.effect("cannot redirect what is posted: neither codes nor secrets follow", () =>
    Effect.gen(function*() {
      for (const status of [301, 302, 303, 307, 308]) {
        for (const path of ["/token", "/register"]) {
          const world = World.make({
            instead: ({ url }) =>
              url.pathname === path
                ? new Response(null, { status, headers: { location: `${World.ISSUER}/elsewhere` } })
                : undefined
          })
          assert.strictEqual((yield* World.refused(world)).reason, "UnsafeUrl")
          assert.lengthOf(world.sent("POST /elsewhere"), 0)
          assert.lengthOf(world.sent("GET /elsewhere"), 0)
        }
      }
    }))

  it.effect("cannot make the client keep a token response without end", () =>
    Effect.gen(function*() {
      const world = World.make({
        authorization: { maxDocumentBytes: 10_000 },
        instead: ({ url }) =>
          url.pathname === "/token"
            ? new Response(new ReadableStream({ pull: (one) => one.enqueue(new Uint8Array(1000)) }))
            : undefined
      })
      assert.strictEqual((yield* World.refused(world)).reason, "Unreachable")
    }))

  const tokenResponses: ReadonlyArray<unknown> = [
    {},
    [],
    { access_token: "" },
    { access_token: 1, token_type: "bearer" },
    { access_token: "a" },
    { access_token: "a", token_type: "mac" },
    { access_token: "a", token_type: "DPoP" },
    { access_token: "a\r\nx-injected: 1", token_type: "bearer" },
    { access_token: "a b", token_type: "bearer" },
    { access_token: "é", token_type: "bearer" },
    { error: "invalid_grant", access_token: "a", token_type: "bearer" }
  ]
  for (const response of tokenResponses) {
    it.effect(`cannot make the client use a malformed token response: ${JSON.stringify(response)}`, () =>
      Effect.gen(function*() {
        const world = World.make({
          instead: ({ url }) => url.pathname === "/token" ? new Response(JSON.stringify(response)) : undefined
        })
        assert.strictEqual((yield* World.refused(world)).reason, "TokenRefused")
      }))
  }

  it.effect("cannot get a code sent to a private address, unless the program lists its host", () =>
    Effect.gen(function*() {
      for (const privateHosts of [[], ["10.0.0.2", "0.0.1"], ["10.0.0.1"]]) {
        const isListed = privateHosts.includes("10.0.0.1")
        const world = World.make({
          metadata: { token_endpoint: "https://10.0.0.1/token" },
          authorization: { privateHosts }
        })
        world.net.add("https://10.0.0.1", world.server.handler)
        const result = yield* Effect.either(World.login(world))
        assert.strictEqual(Either.isRight(result), isListed)
        assert.lengthOf(world.sent("POST /token"), isListed ? 1 : 0)
      }
    }))

  it.effect("cannot make the client use a private authorization server, unless the client is registered there", () =>
    Effect.gen(function*() {
      const issuer = "https://auth.corp.internal"
      const program = (issuer: string) =>
        ClientCredentials.secret({ issuer, clientId: "known", clientSecret: Redacted.make("s") })
      const cases: ReadonlyArray<readonly [isRegistered: boolean, Parameters<typeof World.make>[0]]> = [
        [false, { clients: { known: undefined }, identity: {} }],
        [true, { clients: { known: undefined }, identity: { preRegistered: [{ issuer, clientId: "known" }] } }],
        [false, { clients: { known: "s" }, grant: program(World.ISSUER) }],
        [true, { clients: { known: "s" }, grant: program(issuer) }]
      ]
      for (const [isRegistered, options] of cases) {
        const world = World.make({ issuer, ...options })
        const result = yield* Effect.either(World.login(world))
        assert.strictEqual(Either.isRight(result), isRegistered)
        assert.strictEqual(world.net.received.some(({ url }) => url.origin === issuer), isRegistered)
      }
    }))

  it.effect("cannot get tokens sent over http to another machine", () =>
    Effect.gen(function*() {
      const world = World.make()
      assert.strictEqual((yield* Effect.flip(World.login(world, "http://mcp.test/mcp"))).reason, "UnsafeUrl")
      assert.deepStrictEqual(world.net.log(), [])
    }))

  it.effect("cannot get the tokens of another server by naming its host in a path", () =>
    Effect.gen(function*() {
      const world = World.make()
      world.net.add("https://evil.test", () => new Response("no", { status: 404 }))
      const sent = Effect.flatMap(
        Authorization.Authorization,
        ({ headers, login }) =>
          Effect.zipRight(
            login(World.SERVER),
            headers("https://evil.test//mcp.test/mcp", HttpClientRequest.post("https://evil.test//mcp.test/mcp"))
          )
      )
      assert.deepStrictEqual(yield* Effect.provide(sent, world.layer), {})
    }))

  it.effect("cannot find secrets in logs, errors or spans", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const write = (value: unknown) => seen.push(inspect(value, { depth: 20, showHidden: true }), everyMember(value))
      const logger = Logger.make(({ annotations, cause, message }) => {
        write(message)
        write([...annotations])
        write(Cause.pretty(cause, { renderErrorCause: true }))
      })
      const spans: Array<Tracer.Span> = []
      const native = yield* Effect.tracer
      const tracer = Tracer.make({
        span: (...options) => {
          const span = native.span(...options)
          spans.push(span)
          return span
        },
        context: (run, fiber) => native.context(run, fiber)
      })
      const failing: ReadonlyArray<World.Options> = [
        {},
        {
          instead: ({ text, url }) =>
            url.pathname === "/token"
              ? new Response(JSON.stringify({ error: "invalid_grant", error_description: text }), { status: 400 })
              : undefined
        },
        { instead: ({ text, url }) => url.pathname === "/token" ? new Response(text, { status: 500 }) : undefined },
        {
          instead: ({ url }) =>
            url.pathname === "/token"
              ? new Response(null, { status: 302, headers: { location: `https://evil.test/${url.search}` } })
              : undefined
        },
        { metadata: { token_endpoint: "https://unreachable.test/token" } },
        { insteadOfMcp: ({ headers, text }) => text.includes("echo") && headers["authorization"] ? gone : undefined },
        {
          insteadOfMcp: ({ headers, text }) => text.includes("echo") && headers["authorization"] ? cutOff() : undefined
        },
        { redirect: ({ searchParams }) => searchParams.set("iss", "https://evil.test") }
      ]
      for (const options of failing) {
        const world = World.make({
          expiresIn: 100,
          metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] },
          insteadOfMcp: ({ headers, text }) =>
            text.includes("echo") ? new Response(JSON.stringify(headers), { status: 401 }) : undefined,
          ...options
        })
        const error = yield* Effect.either(World.run(world, (client) =>
          Effect.gen(function*() {
            yield* client.ping()
            world.server.revoke()
            yield* client.ping()
            write(yield* Effect.either(client.callTool("echo")))
          }))).pipe(
            Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
            Logger.withMinimumLogLevel(LogLevel.All),
            Effect.withSpan("the application"),
            Effect.withTracer(tracer)
          )
        write(error)
        // What exporters read of a span.
        for (const { attributes, name, status } of spans) {
          write([name, attributes])
          if (status._tag === "Ended" && Exit.isFailure(status.exit)) {
            write(Cause.pretty(status.exit.cause, { renderErrorCause: true }))
          }
        }
        const all = seen.join("\n")
        assert.isAbove(world.server.secrets().size, 0)
        for (const secret of world.server.secrets()) {
          if (secret !== "") assert.notInclude(all, secret, JSON.stringify(options))
        }
      }
      assert.isAbove(spans.length, 0)
    }))
})

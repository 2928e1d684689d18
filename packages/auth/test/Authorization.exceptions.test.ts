import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import type { ProviderExceptions } from "@effect-mcp/auth/ProviderExceptions"
import * as Providers from "@effect-mcp/auth/Providers"
import { Cause, Effect, Exit, Layer, Redacted, TestClock } from "effect"
import * as StandIn from "./StandIn.js"

const { S256, SERVER, endpoints, metadata } = StandIn

const OAUTH = "/.well-known/oauth-authorization-server"

/** The authorization server of a provider, whose metadata are at another host of it. */
const ISSUER = "https://provider.test"
const NAMED = "https://mcp.provider.test"

const registration = { registration_endpoint: `${ISSUER}/register` }

const shape: StandIn.Shape = {
  named: [NAMED],
  documents: { [`${NAMED}${OAUTH}`]: metadata(ISSUER, { ...S256, ...registration }) },
  endpoints: endpoints(ISSUER)
}

const pinned: ProviderExceptions = { issuer: ISSUER, namedAs: NAMED }

/** The requests to any host but that of the MCP server. */
const elsewhere = ({ net }: StandIn.StandIn) =>
  net.received.filter(({ url }) => url.host !== new URL(SERVER).host).map(({ url }) => url.href)

/** Whether anything that the client has for a provider was sent to a host. */
const authorized = ({ net }: StandIn.StandIn) =>
  net.received.flatMap(({ headers, url }) => headers["authorization"] === undefined ? [] : [url.host])

describe("Exceptions for an authorization server", () => {
  it.effect("keep its credentials by its issuer, also for a refresh after a restart", () =>
    Effect.gen(function*() {
      const values = yield* KeyValueStore.KeyValueStore
      const credentials = CredentialStore.make(values)
      const store = Layer.succeed(CredentialStore.CredentialStore, credentials)
      const standIn = StandIn.make(shape)
      yield* StandIn.call(standIn, { exceptions: [pinned], store })
      assert.isDefined(yield* credentials.tokens.get(ISSUER, SERVER))
      assert.isDefined(yield* credentials.registrations.get(ISSUER))
      assert.isUndefined(yield* credentials.tokens.get(NAMED, SERVER))
      assert.isUndefined(yield* credentials.registrations.get(NAMED))
      yield* TestClock.adjust("2 hours")
      yield* StandIn.call(standIn, { exceptions: [pinned], store })
      assert.deepStrictEqual(
        standIn.forms.map((form) => form.get("grant_type")),
        ["authorization_code", "refresh_token"]
      )
      assert.lengthOf(standIn.opened, 1)
    }).pipe(Effect.provide(KeyValueStore.layerMemory)))

  it.effect("are of no use for another text, however alike: neither its metadata nor its client are used", () =>
    Effect.gen(function*() {
      const alike = [`${NAMED}/`, "https://MCP.provider.test", `${NAMED}:443`, `${NAMED}/tenant`, `${ISSUER}/`]
      for (const named of alike) {
        const document = metadata(ISSUER, { ...S256, ...registration })
        const documents = { ...shape.documents, [`${ISSUER}${OAUTH}`]: document, [`${NAMED}${OAUTH}/tenant`]: document }
        const standIn = StandIn.make({ ...shape, documents, named: [named] })
        const error = yield* StandIn.refusal(standIn, { exceptions: [pinned], registered: [ISSUER] })
        assert.strictEqual(error.reason, "InvalidMetadata", named)
        assert.lengthOf(standIn.opened, 0)
      }
    }))

  it.effect("do not let their host speak for a third issuer", () =>
    Effect.gen(function*() {
      for (const issuer of ["https://other.test", `${ISSUER}/`, undefined]) {
        const standIn = StandIn.make({
          ...shape,
          documents: { [`${NAMED}${OAUTH}`]: { ...metadata(ISSUER, S256), issuer } }
        })
        assert.strictEqual((yield* StandIn.refusal(standIn, { exceptions: [pinned] })).reason, "InvalidMetadata")
      }
    }))

  it.effect("do not let a server without metadata of its resource take the place of their issuer", () =>
    Effect.gen(function*() {
      const standIn = StandIn.make({
        documents: { [`https://mcp.test${OAUTH}`]: metadata(ISSUER, { ...S256, ...registration }) },
        endpoints: endpoints(ISSUER)
      })
      const error = yield* StandIn.refusal(standIn, { exceptions: [pinned], registered: [ISSUER] })
      assert.strictEqual(error.reason, "InvalidMetadata")
      assert.deepStrictEqual(elsewhere(standIn), [])
    }))

  it.effect("are not used for another authorization server: it must announce PKCE, and gets the resource", () =>
    Effect.gen(function*() {
      const other = "https://other.test"
      const exceptions = [{ issuer: ISSUER, unannouncedPkce: true, withoutResource: true, servers: [SERVER] }]
      const documents = { [`${other}${OAUTH}`]: metadata(other, { registration_endpoint: `${other}/register` }) }
      const silent = StandIn.make({ named: [other], documents, endpoints: endpoints(other) })
      assert.strictEqual((yield* StandIn.refusal(silent, { exceptions })).reason, "UnsupportedServer")
      const announced = { [`${other}${OAUTH}`]: { ...documents[`${other}${OAUTH}`], ...S256 } }
      const standIn = StandIn.make({ named: [other], documents: announced, endpoints: endpoints(other) })
      yield* StandIn.call(standIn, { exceptions })
      assert.strictEqual(standIn.opened[0]!.searchParams.get("resource"), SERVER)
      assert.strictEqual(standIn.forms[0]!.get("resource"), SERVER)
    }))

  it.effect("do not let a list without S256 pass", () =>
    Effect.gen(function*() {
      for (const methods of [[], ["plain"], ["s256"]]) {
        const standIn = StandIn.make({
          ...shape,
          documents: { [`${NAMED}${OAUTH}`]: metadata(ISSUER, { code_challenge_methods_supported: methods }) }
        })
        const exceptions = [{ ...pinned, unannouncedPkce: true }]
        const { message, reason } = yield* StandIn.refusal(standIn, { exceptions, registered: [ISSUER] })
        assert.strictEqual(reason, "UnsupportedServer")
        assert.notInclude(message, "`unannouncedPkce`")
      }
    }))
})

describe("A hostile server that names a provider", () => {
  const hostile = "https://hostile.test/mcp"
  const graph = "https://graph.test/.default"
  const kinds: Readonly<Record<string, ProviderExceptions>> = {
    "without the parameter `resource`": { ...pinned, withoutResource: true, servers: [SERVER] },
    "with endpoints by hand": {
      ...pinned,
      endpoints: { authorization: `${ISSUER}/authorize`, token: `${ISSUER}/token` },
      unannouncedPkce: true,
      servers: [SERVER]
    },
    "that ignores `resource`": { ...pinned, servers: [SERVER] }
  }
  for (const [what, exceptions] of Object.entries(kinds)) {
    it.effect(`gets no token of a provider ${what}: the user is not asked`, () =>
      Effect.gen(function*() {
        const options = { exceptions: [exceptions], registered: [ISSUER], scopes: [graph] }
        for (const named of [NAMED, ISSUER]) {
          const standIn = StandIn.make({ ...shape, server: hostile, named: [named] })
          const { message, reason } = yield* StandIn.refusal(standIn, options)
          assert.strictEqual(reason, "UnsafeUrl")
          assert.include(message, "`servers`")
          assert.lengthOf(standIn.opened, 0)
          assert.deepStrictEqual(authorized(standIn), [])
        }
        const honest = StandIn.make(shape)
        yield* StandIn.call(honest, options)
        assert.lengthOf(honest.opened, 1)
      }))
  }

  it.effect("gets no stored refresh token used for it, when the server is no longer among those that may have tokens", () =>
    Effect.gen(function*() {
      const store = yield* Effect.map(
        CredentialStore.CredentialStore,
        (one) => Layer.succeed(CredentialStore.CredentialStore, one)
      )
      const standIn = StandIn.make(shape)
      yield* StandIn.call(standIn, { exceptions: [pinned], store })
      yield* TestClock.adjust("2 hours")
      yield* standIn.revoke
      const exceptions = [{ ...pinned, servers: ["https://other.test/mcp"] }]
      assert.strictEqual((yield* StandIn.refusal(standIn, { exceptions, store })).reason, "UnsafeUrl")
      assert.lengthOf(standIn.forms, 1)
    }).pipe(Effect.provide(CredentialStore.layerMemory)))

  it.effect("gets no token that the check of the application refuses, and none is stored", () =>
    Effect.gen(function*() {
      const credentials = yield* CredentialStore.CredentialStore
      const store = Layer.succeed(CredentialStore.CredentialStore, credentials)
      const checked: Array<string> = []
      const failing = new Error("the provider is away")
      let verdict: Effect.Effect<boolean, Error> = Effect.succeed(false)
      const exceptions: ReadonlyArray<ProviderExceptions> = [{
        ...pinned,
        withoutResource: true,
        isTokenFor: (token, server) => {
          checked.push(server.href)
          return Redacted.value(token) === "" ? Effect.succeed(false) : verdict
        }
      }]
      const refused = yield* StandIn.refusal(StandIn.make(shape), { exceptions, store })
      assert.strictEqual(refused.reason, "TokenRefused")
      assert.include(refused.message, "`isTokenFor`")
      verdict = Effect.fail(failing)
      const failed = yield* StandIn.refusal(StandIn.make(shape), { exceptions, store })
      assert.strictEqual(failed.cause, failing)
      assert.isUndefined(yield* credentials.tokens.get(ISSUER, SERVER))
      verdict = Effect.succeed(true)
      const standIn = StandIn.make(shape)
      yield* standIn.use((client) =>
        Effect.gen(function*() {
          yield* client.callTool("any")
          // A token that a refresh has brought is looked at, too.
          yield* standIn.revoke
          verdict = Effect.succeed(false)
          yield* Effect.flip(client.callTool("any"))
        }), { exceptions, store: CredentialStore.layerMemory })
      assert.includeMembers(standIn.forms.map((form) => form.get("grant_type")), ["refresh_token"])
      assert.isTrue(checked.length >= 4 && checked.every((server) => server === SERVER))
    }).pipe(Effect.provide(CredentialStore.layerMemory)))
})

describe("The `iss` of a response", () => {
  const WWW = "https://www.provider.test"
  const cases: ReadonlyArray<
    readonly [sentence: string, iss: string | undefined, pin: string | undefined, works: boolean]
  > = [
    ["MUST be the issuer of the metadata", ISSUER, undefined, true],
    ["MUST NOT be another host of the provider without an exception", WWW, undefined, false],
    ["MUST NOT be the text that servers name, when the metadata name the issuer", NAMED, undefined, false],
    ["may be the text that the application has pinned", WWW, WWW, true],
    ["MUST be the pinned text exactly", `${WWW}/`, WWW, false],
    ["MUST NOT be the issuer where another text is pinned", ISSUER, WWW, false],
    ["MUST NOT be that of another server, whatever is pinned", "https://other.test", WWW, false],
    ["may be absent where the server does not always send it", undefined, WWW, true]
  ]
  for (const [sentence, iss, responseIssuer, works] of cases) {
    it.effect(sentence, () =>
      Effect.gen(function*() {
        const standIn = StandIn.make({ ...shape, ...(iss === undefined ? undefined : { iss }) })
        const options = { exceptions: [{ ...pinned, responseIssuer }] }
        if (works) return void (yield* StandIn.call(standIn, options))
        const { message, reason } = yield* StandIn.refusal(standIn, options)
        assert.strictEqual(reason, "UntrustedResponse")
        assert.include(message, `"${iss}"`)
        assert.notMatch(message, /forged/)
        assert.lengthOf(standIn.forms, 0)
      }))
  }

  it.effect("MUST be there where the server always sends it, also with an exception", () =>
    Effect.gen(function*() {
      const document = metadata(ISSUER, {
        ...S256,
        ...registration,
        authorization_response_iss_parameter_supported: true
      })
      const standIn = StandIn.make({ ...shape, documents: { [`${NAMED}${OAUTH}`]: document } })
      const exceptions = [{ ...pinned, responseIssuer: WWW }]
      assert.strictEqual((yield* StandIn.refusal(standIn, { exceptions })).reason, "UntrustedResponse")
    }))
})

describe("Endpoints by hand", () => {
  const by = (more: Partial<ProviderExceptions["endpoints"]>): ReadonlyArray<ProviderExceptions> => [{
    issuer: ISSUER,
    endpoints: { authorization: `${ISSUER}/authorize`, token: `${ISSUER}/token`, ...more },
    unannouncedPkce: true
  }]

  const named = { ...shape, named: [ISSUER] }

  it.effect("MUST be https, as those of metadata", () =>
    Effect.gen(function*() {
      const bad = [
        { token: "http://provider.test/token" },
        { token: "token" },
        { authorization: "javascript:alert(1)" },
        { authorization: "http://provider.test/authorize" },
        { registration: "http://provider.test/register" },
        { token: "https://u:p@provider.test/token" }
      ]
      for (const more of bad) {
        const standIn = StandIn.make(named)
        const error = yield* StandIn.refusal(standIn, { exceptions: by(more), registered: [ISSUER] })
        assert.strictEqual(error.reason, "UnsafeUrl")
        assert.lengthOf(standIn.forms, 0)
      }
    }))

  it.effect("take the place of what is published: nothing is requested from the well-known addresses", () =>
    Effect.gen(function*() {
      const evil = metadata(ISSUER, { ...S256, token_endpoint: "https://evil.test/token" })
      const standIn = StandIn.make({ ...named, documents: { [`${ISSUER}${OAUTH}`]: evil } })
      yield* StandIn.call(standIn, { exceptions: by({}), registered: [ISSUER] })
      assert.isFalse(elsewhere(standIn).some((url) => url.includes("/.well-known/") || url.includes("evil")))
    }))

  it.effect("need PKCE to be announced, unless the application says otherwise", () =>
    Effect.gen(function*() {
      const exceptions = by({}).map((one) => ({ ...one, unannouncedPkce: false }))
      const error = yield* StandIn.refusal(StandIn.make(named), { exceptions, registered: [ISSUER] })
      assert.strictEqual(error.reason, "UnsupportedServer")
    }))
})

describe("An answer that the application reads", () => {
  const exceptions = (readTokens: NonNullable<ProviderExceptions["readTokens"]>) => [{ ...pinned, readTokens }]

  it.effect("is checked as every answer, and an error of the function is an error of the login", () =>
    Effect.gen(function*() {
      const bad: ReadonlyArray<NonNullable<ProviderExceptions["readTokens"]>> = [
        () => ({}),
        () => ({ access_token: "a\r\nx: 1", token_type: "Bearer" }),
        () => ({ access_token: "a" }),
        () => ({ access_token: "a", token_type: "mac" }),
        (answer) => (answer["missing"] as { readonly member: Readonly<Record<string, unknown>> }).member
      ]
      for (const one of bad) {
        const { message, reason } = yield* StandIn.refusal(StandIn.make(shape), { exceptions: exceptions(one) })
        assert.strictEqual(reason, "TokenRefused")
        assert.include(message, "`readTokens`")
      }
    }))

  it.effect("is read for a refresh, too", () =>
    Effect.gen(function*() {
      const standIn = StandIn.make({ ...shape, answer: (tokens) => ({ nested: tokens }) })
      const read = (answer: Readonly<Record<string, unknown>>) => answer["nested"] as Readonly<Record<string, unknown>>
      yield* standIn.use((client) =>
        Effect.gen(function*() {
          yield* client.callTool("any")
          yield* standIn.revoke
          yield* client.callTool("any")
        }), { exceptions: exceptions(read) })
      assert.lengthOf(standIn.opened, 1)
    }))
})

describe("Exceptions that could be mixed up", () => {
  const mistakes: Readonly<
    Record<string, readonly [ReadonlyArray<ProviderExceptions>, ReadonlyArray<string>, string]>
  > = {
    "two for one issuer": [[{ issuer: ISSUER }, { issuer: ISSUER, namedAs: NAMED }], [], "another entry"],
    "two that servers name alike": [[pinned, { issuer: "https://other.test", namedAs: NAMED }], [], "another entry"],
    "one whose issuer is what servers name another": [[pinned, { issuer: NAMED }], [], "another entry"],
    "a client that is registered at what servers name": [[pinned], [NAMED], `give "${ISSUER}"`],
    "a pinned `iss` of another entry": [
      [{ ...pinned, responseIssuer: "https://other.test" }, { issuer: "https://other.test" }],
      [],
      "that this client uses, too"
    ],
    "a pinned `iss` of a server at which the client is registered": [
      [{ ...pinned, responseIssuer: "https://other.test" }],
      ["https://other.test"],
      "that this client uses, too"
    ],
    "no parameter `resource`, for any server": [[{ ...pinned, withoutResource: true }], [], "`withoutResource` needs"],
    "a server that is no URL": [[{ ...pinned, servers: ["mcp.test"] }], [], "is not a URL"],
    "a tenant of Entra that many tenants share": [
      [Providers.entra({ tenant: "common", servers: [SERVER] })],
      [],
      "Give the id of your tenant as `tenant`"
    ]
  }
  for (const [what, [exceptions, registered, text]] of Object.entries(mistakes)) {
    it.effect(`make the layer die: ${what}`, () =>
      Effect.gen(function*() {
        const standIn = StandIn.make(shape)
        const exit = yield* Effect.exit(StandIn.call(standIn, { exceptions, registered }))
        assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", text)
        assert.lengthOf(standIn.net.received, 0)
      }))
  }
})

describe("Several authorization servers", () => {
  const FIRST = "https://first.test"
  const SECOND = "https://second.test"
  const document = (issuer: string, more: object = {}) =>
    metadata(issuer, { ...S256, registration_endpoint: `${issuer}/register`, ...more })
  const both: StandIn.Shape = {
    named: [FIRST, SECOND],
    documents: { [`${FIRST}${OAUTH}`]: document(FIRST), [`${SECOND}${OAUTH}`]: document(SECOND) },
    endpoints: { ...endpoints(FIRST), ...endpoints(SECOND) }
  }
  const only = (documents: StandIn.Shape["documents"]): StandIn.Shape => ({ ...both, documents: documents! })
  const origins = ({ opened }: StandIn.StandIn) => opened.map(({ origin }) => origin)

  it.effect("are used in the order of the server, unless the application chooses", () =>
    Effect.gen(function*() {
      const asNamed = StandIn.make(both)
      yield* StandIn.call(asNamed)
      assert.deepStrictEqual(origins(asNamed), [FIRST])
      const chosen = StandIn.make(both)
      yield* StandIn.call(chosen, { authorizationServers: (named) => [...named].reverse() })
      assert.deepStrictEqual(origins(chosen), [SECOND])
    }))

  it.effect("are those that the server names: the application cannot add one, and may take none", () =>
    Effect.gen(function*() {
      const standIn = StandIn.make(both)
      const authorizationServers = () => ["https://third.test"]
      const { message, reason } = yield* StandIn.refusal(standIn, { authorizationServers })
      assert.strictEqual(reason, "UnsafeUrl")
      assert.include(message, "`authorizationServers`")
      assert.deepStrictEqual(elsewhere(standIn), [])
    }))

  it.effect("begin with the one of a fixed client, by its pinned name, too", () =>
    Effect.gen(function*() {
      const standIn = StandIn.make({
        ...both,
        named: [FIRST, NAMED],
        documents: { ...both.documents, ...shape.documents },
        endpoints: { ...both.endpoints, ...shape.endpoints }
      })
      yield* StandIn.call(standIn, { exceptions: [pinned], registered: [ISSUER] })
      assert.deepStrictEqual(origins(standIn), [ISSUER])
    }))

  it.effect("are followed by the next when the metadata of one cannot be used", () =>
    Effect.gen(function*() {
      const second = { [`${SECOND}${OAUTH}`]: document(SECOND) }
      const unusable: ReadonlyArray<StandIn.Shape["documents"]> = [
        second,
        { ...second, [`${FIRST}${OAUTH}`]: document("https://other.test") },
        { ...second, [`${FIRST}${OAUTH}`]: document(FIRST, { token_endpoint: "http://first.test/token" }) },
        { ...second, [`${FIRST}${OAUTH}`]: { ...document(FIRST), token_endpoint: undefined } }
      ]
      for (const documents of unusable) {
        const standIn = StandIn.make(only(documents))
        yield* StandIn.call(standIn)
        assert.deepStrictEqual(origins(standIn), [SECOND])
      }
      const none = yield* StandIn.refusal(StandIn.make(only({})))
      assert.strictEqual(none.reason, "InvalidMetadata")
      assert.include(none.message, FIRST)
      assert.include(none.message, SECOND)
    }))

  it.effect("are not followed by the next after a denial, a refused registration or a refused token", () =>
    Effect.gen(function*() {
      const denied = StandIn.make({ ...both, iss: "https://other.test" })
      assert.strictEqual((yield* StandIn.refusal(denied)).reason, "UntrustedResponse")
      const registration = () => new Response("{}", { status: 403 })
      const unknown = StandIn.make({ ...both, registration })
      assert.strictEqual((yield* StandIn.refusal(unknown)).reason, "UnknownClient")
      const refused = StandIn.make({ ...both, answer: () => ({ error: "invalid_grant" }) })
      assert.strictEqual((yield* StandIn.refusal(refused)).reason, "TokenRefused")
      for (const standIn of [denied, unknown, refused]) {
        assert.isFalse(elsewhere(standIn).some((url) => url.startsWith(SECOND)))
      }
    }))

  it.effect("are not left for the next while the one with stored credentials is away", () =>
    Effect.gen(function*() {
      const store = yield* Effect.map(CredentialStore.CredentialStore, (one) =>
        Layer.succeed(CredentialStore.CredentialStore, one))
      const standIn = StandIn.make(both)
      yield* StandIn.call(standIn, { store })
      yield* standIn.revoke
      const away = { ...both, endpoints: endpoints(SECOND) }
      const later = StandIn.make(away)
      later.net.add(FIRST, () =>
        new Response("", { status: 503 }))
      assert.strictEqual((yield* StandIn.refusal(later, { store })).reason, "Unreachable")
      assert.lengthOf(later.opened, 0)
      // One that the client has nothing for is left.
      const first = StandIn.make(away)
      first.net.add(FIRST, () => new Response("", { status: 503 }))
      yield* StandIn.call(first)
      assert.deepStrictEqual(origins(first), [SECOND])
    }).pipe(Effect.provide(CredentialStore.layerMemory)))

  it.effect("are tried to a bound", () =>
    Effect.gen(function*() {
      const named = Array.from({ length: 1000 }, (_, at) => `https://as-${at}.test`)
      const standIn = StandIn.make({ named, documents: {} })
      const { message } = yield* StandIn.refusal(standIn)
      assert.isAtMost(message.length, 4000)
      assert.lengthOf(new Set(elsewhere(standIn).map((url) => new URL(url).host)), 4)
    }))

  it.effect("are an error for a client that is registered elsewhere only, also as the next", () =>
    Effect.gen(function*() {
      const elsewhere = StandIn.make(both)
      const { message, reason } = yield* StandIn.refusal(elsewhere, { registered: ["https://other.test"] })
      assert.strictEqual(reason, "UnknownClient")
      for (const text of ["https://other.test", FIRST, SERVER, "`dynamicRegistration: true`"]) {
        assert.include(message, text)
      }
      const next = StandIn.make(only({ [`${SECOND}${OAUTH}`]: document(SECOND) }))
      assert.strictEqual((yield* StandIn.refusal(next, { registered: [FIRST] })).reason, "UnknownClient")
      for (const standIn of [elsewhere, next]) {
        assert.lengthOf(
          standIn.net.received.filter(({ method, url }) => method === "POST" && url.pathname === "/register"),
          0
        )
      }
      const allowed = StandIn.make(both)
      yield* StandIn.call(allowed, { registered: ["https://other.test"], identity: { dynamicRegistration: true } })
      assert.lengthOf(allowed.opened, 1)
    }))
})

describe("The scopes that were requested", () => {
  it.effect("are kept where the authorization server names them in another way, until the server refuses one again", () =>
    Effect.gen(function*() {
      const standIn = StandIn.make({
        ...shape,
        tools: { read: "email", admin: "admin" },
        answer: (tokens) => ({ ...tokens, scope: "openid https://provider.test/auth/email" })
      })
      yield* standIn.use((client) =>
        Effect.gen(function*() {
          yield* client.callTool("read")
          yield* client.callTool("admin")
          yield* client.callTool("read")
        }), { exceptions: [pinned], scopes: ["email"] })
      assert.deepStrictEqual(standIn.opened.map(({ searchParams }) => searchParams.get("scope")), [
        "email",
        "email admin"
      ])
    }))
})

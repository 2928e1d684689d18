import { assert, describe, it } from "@effect/vitest"
import type { Reason } from "@effect-mcp/auth/AuthorizationError"
import type { ProviderExceptions } from "@effect-mcp/auth/ProviderExceptions"
import * as Providers from "@effect-mcp/auth/Providers"
import { Effect, Redacted } from "effect"
import * as StandIn from "./StandIn.js"

const { S256, SERVER, endpoints, metadata } = StandIn

const OAUTH = "/.well-known/oauth-authorization-server"
const OPENID = "/.well-known/openid-configuration"

const servers = [SERVER]

/** An authorization server that many are like: at one address, with registration and S256. */
const usual = (issuer: string, address: string, more: object = {}): StandIn.Shape => ({
  named: [issuer],
  documents: {
    [address]: metadata(issuer, { ...S256, registration_endpoint: `${issuer.replace(/\/$/, "")}/register`, ...more })
  },
  endpoints: endpoints(issuer)
})

const AUTH0 = "https://acme.us.auth0.test/"

const auth0 = usual(AUTH0, `${AUTH0.slice(0, -1)}${OAUTH}`)

const GOOGLE = "https://accounts.google.com"

const google: StandIn.Shape = {
  named: [GOOGLE],
  documents: {
    [`${GOOGLE}${OPENID}`]: metadata(GOOGLE, { ...S256, token_endpoint: "https://oauth2.googleapis.com/token" })
  },
  endpoints: { [`${GOOGLE}/authorize`]: "/authorize", "https://oauth2.googleapis.com/token": "/token" },
  answer: (tokens) => ({ ...tokens, scope: "openid" })
}

const GITHUB = "https://github.com/login/oauth"

const TENANT = "https://login.microsoftonline.com/2f1c/v2.0"
const COMMON = "https://login.microsoftonline.com/common/v2.0"

const entra: StandIn.Shape = {
  named: [TENANT],
  documents: {
    [`${TENANT}${OPENID}`]: metadata(TENANT),
    [`${COMMON}${OPENID}`]: metadata("https://login.microsoftonline.com/{tenantid}/v2.0")
  },
  endpoints: endpoints(TENANT),
  refusesResource: true
}

const COGNITO = "https://cognito-idp.eu-west-1.amazonaws.com/pool"
const AWS = "https://eu-west-1.oauth.signin.aws"

const SLACK = "https://slack.com"

const slack: StandIn.Shape = {
  named: ["https://mcp.slack.com"],
  documents: {
    [`https://mcp.slack.com${OAUTH}`]: metadata(SLACK, {
      ...S256,
      authorization_endpoint: `${SLACK}/oauth/v2_user/authorize`,
      token_endpoint: `${SLACK}/api/oauth.v2.user.access`,
      token_endpoint_auth_methods_supported: ["client_secret_post"]
    })
  },
  endpoints: {
    [`${SLACK}/oauth/v2_user/authorize`]: "/authorize",
    [`${SLACK}/api/oauth.v2.user.access`]: "/token"
  }
}

const ofUser = ({ access_token: token, expires_in: expires }: Readonly<Record<string, unknown>>) => ({
  ok: true,
  authed_user: { id: "U1", access_token: token, expires_in: expires, token_type: "user" }
})

const CLOUDFLARE = "https://cf.mcp.atlassian.com"

const ghes = "https://ghe.acme.test/login/oauth"

const OKTA = "https://acme.okta.test/oauth2/default"

const NAMECHEAP = "https://auth.namecheap.test"

interface Row {
  readonly shape: StandIn.Shape
  /** The issuers at which the client is registered by hand. */
  readonly registered?: ReadonlyArray<string>
  readonly exceptions?: ReadonlyArray<ProviderExceptions>
  /** How the login ends without exceptions. Default: it works. */
  readonly without?: readonly [reason: Reason, text: string]
  /** Whether the login works with the exceptions. */
  readonly works: boolean
}

const rows: Readonly<Record<string, Row>> = {
  "Auth0, with the slash of its issuer": { shape: auth0, works: true },
  "Auth0, named without the slash": {
    shape: { ...auth0, named: [AUTH0.slice(0, -1)] },
    exceptions: [{ issuer: AUTH0, namedAs: AUTH0.slice(0, -1) }],
    without: ["InvalidMetadata", "`namedAs`"],
    works: true
  },
  "Auth0 without registration": {
    shape: usual(AUTH0, `${AUTH0.slice(0, -1)}${OAUTH}`, { registration_endpoint: undefined }),
    without: ["UnknownClient", "`preRegistered`"],
    works: false
  },
  "Linear and WorkOS, at one origin": { shape: usual("https://mcp.test", `https://mcp.test${OAUTH}`), works: true },
  "an old workers-oauth-provider without metadata of the resource": {
    shape: { ...usual("https://mcp.test", `https://mcp.test${OAUTH}`), named: undefined },
    works: true
  },
  "Notion and Coder, whose resource is the origin": {
    shape: {
      ...usual("https://mcp.test", `https://mcp.test${OAUTH}`),
      named: undefined,
      documents: {
        "https://mcp.test/.well-known/oauth-protected-resource": {
          resource: "https://mcp.test",
          authorization_servers: ["https://mcp.test"]
        },
        [`https://mcp.test${OAUTH}`]: metadata("https://mcp.test", {
          ...S256,
          registration_endpoint: "https://mcp.test/register"
        })
      }
    },
    works: true
  },
  "Google": {
    shape: google,
    registered: [GOOGLE],
    exceptions: [Providers.google({ servers })],
    works: true
  },
  "Google Workspace, named with a slash": {
    shape: { ...google, named: [`${GOOGLE}/`] },
    registered: [GOOGLE],
    exceptions: [Providers.google({ servers })],
    without: ["InvalidMetadata", "`namedAs`"],
    works: true
  },
  "GitHub": {
    shape: {
      ...usual(GITHUB, `https://github.com${OAUTH}/login/oauth`, { registration_endpoint: undefined }),
      answer: (tokens) => ({ ...tokens, scope: "repo,gist" })
    },
    registered: [GITHUB],
    exceptions: [Providers.github({ servers })],
    works: true
  },
  "GitHub Enterprise Server, without metadata": {
    shape: {
      named: [ghes],
      endpoints: { [`${ghes}/authorize`]: "/authorize", [`${ghes}/access_token`]: "/token" }
    },
    registered: [ghes],
    exceptions: [Providers.githubEnterprise({ host: "ghe.acme.test", servers })],
    without: ["InvalidMetadata", "`endpoints`"],
    works: true
  },
  "Okta, whose registration answers 401": {
    shape: {
      ...usual(OKTA, `https://acme.okta.test${OAUTH}/oauth2/default`),
      registration: () => new Response("{\"errorCode\":\"E0000004\",\"errorSummary\":\"failed\"}", { status: 401 })
    },
    without: ["UnknownClient", "`preRegistered`"],
    works: false
  },
  "Okta, with a fixed client": {
    shape: usual(OKTA, `https://acme.okta.test${OAUTH}/oauth2/default`),
    registered: [OKTA],
    works: true
  },
  "Okta, with metadata below its issuer only": {
    shape: usual(OKTA, `${OKTA}${OAUTH}`),
    exceptions: [Providers.okta({ issuer: OKTA })],
    without: ["InvalidMetadata", "publishes no metadata"],
    works: true
  },
  "Keycloak, whose policy refuses a registration": {
    shape: {
      ...usual("https://kc.test/realms/r", `https://kc.test${OAUTH}/realms/r`),
      registration: () => new Response("{\"error\":\"invalid_client_metadata\"}", { status: 403 })
    },
    registered: ["https://kc.test/realms/r"],
    works: true
  },
  "Entra": {
    shape: entra,
    registered: [TENANT],
    exceptions: [Providers.entra({ tenant: "2f1c", servers })],
    without: ["UnsupportedServer", "`unannouncedPkce`"],
    works: true
  },
  "Entra, with PKCE but with the parameter `resource`": {
    shape: entra,
    registered: [TENANT],
    exceptions: [{ issuer: TENANT, unannouncedPkce: true }],
    without: ["UnsupportedServer", "PKCE"],
    works: false
  },
  "Entra, named by what many tenants share": {
    shape: { ...entra, named: [COMMON] },
    registered: [TENANT],
    exceptions: [Providers.entra({ tenant: "2f1c", servers, namedAs: COMMON })],
    without: ["InvalidMetadata", "name the tenant"],
    works: true
  },
  "Cognito": {
    shape: {
      named: [COGNITO],
      documents: { [`${COGNITO}${OPENID}`]: metadata(COGNITO) },
      endpoints: endpoints(COGNITO)
    },
    registered: [COGNITO],
    exceptions: [Providers.cognito({ region: "eu-west-1", userPool: "pool" })],
    without: ["UnsupportedServer", "`unannouncedPkce`"],
    works: true
  },
  "AWS Sign-In": {
    shape: usual(AWS, `${AWS}${OAUTH}`, { code_challenge_methods_supported: undefined }),
    exceptions: [Providers.awsSignIn({ region: "eu-west-1" })],
    without: ["UnsupportedServer", "`unannouncedPkce`"],
    works: true
  },
  "Slack": {
    shape: slack,
    registered: [SLACK],
    exceptions: [Providers.slack({ servers })],
    without: ["InvalidMetadata", "`namedAs`"],
    works: true
  },
  "Slack, when its metadata name mcp.slack.com": {
    shape: {
      ...slack,
      documents: {
        [`https://mcp.slack.com${OAUTH}`]: {
          ...slack.documents![`https://mcp.slack.com${OAUTH}`] as object,
          issuer: "https://mcp.slack.com"
        }
      }
    },
    registered: [SLACK],
    exceptions: [Providers.slack({ servers })],
    without: ["UnknownClient", SLACK],
    works: true
  },
  "Slack, with the token of a user": {
    shape: { ...slack, answer: ofUser },
    registered: [SLACK],
    exceptions: [Providers.slack({ servers })],
    without: ["InvalidMetadata", "`namedAs`"],
    works: true
  },
  "Slack, with a token of type user, or of none": {
    shape: { ...slack, answer: (tokens) => ({ ...tokens, token_type: undefined }) },
    registered: [SLACK],
    exceptions: [Providers.slack({ servers })],
    without: ["InvalidMetadata", "`namedAs`"],
    works: true
  },
  "Slack, with the token of a bot only": {
    shape: { ...slack, answer: (tokens) => ({ ...tokens, token_type: "bot", authed_user: { id: "U1" } }) },
    registered: [SLACK],
    exceptions: [Providers.slack({ servers })],
    without: ["InvalidMetadata", "`namedAs`"],
    works: false
  },
  "Atlassian, without metadata of the resource": {
    shape: {
      server: "https://mcp.atlassian.com/v1/mcp",
      documents: {
        [`https://mcp.atlassian.com${OAUTH}`]: metadata(CLOUDFLARE, {
          ...S256,
          registration_endpoint: `${CLOUDFLARE}/register`
        })
      },
      endpoints: endpoints(CLOUDFLARE)
    },
    exceptions: [Providers.atlassian],
    without: ["InvalidMetadata", "`namedAs`"],
    works: true
  },
  "Atlassian, a tenant": {
    shape: {
      named: ["https://auth.atlassian.com/acme"],
      documents: {
        [`https://auth.atlassian.com${OAUTH}/acme`]: metadata("https://auth.atlassian.com", {
          ...S256,
          registration_endpoint: "https://auth.atlassian.com/register"
        })
      },
      endpoints: endpoints("https://auth.atlassian.com")
    },
    exceptions: [Providers.atlassianTenant("acme")],
    without: ["InvalidMetadata", "`namedAs`"],
    works: true
  },
  "Meta": {
    shape: {
      server: "https://mcp.facebook.com/ads",
      named: ["https://mcp.facebook.com/ads"],
      documents: { [`https://mcp.facebook.com${OAUTH}/ads`]: metadata("https://www.facebook.com", S256) },
      endpoints: endpoints("https://www.facebook.com")
    },
    registered: ["https://www.facebook.com"],
    exceptions: [Providers.meta],
    without: ["InvalidMetadata", "`namedAs`"],
    works: true
  },
  "Namecheap, whose responses name another host": {
    shape: { ...usual(NAMECHEAP, `${NAMECHEAP}${OAUTH}`), iss: "https://www.namecheap.test" },
    exceptions: [{ issuer: NAMECHEAP, responseIssuer: "https://www.namecheap.test" }],
    without: ["UntrustedResponse", "`responseIssuer`"],
    works: true
  },
  "a challenge whose address has nothing": {
    shape: {
      ...usual(NAMECHEAP, `${NAMECHEAP}${OAUTH}`),
      challenge:
        `Bearer resource_metadata="https://mcp.test/gone", Bearer resource_metadata="https://mcp.test/.well-known/oauth-protected-resource/mcp"`
    },
    works: true
  }
}

describe("A login at an authorization server as it is", () => {
  for (const [name, { exceptions = [], registered = [], shape, without, works }] of Object.entries(rows)) {
    if (without === undefined) {
      it.effect(`${name}: works as it is`, () => StandIn.call(StandIn.make(shape), { registered }))
    } else {
      it.effect(`${name}: is refused, and the error says what would help`, () =>
        Effect.gen(function*() {
          const standIn = StandIn.make(shape)
          const { message, reason } = yield* StandIn.refusal(standIn, { registered })
          assert.strictEqual(reason, without[0])
          assert.include(message, without[1])
          assert.lengthOf(standIn.forms, 0)
        }))
    }
    if (exceptions.length === 0) continue
    it.effect(`${name}: ${works ? "works" : "is refused"} with the exceptions`, () =>
      Effect.gen(function*() {
        const standIn = StandIn.make(shape)
        const options = { registered, exceptions }
        if (!works) return void (yield* StandIn.refusal(standIn, options))
        yield* StandIn.call(standIn, options)
        assert.strictEqual(standIn.opened[0]!.searchParams.get("code_challenge_method"), "S256")
        assert.lengthOf(standIn.forms, 1)
      }))
  }

  for (
    const [what, change] of Object.entries({
      "a life in a text": { expires_in: "5250" },
      "a life of 0": { expires_in: 0 },
      "a life that is not an integer": { expires_in: 3599.5 },
      "a type in lower case": { token_type: "bearer" },
      "nulls": { refresh_token: null, scope: null, id_token: null }
    })
  ) {
    it.effect(`an answer with ${what}: works as it is`, () => {
      const shape = usual(NAMECHEAP, `${NAMECHEAP}${OAUTH}`)
      return StandIn.call(StandIn.make({ ...shape, answer: (tokens) => ({ ...tokens, ...change }) }))
    })
  }

  const form = (answer: (tokens: Record<string, string>) => Record<string, string>, more = "") => {
    const shape = usual(NAMECHEAP, `${NAMECHEAP}${OAUTH}`)
    return StandIn.make({
      ...shape,
      answer: (tokens) => `${new URLSearchParams(answer(tokens as Record<string, string>)).toString()}${more}`
    })
  }

  it.effect("an answer that is a form: works as it is", () => StandIn.call(form((tokens) => tokens)))

  it.effect("an answer that is a form, and has a member twice, is refused", () =>
    Effect.gen(function*() {
      const { message, reason } = yield* StandIn.refusal(form((tokens) => tokens, "&access_token=other"))
      assert.strictEqual(reason, "TokenRefused")
      assert.include(message, "issued no access token")
    }))

  it.effect("an error that is answered with 200 is read as an error", () =>
    Effect.gen(function*() {
      const answer = () => ({ ok: false, error: "bad_code" })
      const standIn = StandIn.make({ ...slack, answer })
      const error = yield* StandIn.refusal(standIn, { registered: [SLACK], exceptions: [Providers.slack({ servers })] })
      assert.deepInclude(error, { reason: "TokenRefused", error: "bad_code" })
    }))
})

describe("A client that the token endpoint does not know", () => {
  const unknown = (client: { readonly clientSecret?: Redacted.Redacted<string> }) =>
    StandIn.refusal(StandIn.make(google), {
      exceptions: [Providers.google({ servers })],
      identity: { preRegistered: [{ issuer: GOOGLE, clientId: StandIn.CLIENT_ID, ...client }] }
    })

  it.effect("is told that no secret is configured, where none is", () =>
    Effect.gen(function*() {
      const { error, message } = yield* unknown({})
      assert.strictEqual(error, "invalid_client")
      assert.include(
        message,
        ". The client has sent no secret, because none is configured: if it is registered with one, give its `clientSecret`"
      )
    }))

  it.effect("is told nothing of the kind where its secret is wrong", () =>
    Effect.gen(function*() {
      const { error, message } = yield* unknown({ clientSecret: Redacted.make("another secret") })
      assert.strictEqual(error, "invalid_client")
      assert.notInclude(message, "is configured")
    }))
})

describe("The exceptions of a provider", () => {
  it.effect("Google is asked for a refresh token, unless the application has parameters of its own", () =>
    Effect.gen(function*() {
      const options = { registered: [GOOGLE], exceptions: [Providers.google({ servers })] }
      const standIn = StandIn.make(google)
      yield* StandIn.call(standIn, options)
      yield* StandIn.call(standIn, { ...options, identity: { parameters: { prompt: "select_account" } } })
      const asked = standIn.opened.map((
        { searchParams }
      ) => [searchParams.get("access_type"), searchParams.get("prompt")])
      assert.deepStrictEqual(asked, [["offline", "consent"], ["offline", "select_account"]])
    }))

  it.effect("Entra gets no resource in any request, and a refresh works", () =>
    Effect.gen(function*() {
      const standIn = StandIn.make(entra)
      const options = { registered: [TENANT], exceptions: [Providers.entra({ tenant: "2f1c", servers })] }
      yield* standIn.use((client) =>
        Effect.gen(function*() {
          yield* client.callTool("any")
          yield* standIn.revoke
          yield* client.callTool("any")
        }), options)
      assert.deepStrictEqual(
        standIn.forms.map((form) => [form.get("grant_type"), form.get("resource")]),
        [["authorization_code", null], ["refresh_token", null]]
      )
      assert.isFalse(standIn.opened[0]!.searchParams.has("resource"))
      // The error of a request with the parameter names what would help.
      const pkce = [{ issuer: TENANT, unannouncedPkce: true }]
      const { error, message } = yield* StandIn.refusal(StandIn.make(entra), { registered: [TENANT], exceptions: pkce })
      assert.strictEqual(error, "invalid_target")
      assert.include(message, "`withoutResource`")
      assert.notInclude(message, "..")
    }))

  it.effect("GitHub's scopes with commas stay those that were requested", () =>
    Effect.gen(function*() {
      const standIn = StandIn.make({
        ...usual(GITHUB, `https://github.com${OAUTH}/login/oauth`),
        tools: { read: "repo", write: "gist" },
        answer: (tokens) => ({ ...tokens, scope: String(tokens["scope"]).replaceAll(" ", ",") })
      })
      const options = { registered: [GITHUB], scopes: ["user", "repo"] }
      yield* standIn.use((client) =>
        Effect.gen(function*() {
          yield* client.callTool("read")
          yield* client.callTool("write")
          yield* client.callTool("read")
        }), options)
      assert.deepStrictEqual(
        standIn.opened.map(({ searchParams }) => searchParams.get("scope")),
        ["user repo", "user repo gist"]
      )
    }))
})

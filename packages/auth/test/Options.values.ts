/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted, and what it then requires; nothing runs.
 */
import type { HttpClient } from "@effect/platform"
import type * as AccessToken from "@effect-mcp/auth/AccessToken"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import * as DeviceAuthorization from "@effect-mcp/auth/DeviceAuthorization"
import * as Dpop from "@effect-mcp/auth/Dpop"
import * as EnterpriseManaged from "@effect-mcp/auth/EnterpriseManaged"
import type * as Grant from "@effect-mcp/auth/Grant"
import * as IntrospectionVerifier from "@effect-mcp/auth/IntrospectionVerifier"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as CredentialDirectory from "@effect-mcp/auth/node/CredentialDirectory"
import * as LoopbackBrowser from "@effect-mcp/auth/node/LoopbackBrowser"
import type * as ProviderExceptions from "@effect-mcp/auth/ProviderExceptions"
import * as Providers from "@effect-mcp/auth/Providers"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as TokenExchange from "@effect-mcp/auth/TokenExchange"
import * as TokenVerifier from "@effect-mcp/auth/TokenVerifier"
import * as WorkloadIdentity from "@effect-mcp/auth/WorkloadIdentity"
import type * as Authenticator from "@effect-mcp/core/Authenticator"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import { Console, Context, Effect, Redacted, Schema } from "effect"
import { expectTypeOf } from "vitest"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class Vault extends Context.Tag("test/Vault")<Vault, { readonly secret: Redacted.Redacted<string> }>() {}
class Members extends Context.Tag("test/Members")<Members, { readonly teams: ReadonlyMap<string, string> }>() {}
class Teams extends Context.Tag("test/Teams")<Teams, ReadonlyArray<string>>() {}
interface Member extends AccessToken.Granted {
  readonly team: string
}
class User extends Context.Tag("test/User")<User, Member>() {}

const secret = Redacted.make("secret")

const subjectToken = Effect.map(Vault, ({ secret }) => secret)

const client = { clientId: "notes", clientSecret: secret, authMethod: "client_secret_basic" } as const

const preRegistered = { ...client, issuer: "https://login.example.com" }

const exceptions = {
  issuer: "https://login.example.com",
  namedAs: "https://example.com",
  responseIssuer: "https://www.example.com",
  metadataUrl: "https://login.example.com/metadata.json",
  endpoints: {
    authorization: "https://login.example.com/authorize",
    token: "https://login.example.com/token",
    registration: "https://login.example.com/register",
    revocation: "https://login.example.com/revoke",
    authMethods: ["client_secret_post"]
  } satisfies Every<ProviderExceptions.Endpoints>,
  unannouncedPkce: true,
  servers: ["https://example.com/mcp"],
  isTokenFor: (token, server) => Effect.succeed(Redacted.value(token).startsWith(server.host)),
  withoutResource: true,
  readTokens: (answer) => ({ ...(answer.authed_user as object), token_type: "Bearer" }),
  parameters: { access_type: "offline" }
} satisfies Every<ProviderExceptions.ProviderExceptions>

const authorization = {
  scopes: ["notes:read"],
  privateHosts: ["login.company.example"],
  requestTimeout: "5 seconds",
  maxDocumentBytes: 100_000,
  dpop: Dpop.es256,
  authorizationServers: (named) => named.filter((one) => one.startsWith("https://login.")),
  exceptions: [
    Providers.entra({
      tenant: "contoso",
      servers: ["https://example.com/mcp"],
      namedAs: "https://login.microsoftonline.com/common/v2.0"
    }),
    exceptions
  ]
} satisfies Every<Authorization.Options>

const code = {
  name: "My program",
  preRegistered: [preRegistered],
  metadataDocument: "https://example.com/client.json",
  dynamicRegistration: false,
  metadata: { client_uri: "https://example.com" },
  ask: ({ issuer }) => Effect.succeed({ clientId: issuer }),
  loginTimeout: "5 minutes",
  offlineAccess: true,
  parameters: { audience: "notes" }
} satisfies Every<AuthorizationCode.Options>

const device = {
  preRegistered: [preRegistered],
  metadataDocument: "https://example.com/client.json",
  ask: ({ issuer }) => Effect.succeed({ clientId: issuer }),
  show: ({ host, userCode, verificationUri }) => Console.log(host, verificationUri, userCode),
  loginTimeout: "5 minutes",
  offlineAccess: true
} satisfies Every<DeviceAuthorization.Options>

export const onDevice = DeviceAuthorization.make(device)

const enterprise = {
  provider: { tokenEndpoint: "https://work.example.com/token", client, subjectToken, subjectTokenType: "id_token" },
  client: preRegistered
} satisfies Every<EnterpriseManaged.Options<Vault>>

const exchange = { client: preRegistered, subjectToken, subjectTokenType: "jwt", audience: "notes" } satisfies Every<
  TokenExchange.Options<Vault>
>

const workload = { issuer: "https://login.example.com", token: subjectToken, clientId: "notes" } satisfies Every<
  WorkloadIdentity.Options<Vault>
>

export const post = { client, isConfigured: true } satisfies Every<Grant.PostOptions>

export const authorized = [
  Authorization.layer(AuthorizationCode.make(code), authorization),
  Authorization.layer(EnterpriseManaged.make(enterprise), authorization),
  Authorization.layer(TokenExchange.make(exchange), authorization),
  Authorization.layer(WorkloadIdentity.make(workload), authorization)
]

const request = {
  requestTimeout: "5 seconds",
  maxDocumentBytes: 100_000,
  privateHosts: ["login.company.example"]
} satisfies Every<
  TokenVerifier.RequestOptions
>

const introspection = {
  ...request,
  client,
  issuer: "https://login.example.com",
  endpoint: "https://login.example.com/introspect",
  cacheFor: "30 seconds",
  maxConcurrent: 16
} satisfies Every<IntrospectionVerifier.Options>

const jwt = {
  ...request,
  keySets: { "https://login.example.com": "https://login.example.com/keys" },
  keys: { "https://work.example.com": [{ kty: "EC" }] },
  algorithms: ["ES256"],
  requireType: true,
  refreshInterval: "30 seconds"
} satisfies Every<JwtVerifier.Options>

const dpop = { required: true, maxAge: "1 minute", maxProofs: 1000, nonce: "5 minutes" } satisfies Every<
  ResourceServer.DpopOptions
>

/** Decoding the claims needs a service, too. */
const Team = Schema.transformOrFail(Schema.String, Schema.String, {
  decode: (team) => Effect.as(Teams, team),
  encode: (team) => Effect.succeed(team)
})

const server = {
  resource: "https://mcp.example.com/mcp",
  authorizationServers: ["https://login.example.com"],
  verify: JwtVerifier.make(jwt),
  scopes: ["notes:read"],
  requires: ["notes:read"],
  scopeClaims: ["scope", "permissions"],
  covers: (granted, required) => granted.includes(required),
  audience: ["notes"],
  claims: Schema.Struct({ team: Team }),
  stdio: ({ TEAM }) => Effect.as(Vault, { id: "local", scopes: [], team: TEAM ?? "" }),
  inProcess: Effect.as(Vault, { id: "test", scopes: [], team: "test" }),
  dpop,
  metadata: { resource_name: "Notes" },
  clockTolerance: "30 seconds",
  maxTokenLength: 8192,
  maxCachedTokens: 1000,
  timeout: "5 seconds",
  concurrency: 100,
  user: ({ claims, id, scopes }) =>
    Effect.flatMap(
      Members,
      ({ teams }) =>
        teams.has(claims.team)
          ? Effect.succeed({ id, scopes, team: claims.team })
          : Effect.fail(HttpRefusal.forbidden())
    )
} satisfies Every<
  ResourceServer.Options<{ readonly team: string }, Member, HttpClient.HttpClient, Teams, Members, Vault, Vault>
>

const authenticator = ResourceServer.make(User, server)
expectTypeOf(authenticator).toEqualTypeOf<
  Authenticator.Authenticator<User, HttpClient.HttpClient | Teams | Members | Vault>
>()

export const verifiers = [
  IntrospectionVerifier.make(introspection),
  TokenVerifier.make(() => Effect.zipRight(Vault, TokenVerifier.invalid("unknown")))
]

const browser = { port: 8765, path: "/callback", open: (url) => Console.log(url.href) } satisfies Every<
  LoopbackBrowser.Options
>

const folder = { allowOthers: true } satisfies Every<CredentialDirectory.Options>

export const folders = CredentialDirectory.layer("/run/credentials", folder)

export const userBrowser = LoopbackBrowser.layerWith(browser)

/**
 * Finds the metadata of an authorization server by its issuer, for `Discovery` and `TokenRequests`. The module uses RFC 8414, OpenID
 * Connect Discovery, or the exceptions that the application has for the issuer. It accepts the metadata only if the metadata names that
 * issuer and has usable endpoints. `IntrospectionVerifier` and `KeySet` of a resource server read the metadata of their issuer with
 * `document`. `AuthorizationCode` checks whether the server supports PKCE.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8414
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-server-metadata-discovery
 */
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Effect from "effect/Effect"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { AuthorizationServer } from "../AuthorizationServer.js"
import type { Endpoints, ProviderExceptions } from "../ProviderExceptions.js"
import * as Challenge from "./Challenge.js"
import * as Documents from "./Documents.js"
import * as Exceptions from "./Exceptions.js"
import { failure } from "./Failure.js"
import * as ServerText from "./ServerText.js"
import * as UrlPolicy from "./UrlPolicy.js"

type Json = Readonly<Record<string, unknown>>

/** Returns the addresses at which the client looks for the metadata of an issuer, in order. */
export const wellKnown = (issuer: URL): ReadonlyArray<string> => {
  const { origin } = issuer
  const path = issuer.pathname.replace(/\/$/, "")
  const inserted = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`
  ]
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`]
}

/** Finds the metadata of an authorization server. `named` is the text by which the metadata of a resource names this server. */
export const find = Effect.fnUntraced(function*(
  documents: Documents.Documents,
  exceptions: Exceptions.Exceptions,
  named: string
): Effect.fn.Return<AuthorizationServer, AuthorizationError> {
  const exception = Exceptions.find(exceptions, named)
  if (exception === undefined) {
    return yield* serverOf(documents, named, yield* published(documents, [named], undefined, true))
  }
  const why = Exceptions.whyNot(exception, documents.policy.server)
  if (why !== undefined) return yield* failure("UnsafeUrl", why)
  const { endpoints, issuer, metadataUrl, namedAs = issuer } = exception
  const json = endpoints === undefined
    ? yield* published(documents, [namedAs, issuer], metadataUrl, true)
    : byHand(issuer, endpoints)
  return yield* serverOf(documents, issuer, json, exception)
})

/** Returns all members of the metadata of an issuer, unchanged. */
export const document = (documents: Documents.Documents, issuer: string): Effect.Effect<Json, AuthorizationError> =>
  published(documents, [issuer], undefined, false)

/**
 * Finds the published metadata, which must name one of the `issuers`. The client looks for the metadata at `address`. Without `address`,
 * the client looks at the well-known addresses of the first issuer.
 */
const published = Effect.fnUntraced(function*(
  documents: Documents.Documents,
  issuers: readonly [string, ...Array<string>],
  address: string | undefined,
  isCurable: boolean
) {
  const [named] = issuers
  const url = yield* EffectInternals.fromEither(UrlPolicy.check(documents.policy, "the authorization server", named))
  const addresses = address === undefined ? wellKnown(url) : [address]
  for (const one of addresses) {
    const json = yield* read(documents, one, issuers, isCurable)
    if (json !== undefined) return json
  }
  const where = address === undefined
    ? `its ${addresses.length} well-known addresses`
    : ServerText.location(new URL(address))
  return yield* invalid(
    `The authorization server ${ServerText.shorten(named)} publishes no metadata at ${where}${
      isCurable
        ? Exceptions.cure("its metadata is at another address, or it has endpoints without metadata", "endpoints")
        : ""
    }`
  )
})

/** Converts the endpoints that the application has given to the form of metadata. */
const byHand = (issuer: string, endpoints: Endpoints): Json => ({
  issuer,
  authorization_endpoint: endpoints.authorization,
  token_endpoint: endpoints.token,
  registration_endpoint: endpoints.registration,
  revocation_endpoint: endpoints.revocation,
  token_endpoint_auth_methods_supported: endpoints.authMethods
})

/**
 * Finds the metadata for an MCP server that publishes no metadata of its resource, as revision 2025-03-26 defines. This is the metadata at
 * the origin of the MCP server. If there is no metadata, the endpoints have their default paths.
 */
export const findAtOrigin = Effect.fnUntraced(function*(documents: Documents.Documents) {
  const { origin } = documents.policy.server
  yield* EffectInternals.fromEither(UrlPolicy.check(documents.policy, "the authorization server", origin))
  const [address] = wellKnown(new URL(origin))
  const json = (yield* read(documents, address!, [origin, `${origin}/`], true)) ?? {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
    code_challenge_methods_supported: ["S256"]
  }
  return yield* serverOf(documents, json["issuer"] as string, json)
})

/** Reads the metadata at an address. The metadata must name one of these issuers. Returns `undefined` when the address has no metadata. */
const read = Effect.fnUntraced(function*(
  documents: Documents.Documents,
  address: string,
  issuers: ReadonlyArray<string>,
  isCurable: boolean
) {
  const json = yield* Documents.find(documents, "the metadata of the authorization server", address)
  if (json === undefined) return undefined
  const issuer = json["issuer"]
  // The texts must be equal. Two different texts for the same URL do not match.
  if (typeof issuer !== "string" || !issuers.includes(issuer)) {
    const whose = typeof issuer === "string" ? `"${ServerText.shorten(issuer)}"` : "no issuer"
    const advice = typeof issuer !== "string" || !isCurable
      ? ""
      : issuer.includes("{tenantid}")
      ? ": it is for the users of many tenants. The MCP server has to name the authorization server of one tenant; or name the tenant yourself, by `Providers.entra`"
      : Exceptions.cure("the provider documents that both are one authorization server", "namedAs")
    return yield* invalid(
      `The metadata at ${ServerText.location(new URL(address))} is for ${whose}, and not for "${
        ServerText.shorten(issuers[0]!)
      }"; it is not used${advice}`
    )
  }
  return json
})

const serverOf = Effect.fnUntraced(function*(
  documents: Documents.Documents,
  issuer: string,
  json: Json,
  exceptions?: ProviderExceptions
) {
  const endpoint = (name: string, isRequested: boolean) =>
    Effect.gen(function*() {
      const value = json[name]
      if (typeof value !== "string") return undefined
      const what = `the ${name.replace("_", " ")} of ${ServerText.shorten(issuer)}`
      yield* EffectInternals.fromEither(
        isRequested ? UrlPolicy.check(documents.policy, what, value) : UrlPolicy.browsable(what, value)
      )
      return value
    })
  const tokenEndpoint = yield* endpoint("token_endpoint", true)
  if (tokenEndpoint === undefined) {
    return yield* invalid(`The metadata of ${ServerText.shorten(issuer)} names no token endpoint`)
  }
  const metadata: AuthorizationServer = {
    issuer,
    authorizationEndpoint: yield* endpoint("authorization_endpoint", false),
    tokenEndpoint,
    registrationEndpoint: yield* endpoint("registration_endpoint", true),
    // These endpoints are checked when they are used, because most logins do not need them.
    revocationEndpoint: typeof json["revocation_endpoint"] === "string" ? json["revocation_endpoint"] : undefined,
    deviceAuthorizationEndpoint: typeof json["device_authorization_endpoint"] === "string"
      ? json["device_authorization_endpoint"]
      : undefined,
    scopes: Challenge.scopesOf((strings(json["scopes_supported"]) ?? []).join(" ")),
    grantTypes: strings(json["grant_types_supported"]),
    authMethods: strings(json["token_endpoint_auth_methods_supported"]) ?? ["client_secret_basic"],
    takesMetadataDocuments: json["client_id_metadata_document_supported"] === true,
    sendsIssuer: json["authorization_response_iss_parameter_supported"] === true,
    responseIssuer: exceptions?.responseIssuer ?? json["issuer"] as string,
    codeChallengeMethods: strings(json["code_challenge_methods_supported"]),
    dpopAlgorithms: strings(json["dpop_signing_alg_values_supported"]) ?? [],
    exceptions
  }
  return metadata
})

export const strings = (value: unknown): ReadonlyArray<string> | undefined =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : undefined

const invalid = (message: string) => failure("InvalidMetadata", message)

/**
 * Finds the metadata of an authorization server by its issuer, by RFC 8414 and by OpenID Connect Discovery. Accepts it only if
 * it names that issuer and has usable endpoints. `AuthorizationCode` requires PKCE.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8414
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-server-metadata-discovery
 */
import * as Effect from "effect/Effect"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { AuthorizationServer } from "../AuthorizationServer.js"
import * as Challenge from "./Challenge.js"
import * as Documents from "./Documents.js"
import { failure } from "./Failure.js"
import * as ServerText from "./ServerText.js"
import * as UrlPolicy from "./UrlPolicy.js"

/** The addresses at which the metadata of an issuer is looked for, in order. */
export const wellKnown = (issuer: URL): ReadonlyArray<string> => {
  const { origin } = issuer
  const path = issuer.pathname.replace(/\/$/, "")
  const inserted = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`
  ]
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`]
}

/** The metadata of an issuer that the metadata of a resource names. */
export const find = (
  documents: Documents.Documents,
  issuer: string
): Effect.Effect<AuthorizationServer, AuthorizationError> =>
  Effect.flatMap(document(documents, issuer), (json) => serverOf(documents, issuer, json))

/** The same with all its members, as they are. */
export const document = Effect.fnUntraced(function*(documents: Documents.Documents, issuer: string) {
  const url = yield* UrlPolicy.check(documents.policy, "the authorization server", issuer)
  for (const address of wellKnown(url)) {
    const json = yield* read(documents, address, [issuer])
    if (json !== undefined) return json
  }
  return yield* invalid(
    `The authorization server ${ServerText.shorten(issuer)} publishes no metadata at its ${
      wellKnown(url).length
    } well-known addresses`
  )
})

/**
 * The metadata for a server without metadata of the resource, as 2025-03-26 describes it: at the origin of the
 * server, and where there is none, the endpoints with their default paths.
 */
export const findAtOrigin = Effect.fnUntraced(function*(documents: Documents.Documents) {
  const { origin } = documents.policy.server
  yield* UrlPolicy.check(documents.policy, "the authorization server", origin)
  const [address] = wellKnown(new URL(origin))
  const json = (yield* read(documents, address!, [origin, `${origin}/`])) ?? {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
    code_challenge_methods_supported: ["S256"]
  }
  return yield* serverOf(documents, json["issuer"] as string, json)
})

/** The metadata at an address, which has to name one of these issuers; `undefined` when there is none. */
const read = Effect.fnUntraced(function*(
  documents: Documents.Documents,
  address: string,
  issuers: ReadonlyArray<string>
) {
  const json = yield* Documents.find(documents, "the metadata of the authorization server", address)
  if (json === undefined) return undefined
  const issuer = json["issuer"]
  // The same string, not the same URL.
  if (typeof issuer !== "string" || !issuers.includes(issuer)) {
    const whose = typeof issuer === "string" ? `"${ServerText.shorten(issuer)}"` : "no issuer"
    return yield* invalid(
      `The metadata at ${ServerText.location(new URL(address))} is for ${whose}, and not for "${
        ServerText.shorten(issuers[0]!)
      }"; it is not used`
    )
  }
  return json
})

const serverOf = Effect.fnUntraced(function*(
  documents: Documents.Documents,
  issuer: string,
  json: Readonly<Record<string, unknown>>
) {
  const endpoint = (name: string, isRequested: boolean) =>
    Effect.gen(function*() {
      const value = json[name]
      if (typeof value !== "string") return undefined
      const what = `the ${name.replace("_", " ")} of ${ServerText.shorten(issuer)}`
      yield* isRequested ? UrlPolicy.check(documents.policy, what, value) : UrlPolicy.browsable(what, value)
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
    // Checked when it is used: a login does not need it.
    revocationEndpoint: typeof json["revocation_endpoint"] === "string" ? json["revocation_endpoint"] : undefined,
    scopes: Challenge.scopesOf((strings(json["scopes_supported"]) ?? []).join(" ")),
    grantTypes: strings(json["grant_types_supported"]),
    authMethods: strings(json["token_endpoint_auth_methods_supported"]) ?? ["client_secret_basic"],
    takesMetadataDocuments: json["client_id_metadata_document_supported"] === true,
    sendsIssuer: json["authorization_response_iss_parameter_supported"] === true,
    codeChallengeMethods: strings(json["code_challenge_methods_supported"]),
    dpopAlgorithms: strings(json["dpop_signing_alg_values_supported"]) ?? []
  }
  return metadata
})

export const strings = (value: unknown): ReadonlyArray<string> | undefined =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string").slice(0, 200) : undefined

const invalid = (message: string) => failure("InvalidMetadata", message)

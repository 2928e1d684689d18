/**
 * The authorization endpoint of the test authorization server: the user decides at once, and the browser is sent back. An error
 * goes to the client only when its redirect URI is one that it registered; otherwise the user sees a page.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1
 * @see https://www.rfc-editor.org/rfc/rfc9207
 */
import * as Effect from "effect/Effect"
import type { AuthorizationRequest, Received } from "../AuthorizationServerOptions.js"
import * as Clients from "./Clients.js"
import * as Newest from "./Newest.js"
import { checkOnce, type Refusal, refuse } from "./Refusal.js"
import type { Parts } from "./TokenEndpoint.js"
import { checkScopes, isResource, scopesOf } from "./TokenEndpoint.js"

/** No other page shows it in a frame. */
const page = (text: string) =>
  new Response(text, {
    status: 400,
    headers: {
      "content-type": "text/plain",
      "content-security-policy": "frame-ancestors 'none'",
      "cache-control": "no-store"
    }
  })

/** The parameters of the response, if the request is as it must be. */
const decide = (
  { grants, options }: Parts,
  request: AuthorizationRequest
): Effect.Effect<Readonly<Record<string, string>>, Refusal> =>
  Effect.gen(function*() {
    const { clientId, parameters, redirectUri, resource, scopes } = request
    const challenge = parameters.get("code_challenge") ?? ""
    yield* checkOnce(parameters)
    if (parameters.get("response_type") !== "code") {
      return yield* refuse("unsupported_response_type", "The response type must be code")
    }
    if (parameters.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(challenge)) {
      return yield* refuse("invalid_request", "The request needs a code challenge with S256")
    }
    if (!isResource(resource)) {
      return yield* refuse(
        "invalid_target",
        "The parameter resource must name the protected server by its absolute URI"
      )
    }
    yield* checkScopes(scopes, options)
    const consent = options.consent?.(request) ?? {}
    const { error, scopes: granted = scopes, subject = "ada" } = Effect.isEffect(consent) ? yield* consent : consent
    if (error !== undefined) return yield* refuse(error, "The user did not consent")
    const code = yield* grants.addCode({
      clientId,
      subject,
      resource,
      scopes: granted,
      thumbprint: undefined,
      actor: undefined,
      family: { isRevoked: false },
      challenge,
      redirectUri
    })
    return { code }
  })

export const respond = (
  parts: Parts,
  { url: { searchParams } }: Received,
  sendsIssuer: boolean
): Effect.Effect<Response> =>
  Effect.gen(function*() {
    const clientId = searchParams.get("client_id") ?? ""
    const redirectUri = searchParams.get("redirect_uri") ?? ""
    const client = yield* parts.clients.find(clientId)
    if (client === undefined) return page("This server does not know the client.")
    if (!Clients.redirectsTo(client, redirectUri)) return page("The client has not registered this redirect URI.")
    const response = yield* Effect.catchAll(
      decide(parts, {
        clientId,
        redirectUri,
        scopes: scopesOf(searchParams.get("scope")),
        resource: searchParams.get("resource") ?? "",
        parameters: searchParams
      }),
      ({ description, error }) => Effect.succeed({ error, error_description: description })
    )
    const target = new URL(redirectUri)
    const state = searchParams.get("state")
    if (state !== null) Newest.add(parts.grants.secrets, state)
    for (const [name, value] of Object.entries(response)) target.searchParams.set(name, value)
    if (state !== null) target.searchParams.set("state", state)
    // Errors name the issuer, too.
    if (sendsIssuer) target.searchParams.set("iss", parts.issuer)
    return new Response(null, { status: 302, headers: { location: target.href, "cache-control": "no-store" } })
  })

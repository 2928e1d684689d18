/**
 * Answers the requests to a `TestAuthorizationServer`. This module records each request, and calls the endpoint at the path of the request.
 * It contains the metadata, the authorization endpoint, introspection and revocation. It also checks DPoP proofs and applies the option
 * `fault`. `TokenEndpoint` issues tokens, and `Clients` registers and authenticates clients.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8414
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Jose from "jose"
import type { AuthorizationRequest, Fault, Options, Received } from "../AuthorizationServerModel.js"
import * as BoundedMemory from "./BoundedMemory.js"
import * as Clients from "./Clients.js"
import * as Grants from "./Grants.js"
import * as Keys from "./Keys.js"
import * as OAuthError from "./OAuthError.js"
import * as TokenEndpoint from "./TokenEndpoint.js"

export interface Endpoints extends Pick<TokenEndpoint.ServerState, "clients" | "grants" | "keys"> {
  readonly received: Array<Received>
  readonly handle: (request: Request) => Effect.Effect<Response, Dropped>
}

const MAX_BODY = 256 * 1024

export const make = (issuer: string, options: Options): Endpoints => {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, "")
  const base = `${origin}${path}`
  const keys = Keys.make(options.algorithm ?? "ES256")
  const grants = Grants.make(issuer, keys, options)
  const clients = Clients.make(issuer, options, grants.secrets)
  const server: TokenEndpoint.ServerState = { issuer, options, keys, clients, grants }
  const prove = proofs(options.dpop)
  const received: Array<Received> = []

  const metadata: Readonly<Record<string, unknown>> = {
    issuer,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    jwks_uri: `${base}/jwks`,
    introspection_endpoint: `${base}/introspect`,
    revocation_endpoint: `${base}/revoke`,
    ...(options.dynamicRegistration === false ? undefined : { registration_endpoint: `${base}/register` }),
    ...(options.scopes === undefined ? undefined : { scopes_supported: options.scopes }),
    response_types_supported: ["code"],
    grant_types_supported: TokenEndpoint.GRANT_TYPES,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [options.algorithm ?? "ES256"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
    token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    dpop_signing_alg_values_supported: ALGORITHMS,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: options.clientDocument !== undefined,
    ...options.metadata
  }
  const sendsIssuer = metadata["authorization_response_iss_parameter_supported"] === true

  const authenticated = (request: Received) =>
    Effect.filterOrElse(
      clients.authenticate(request),
      (client) => client !== undefined,
      () => OAuthError.refuse("invalid_client", "The request names no client", 401)
    )

  const token = (request: Received) =>
    Effect.gen(function*() {
      yield* OAuthError.checkOnce(request.form)
      if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers["content-type"] ?? "")) {
        return yield* OAuthError.refuse("invalid_request", "The body must be a form")
      }
      const client = yield* clients.authenticate(request)
      const thumbprint = yield* prove(request, `${base}/token`)
      return yield* TokenEndpoint.respond(server, request, client, thumbprint)
    })

  /** The introspection endpoint (RFC 7662). */
  const introspect = (request: Received) =>
    Effect.gen(function*() {
      yield* authenticated(request)
      const token = yield* grants.find(request.form.get("token") ?? "")
      if (token === undefined) return OAuthError.json({ active: false })
      const type = token.thumbprint === undefined ? "Bearer" : "DPoP"
      return OAuthError.json({ ...grants.claimsOf(token), active: true, token_type: type })
    })

  /** The revocation endpoint (RFC 7009). An unknown token is not an error. */
  const revoke = (request: Received) =>
    Effect.map(authenticated(request), (client) => {
      grants.revoke(request.form.get("token") ?? "", client!.clientId)
      return new Response(null, { status: 200 })
    })

  const route = (request: Received): Effect.Effect<Response, OAuthError.OAuthError> => {
    switch (`${request.method} ${request.url.pathname}`) {
      case `GET /.well-known/oauth-authorization-server${path}`:
      case `GET /.well-known/openid-configuration${path}`:
      case `GET ${path}/.well-known/openid-configuration`:
        return Effect.succeed(OAuthError.json(metadata))
      case `GET ${path}/jwks`:
        return Effect.map(keys.published, (set) => OAuthError.json(set))
      case `GET ${path}/authorize`:
        return respond(server, request, sendsIssuer)
      case `POST ${path}/token`:
        return token(request)
      case `POST ${path}/register`:
        return clients.register(request)
      case `POST ${path}/introspect`:
        return introspect(request)
      case `POST ${path}/revoke`:
        return revoke(request)
      default:
        return Effect.succeed(new Response("There is nothing here.", { status: 404 }))
    }
  }

  return {
    keys,
    clients,
    grants,
    received,
    handle: (request) =>
      Effect.gen(function*() {
        const text = yield* read(request)
        if (text === undefined) return new Response("The body cannot be read, or is too large.", { status: 400 })
        const one: Received = {
          method: request.method,
          url: new URL(request.url),
          headers: headersOf(request),
          text,
          form: new URLSearchParams(text)
        }
        BoundedMemory.push(received, one)
        const fault = options.fault?.(one)
        return yield* faulted(
          Effect.isEffect(fault) ? yield* fault : fault,
          Effect.catchAll(route(one), (refusal) => Effect.succeed(OAuthError.respond(refusal)))
        )
      })
  }
}

const read = (request: Request): Effect.Effect<string | undefined> =>
  Effect.map(
    Effect.option(Effect.tryPromise(() => request.text())),
    (text) => Option.getOrUndefined(Option.filter(text, ({ length }) => length <= MAX_BODY))
  )

const headersOf = ({ headers }: Request): Readonly<Record<string, string>> => {
  const all: Record<string, string> = {}
  headers.forEach((value, name) => all[name] = value)
  return all
}

/** The failure that breaks the connection before there is a response. */
class Dropped extends Data.TaggedError("Dropped") {
  override readonly message = "The fault `isDropped` has broken the connection"
}

/** Returns the answer with the fault of the test. The answer is delayed, dropped, replaced, or has another issuer or a broken body. */
const faulted = (
  fault: Fault | undefined,
  answer: Effect.Effect<Response>
): Effect.Effect<Response, Dropped> =>
  Effect.gen(function*() {
    if (fault === undefined) return yield* answer
    if (fault.delay !== undefined) yield* Effect.sleep(fault.delay)
    if (fault.isDropped === true) return yield* new Dropped()
    const response = fault.response ??
      (fault.status === undefined ? yield* answer : new Response("{}", { status: fault.status }))
    const named = fault.issuer === undefined ? response : yield* renamed(response, fault.issuer)
    return fault.body === undefined ? named : yield* spoiled(named, fault.body)
  })

const textOf = (response: Response) => Effect.promise(() => response.text())

const withBody = ({ headers, status }: Response, body: ReadableStream | string) =>
  new Response(body, { status, headers })

const renamed = (response: Response, issuer: string): Effect.Effect<Response> => {
  const location = response.headers.get("location")
  if (location !== null) {
    const url = new URL(location)
    url.searchParams.set("iss", issuer)
    const headers = new Headers(response.headers)
    headers.set("location", url.href)
    return Effect.succeed(new Response(null, { status: response.status, headers }))
  }
  return Effect.map(
    textOf(response),
    (text) => withBody(response, text.replace(/"issuer":"[^"]*"/, `"issuer":${JSON.stringify(issuer)}`))
  )
}

const spoiled = (response: Response, how: NonNullable<Fault["body"]>): Effect.Effect<Response> =>
  Effect.map(textOf(response), (text) => withBody(response, how === "malformed" ? text.slice(0, -1) : endless(text)))

/** Makes a document whose last member never ends. */
const endless = (text: string): ReadableStream => {
  const encoder = new TextEncoder()
  const more = encoder.encode("x".repeat(16 * 1024))
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`${text.slice(0, -1)},"more":"`)),
    pull: (controller) => controller.enqueue(more)
  })
}

/** Makes a page for the user. Other pages must not show this page in a frame. */
const page = (text: string) =>
  new Response(text, {
    status: 400,
    headers: {
      "content-type": "text/plain",
      "content-security-policy": "frame-ancestors 'none'",
      "cache-control": "no-store"
    }
  })

/** Returns the parameters of the authorization response. Fails when the request is not valid, or when the user does not consent. */
const decide = (
  { grants, options }: TokenEndpoint.ServerState,
  request: AuthorizationRequest
): Effect.Effect<Readonly<Record<string, string>>, OAuthError.OAuthError> =>
  Effect.gen(function*() {
    const { clientId, parameters, redirectUri, resource, scopes } = request
    const challenge = parameters.get("code_challenge") ?? ""
    yield* OAuthError.checkOnce(parameters)
    if (parameters.get("response_type") !== "code") {
      return yield* OAuthError.refuse("unsupported_response_type", "The response type must be code")
    }
    if (parameters.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(challenge)) {
      return yield* OAuthError.refuse("invalid_request", "The request needs a code challenge with S256")
    }
    if (!TokenEndpoint.isResource(resource)) {
      return yield* OAuthError.refuse(
        "invalid_target",
        "The parameter resource must name the protected server by its absolute URI"
      )
    }
    yield* TokenEndpoint.checkScopes(scopes, options)
    const consent = options.consent?.(request) ?? {}
    const { error, scopes: granted = scopes, subject = "ada" } = Effect.isEffect(consent) ? yield* consent : consent
    if (error !== undefined) return yield* OAuthError.refuse(error, "The user did not consent")
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

const respond = (
  server: TokenEndpoint.ServerState,
  { url: { searchParams } }: Received,
  sendsIssuer: boolean
): Effect.Effect<Response> =>
  Effect.gen(function*() {
    const clientId = searchParams.get("client_id") ?? ""
    const redirectUri = searchParams.get("redirect_uri") ?? ""
    const client = yield* server.clients.find(clientId)
    if (client === undefined) return page("This server does not know the client.")
    if (!Clients.redirectsTo(client, redirectUri)) return page("The client has not registered this redirect URI.")
    const response = yield* Effect.catchAll(
      decide(server, {
        clientId,
        redirectUri,
        scopes: TokenEndpoint.scopesOf(searchParams.get("scope")),
        resource: searchParams.get("resource") ?? "",
        parameters: searchParams
      }),
      ({ description, error }) => Effect.succeed({ error, error_description: description })
    )
    const target = new URL(redirectUri)
    const state = searchParams.get("state")
    if (state !== null) BoundedMemory.add(server.grants.secrets, state)
    for (const [name, value] of Object.entries(response)) target.searchParams.set(name, value)
    if (state !== null) target.searchParams.set("state", state)
    // Responses with an error also name the issuer.
    if (sendsIssuer) target.searchParams.set("iss", server.issuer)
    return new Response(null, { status: 302, headers: { location: target.href, "cache-control": "no-store" } })
  })

const ALGORITHMS = ["ES256", "RS256", "EdDSA"]

const NONCE_LIFE = 300_000

/** The largest accepted difference between the time of a proof and the time of the server, in seconds. */
const SKEW = 60

/** Checks the DPoP proof of a request. Returns the thumbprint of the key; `undefined` for a request without a proof. */
type Check = (request: Received, url: string) => Effect.Effect<string | undefined, OAuthError.OAuthError>

const proofs = (options: Options["dpop"] = {}): Check => {
  const seen = new Set<string>()
  const salt = crypto.randomUUID()
  const nonceAt = (millis: number) => `nonce-${Math.floor(millis / NONCE_LIFE)}-${salt}`

  return ({ headers, method }, url) =>
    Effect.gen(function*() {
      const { dpop: proof } = headers
      if (proof === undefined) {
        return options.isRequired === true
          ? yield* OAuthError.refuse(
            "invalid_dpop_proof",
            "The request has no proof of DPoP, and this server requires one"
          )
          : undefined
      }
      const found = yield* Effect.orElseSucceed(Effect.tryPromise(() => open(proof)), () => undefined)
      const invalid = (what: string) => OAuthError.refuse("invalid_dpop_proof", `The proof of DPoP ${what}`)
      if (found === undefined) return yield* invalid("is not a JWT of type dpop+jwt, signed by the key in its header")
      const { payload: { htm, htu, iat, jti, nonce }, thumbprint } = found
      const now = yield* Clock.currentTimeMillis
      if (htm !== method || htu !== url) return yield* invalid(`is not for ${method} ${url}`)
      if (iat === undefined || Math.abs(iat - now / 1000) > SKEW) {
        return yield* invalid("is too old, or from the future")
      }
      if (options.nonces === true && nonce !== nonceAt(now) && nonce !== nonceAt(now - NONCE_LIFE)) {
        return yield* OAuthError.refuse("use_dpop_nonce", "The proof of DPoP needs the nonce of this response", 400, {
          "dpop-nonce": nonceAt(now)
        })
      }
      if (typeof jti !== "string" || seen.has(jti)) return yield* invalid("was used before")
      BoundedMemory.add(seen, jti)
      return thumbprint
    })
}

/** Reads a proof. Fails when the token is not a proof, or when its signature is wrong. */
const open = (proof: string): Promise<{ readonly payload: Jose.JWTPayload; readonly thumbprint: string }> =>
  Jose.compactVerify(proof, Jose.EmbeddedJWK, { algorithms: ALGORITHMS }).then(({ payload, protectedHeader }) =>
    protectedHeader.typ !== "dpop+jwt" || protectedHeader.jwk === undefined || "d" in protectedHeader.jwk
      ? Promise.reject(new Error("not a proof"))
      : Jose.calculateJwkThumbprint(protectedHeader.jwk).then((thumbprint) => ({
        payload: JSON.parse(new TextDecoder().decode(payload)) as Jose.JWTPayload,
        thumbprint
      }))
  )

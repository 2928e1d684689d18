/**
 * The addresses of the test authorization server, and the metadata that publishes them. It reads a request, records it, and
 * lets the endpoint at its path answer.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8414
 */
import * as Body from "@effect-mcp/server/unstable/Body"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Fault, Options, Received } from "../AuthorizationServerOptions.js"
import * as AuthorizationEndpoint from "./AuthorizationEndpoint.js"
import * as Clients from "./Clients.js"
import * as Grants from "./Grants.js"
import * as Keys from "./Keys.js"
import * as Newest from "./Newest.js"
import * as Proofs from "./Proofs.js"
import * as Refusal from "./Refusal.js"
import * as TokenEndpoint from "./TokenEndpoint.js"

export interface Endpoints extends Pick<TokenEndpoint.Parts, "clients" | "grants" | "keys"> {
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
  const parts: TokenEndpoint.Parts = { issuer, options, keys, clients, grants }
  const prove = Proofs.make(options.dpop)
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
    token_endpoint_auth_signing_alg_values_supported: Proofs.ALGORITHMS,
    dpop_signing_alg_values_supported: Proofs.ALGORITHMS,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: options.clientDocument !== undefined,
    ...options.metadata
  }
  const sendsIssuer = metadata["authorization_response_iss_parameter_supported"] === true

  const authenticated = (request: Received) =>
    Effect.filterOrElse(
      clients.authenticate(request),
      (client) => client !== undefined,
      () => Refusal.refuse("invalid_client", "The request names no client", 401)
    )

  const token = (request: Received) =>
    Effect.gen(function*() {
      yield* Refusal.checkOnce(request.form)
      if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers["content-type"] ?? "")) {
        return yield* Refusal.refuse("invalid_request", "The body must be a form")
      }
      const client = yield* clients.authenticate(request)
      const thumbprint = yield* prove(request, `${base}/token`)
      return yield* TokenEndpoint.respond(parts, request, client, thumbprint)
    })

  /** RFC 7662. */
  const introspect = (request: Received) =>
    Effect.gen(function*() {
      yield* authenticated(request)
      const token = yield* grants.find(request.form.get("token") ?? "")
      if (token === undefined) return Refusal.json({ active: false })
      const { actor, clientId, expiresAt, resource, scopes, subject, thumbprint } = token
      return Refusal.json({
        ...options.claims?.(token),
        active: true,
        iss: issuer,
        sub: subject,
        aud: resource,
        client_id: clientId,
        scope: scopes.join(" "),
        exp: Math.floor(expiresAt / 1000),
        token_type: thumbprint === undefined ? "Bearer" : "DPoP",
        ...(actor === undefined ? undefined : { act: { sub: actor } }),
        ...(thumbprint === undefined ? undefined : { cnf: { jkt: thumbprint } })
      })
    })

  /** RFC 7009: an unknown token is no error. */
  const revoke = (request: Received) =>
    Effect.map(authenticated(request), (client) => {
      grants.revoke(request.form.get("token") ?? "", client!.clientId)
      return new Response(null, { status: 200 })
    })

  const route = (request: Received): Effect.Effect<Response, Refusal.Refusal> => {
    switch (`${request.method} ${request.url.pathname}`) {
      case `GET /.well-known/oauth-authorization-server${path}`:
      case `GET /.well-known/openid-configuration${path}`:
      case `GET ${path}/.well-known/openid-configuration`:
        return Effect.succeed(Refusal.json(metadata))
      case `GET ${path}/jwks`:
        return Effect.map(keys.published, (set) => Refusal.json(set))
      case `GET ${path}/authorize`:
        return AuthorizationEndpoint.respond(parts, request, sendsIssuer)
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
        Newest.push(received, one)
        const fault = options.fault?.(one)
        return yield* faulted(
          Effect.isEffect(fault) ? yield* fault : fault,
          Effect.catchAll(route(one), (refusal) => Effect.succeed(Refusal.respond(refusal)))
        )
      })
  }
}

const read = (request: Request): Effect.Effect<string | undefined> =>
  Effect.async((resume) => {
    const stop = Body.read(request, MAX_BODY, (body) =>
      resume(Effect.succeed(typeof body === "string" ? body : undefined)))
    return Effect.sync(stop)
  })

const headersOf = ({ headers }: Request): Readonly<Record<string, string>> => {
  const all: Record<string, string> = {}
  headers.forEach((value, name) => all[name] = value)
  return all
}

/** The connection breaks before there is a response. */
class Dropped extends Data.TaggedError("Dropped") {
  override readonly message = "The fault `isDropped` has broken the connection"
}

/** The answer as a test wants it spoiled: with another issuer in a document or a redirect, or another body of a document. */
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

/** A document whose last member goes on as long as the client reads. */
const endless = (text: string): ReadableStream => {
  const encoder = new TextEncoder()
  const more = encoder.encode("x".repeat(16 * 1024))
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`${text.slice(0, -1)},"more":"`)),
    pull: (controller) => controller.enqueue(more)
  })
}

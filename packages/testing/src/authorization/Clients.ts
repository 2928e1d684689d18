/**
 * The clients of the test authorization server. A client was registered before the test, registers itself, or publishes a document that
 * describes the client. `Endpoints` finds clients with this module. `TokenEndpoint` authenticates clients with this module, by a secret or
 * by a signed assertion.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-2.3
 * @see https://www.rfc-editor.org/rfc/rfc7591
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Jose from "jose"
import type { Jwk, Options, Received, RegisteredClient } from "../AuthorizationServerModel.js"
import * as BoundedMemory from "./BoundedMemory.js"
import * as Keys from "./Keys.js"
import { json, type OAuthError, refuse } from "./OAuthError.js"

export interface Clients {
  readonly find: (clientId: string) => Effect.Effect<RegisteredClient | undefined>
  readonly register: (request: Received) => Effect.Effect<Response, OAuthError>
  /** Authenticates the client of a request. Returns `undefined` when the request names no client. */
  readonly authenticate: (request: Received) => Effect.Effect<RegisteredClient | undefined, OAuthError>
  readonly forget: () => void
}

/** The redirect URI of a client that has no redirect URIs in its registration. */
export const REDIRECT_URI = "http://127.0.0.1:7777/callback"

const ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

export const isConfidential = ({ publicKey, secret }: RegisteredClient): boolean =>
  secret !== undefined || publicKey !== undefined

export const redirectsTo = ({ redirectUris = [REDIRECT_URI] }: RegisteredClient, uri: string): boolean =>
  redirectUris.some((one) => one === uri || (isLoopback(one) && withoutPort(one) === withoutPort(uri)))

/**
 * Whether a redirect URI has a loopback address. Its port may differ, because a program gets the port only when it listens (RFC 8252,
 * section 7.3).
 */
const isLoopback = (uri: string): boolean => /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?(\/|$)/.test(uri)

const withoutPort = (uri: string): string => uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d+/, "$1")

export const make = (issuer: string, options: Options, secrets: Set<string>): Clients => {
  const clients = new Map((options.clients ?? []).map((client) => [client.clientId, client]))
  const used = new Set<string>()
  let count = clients.size
  for (const { secret } of clients.values()) if (secret !== undefined) BoundedMemory.add(secrets, secret)

  const find = (clientId: string): Effect.Effect<RegisteredClient | undefined> => {
    const known = clients.get(clientId)
    return known !== undefined || options.clientDocument === undefined || !isDocument(clientId)
      ? Effect.succeed(known)
      : Effect.orElseSucceed(
        Effect.map(options.clientDocument(clientId), (document) => described(clientId, document)),
        () => undefined
      )
  }

  const invalid = (what: string, headers = {}) => refuse("invalid_client", what, 401, headers)

  const byAssertion = (assertion: string, form: URLSearchParams) =>
    Effect.gen(function*() {
      const clientId = form.get("client_id") ?? Option.getOrUndefined(subjectOf(assertion)) ?? ""
      const client = yield* find(clientId)
      const key = client?.publicKey
      if (form.get("client_assertion_type") !== ASSERTION || key === undefined) {
        return yield* invalid("The client has no key here, or the type of its assertion is unknown")
      }
      const verified = yield* Keys.verify(assertion, [key], { issuer: clientId, subject: clientId, audience: issuer })
      const id = verified?.payload.jti
      if (verified === undefined || id === undefined || used.has(id)) {
        return yield* invalid(`The assertion must be signed by the client for ${issuer}, and used once`)
      }
      BoundedMemory.add(used, id)
      return client
    })

  const bySecret = (clientId: string, secret: string | undefined, headers = {}) =>
    Effect.flatMap(find(clientId), (client) => {
      if (secret !== undefined) BoundedMemory.add(secrets, secret)
      return client !== undefined && client.publicKey === undefined && client.secret === secret
        ? Effect.succeed(client)
        : invalid("The client is unknown, or its secret is wrong", headers)
    })

  const registered = (body: Readonly<Record<string, unknown>>, redirectUris: ReadonlyArray<string>) => {
    const clientId = `client-${++count}-of-${new URL(issuer).host}`
    const { token_endpoint_auth_method: method = "client_secret_basic" } = body
    const secret = method === "none" ? undefined : `secret-${crypto.randomUUID()}`
    if (secret !== undefined) BoundedMemory.add(secrets, secret)
    BoundedMemory.set(clients, clientId, { clientId, secret, redirectUris })
    return json({
      ...body,
      client_id: clientId,
      token_endpoint_auth_method: method,
      ...(secret === undefined ? undefined : { client_secret: secret, client_secret_expires_at: 0 })
    }, 201)
  }

  return {
    find,
    register: ({ text }) =>
      Effect.flatMap(Effect.orElseSucceed(Effect.try(() => JSON.parse(text) as unknown), () => undefined), (body) => {
        if (options.dynamicRegistration === false) return refuse("invalid_request", "Clients cannot register here", 404)
        if (!isObject(body)) return refuse("invalid_client_metadata", "The registration is not a JSON object")
        const redirectUris = textsOf(body["redirect_uris"])
        return redirectUris === undefined || !redirectUris.every(isAllowed)
          ? refuse("invalid_redirect_uri", "A client needs redirect URIs that are https, or http on a loopback address")
          : Effect.sync(() => registered(body, redirectUris))
      }),
    authenticate: ({ form, headers }) => {
      const assertion = form.get("client_assertion")
      const { authorization } = headers
      const secret = form.get("client_secret")
      if ([assertion, authorization, secret].filter((one) => typeof one === "string").length > 1) {
        return refuse("invalid_request", "The client authenticates in more than one way")
      }
      if (assertion !== null) return byAssertion(assertion, form)
      if (authorization !== undefined) {
        const [id = "", value = ""] = basicOf(authorization)
        return bySecret(id, value, { "www-authenticate": "Basic" })
      }
      const clientId = form.get("client_id")
      return clientId === null ? Effect.succeed(undefined) : bySecret(clientId, secret ?? undefined)
    },
    forget: () => clients.clear()
  }
}

/** Whether a client id is the URL of a document: https, with a path, and without credentials, fragment and dot segments. */
const isDocument = (clientId: string): boolean => {
  if (!clientId.startsWith("https://") || clientId.includes("#") || !URL.canParse(clientId)) return false
  const { href, password, pathname, username } = new URL(clientId)
  return href === clientId && pathname !== "/" && username === "" && password === ""
}

const isAllowed = (uri: string): boolean => URL.canParse(uri) && (uri.startsWith("https://") || isLoopback(uri))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => Predicate.isRecord(value)

const textsOf = (value: unknown): ReadonlyArray<string> | undefined =>
  Array.isArray(value) && value.length > 0 && value.every((one): one is string => typeof one === "string")
    ? value
    : undefined

/** Returns the client that a document describes; `undefined` when the document does not contain its own URL, a name or redirect URIs. */
const described = (clientId: string, document: unknown): RegisteredClient | undefined => {
  if (!isObject(document) || document["client_id"] !== clientId || typeof document["client_name"] !== "string") {
    return undefined
  }
  const redirectUris = textsOf(document["redirect_uris"])
  const jwks = document["jwks"]
  const [publicKey] = isObject(jwks) && Array.isArray(jwks["keys"]) ? jwks["keys"] as Array<Jwk> : []
  return redirectUris === undefined ? undefined : { clientId, redirectUris, publicKey }
}

const subjectOf = Option.liftThrowable((assertion: string) => Jose.decodeJwt(assertion).sub)

/** Returns the id and the secret, which are encoded like the fields of a form (RFC 6749, appendix B). */
const basicOf = (authorization: string): ReadonlyArray<string> =>
  Either.getOrElse(Encoding.decodeBase64String(/^Basic (\S+)$/i.exec(authorization)?.[1] ?? ""), () => "")
    .split(":")
    .map((part) => new URLSearchParams(`x=${part}`).get("x") ?? "")

/**
 * Requests JSON from authorization servers and well-known addresses. This module checks each URL, and limits the time and the size of each
 * response. The requests have no spans, cookies or headers of the application. A request for metadata follows redirects within its origin.
 * A POST request never follows a redirect.
 *
 * `ResourceMetadata`, `ServerMetadata` and `resource/KeySet` request documents with this module. `flow/TokenEndpoint`, `flow/Revocation`
 * and the grants send POST requests with it. `UrlPolicy` checks the URLs.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as PlatformClient from "@effect-mcp/core/unstable/client/PlatformClient"
import * as Reach from "@effect-mcp/core/unstable/client/Reach"
import * as Redirect from "@effect-mcp/core/unstable/client/Redirect"
import * as ResponseBody from "@effect-mcp/core/unstable/client/ResponseBody"
import * as JsonText from "@effect-mcp/core/unstable/jsonrpc/JsonText"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Str from "effect/String"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Answer } from "../Grant.js"
import type { RequestOptions } from "../TokenVerifier.js"
import { failure } from "./Failure.js"
import * as ServerText from "./ServerText.js"
import * as UrlPolicy from "./UrlPolicy.js"

export interface Documents {
  readonly policy: UrlPolicy.UrlPolicy
  readonly client: HttpClient.HttpClient
  readonly timeout: Duration.DurationInput
  readonly maxBytes: number
  /** Headers of requests for metadata. */
  readonly headers: Readonly<Record<string, string>>
}

const MAX_REDIRECTS = 3

/**
 * Requests a metadata document. `what` names the document in errors. Returns `undefined` when the address has no JSON object, because some
 * servers answer every path with a page.
 */
export const find = (
  documents: Documents,
  what: string,
  text: string
): Effect.Effect<Readonly<Record<string, unknown>> | undefined, AuthorizationError> =>
  Effect.gen(function*() {
    const url = yield* EffectInternals.fromEither(UrlPolicy.check(documents.policy, what, text))
    const request = HttpClientRequest.get(url, { headers: { ...documents.headers, accept: "application/json" } })
    const { json, status } = yield* exchange(documents, what, request, MAX_REDIRECTS)
    if (status >= 500 || status === 408 || status === 429) {
      return yield* unreachable(`${what}, ${ServerText.location(url)}, was answered with ${status}`)
    }
    return status >= 200 && status < 300 ? json : undefined
  })

/**
 * Sends a request if the policy allows its URL. For a POST request, a redirect is an error. For another request, the redirect is returned
 * as the answer.
 */
export const send = (
  documents: Documents,
  what: string,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<Answer, AuthorizationError> =>
  Effect.flatMap(EffectInternals.fromEither(UrlPolicy.check(documents.policy, what, request.url)), (url) => {
    const checked = request.pipe(
      HttpClientRequest.setUrl(url),
      HttpClientRequest.setHeader("accept", "application/json")
    )
    return exchange(documents, what, checked, request.method === "POST" ? 0 : undefined)
  })

/**
 * Sends a request. `redirects` is how many redirects the function may follow. When `redirects` is `undefined`, the function returns a
 * redirect as the answer.
 */
const exchange = (
  documents: Documents,
  what: string,
  request: HttpClientRequest.HttpClientRequest,
  redirects?: number
): Effect.Effect<Answer, AuthorizationError> => {
  const { execute } = HttpClient.withScope(documents.client)
  const where = `${what}, ${ServerText.location(new URL(request.url))}`
  const attempt = (
    request: HttpClientRequest.HttpClientRequest,
    redirects?: number
  ): Effect.Effect<Answer, AuthorizationError, Scope.Scope> =>
    Effect.matchEffect(reaching(documents, request, execute(request)), {
      onFailure: ({ cause }) =>
        cause instanceof Reach.UnreachableAddress
          ? failure("UnsafeUrl", `The client does not use ${where}: ${cause.message}. ${ALLOW}`)
          // The error of an HTTP client may contain the request with its secrets.
          : unreachable(`The client could not reach ${where}`),
      onSuccess: (response) =>
        redirects !== undefined && isRedirect(response)
          ? Effect.flatMap(
            follow(documents, what, request, response, redirects),
            (url) => attempt(HttpClientRequest.setUrl(request, url), redirects - 1)
          )
          : read(documents, where, response)
    })
  return attempt(request, redirects).pipe(
    TimeLimit.call(
      documents.timeout,
      () =>
        Effect.fail(
          failure(
            "Unreachable",
            `There was no answer in time from ${where}; the option \`requestTimeout\` sets the limit`
          )
        )
    ),
    Effect.scoped,
    PlatformClient.configure
  )
}

const ALLOW = "If it should be used, name its host in the option `privateHosts`"

/** Tells the HTTP client which addresses a request may reach, because the name in a URL may resolve to any address. */
const reaching = <A, E, R>(
  { policy }: Documents,
  { url }: HttpClientRequest.HttpClientRequest,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  EffectInternals.withValue(effect, Reach.current, UrlPolicy.reach(policy, new URL(url)) ?? NOTHING)

const NOTHING: Reach.Reach = new Set()

const unreachable = (message: string) => failure("Unreachable", Str.capitalize(message))

/** In a browser, `fetch` hides a redirect and gives the status 0. */
const isRedirect = ({ status }: HttpClientResponse.HttpClientResponse): boolean =>
  status === 0 || (status >= 300 && status < 400)

const follow = (
  { policy }: Documents,
  what: string,
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse,
  redirects: number
): Effect.Effect<URL, AuthorizationError> => {
  const from = new URL(request.url)
  const refuse = (why: string) =>
    failure(
      "UnsafeUrl",
      Str.capitalize(
        `${what}, ${ServerText.location(from)}, was redirected, and the client does not follow: ${why}`
      )
    )
  if (request.method !== "GET") return refuse("the body of a POST may hold secrets. Configure the final address")
  if (redirects <= 0) return refuse("it was redirected too often")
  const target = Redirect.targetOf(response)
  return typeof target === "string"
    ? refuse(ServerText.shorten(target))
    : EffectInternals.fromEither(UrlPolicy.check(policy, what, target.href))
}

const read = (
  { maxBytes }: Documents,
  where: string,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Answer, AuthorizationError> =>
  Effect.suspend(() => {
    const { headers, status } = response
    return Effect.matchEffect(ResponseBody.text(response, maxBytes, headers), {
      // If a server has no document, its page may have any size and any encoding.
      onFailure: ({ message, reason }) =>
        status >= 400 || reason === "Decode"
          ? Effect.succeed({ status, headers, json: undefined })
          : unreachable(`The client could not read ${where}: ${message}`),
      onSuccess: (text) => Effect.succeed({ status, headers, json: isForm(headers) ? formOf(text) : objectOf(text) })
    })
  })

const objectOf = (text: string): Readonly<Record<string, unknown>> | undefined => {
  const value = JsonText.parse(text)
  return Predicate.isRecord(value) && !(value instanceof JsonText.Refused) ? value : undefined
}

/** Whether a response is a form. Some authorization servers answer a token request with a form, although the client accepts only JSON. */
const isForm = (headers: HttpClientResponse.HttpClientResponse["headers"]): boolean =>
  /^application\/x-www-form-urlencoded(;|$)/i.test(headers["content-type"] ?? "")

/** Returns the members of a form. Returns `undefined` when a member occurs twice, because it is not clear which value is right. */
const formOf = (text: string): Readonly<Record<string, unknown>> | undefined => {
  const form = new URLSearchParams(text)
  const members = new Map<string, string>()
  form.forEach((value, name) => members.set(name, value))
  return members.size === form.size ? Object.fromEntries(members) : undefined
}

export const make = (client: HttpClient.HttpClient, server: URL, options: RequestOptions): Documents => ({
  client,
  policy: { server, chosen: [], privateHosts: options.privateHosts ?? [] },
  timeout: options.requestTimeout ?? "30 seconds",
  maxBytes: options.maxDocumentBytes ?? 256 * 1024,
  headers: {}
})

/**
 * Returns the same settings, but also allows the host of `address`. Call this function only with an address that the application has given.
 * `undefined` changes nothing.
 */
export const at = (documents: Documents, address: string | undefined): Documents =>
  address === undefined ? documents : { ...documents, policy: UrlPolicy.choosing(documents.policy, address) }

/**
 * Makes the settings for requests to one issuer that the application has named. Dies when the issuer is not a URL. By default, a request
 * may take 5 seconds.
 */
export const ofIssuer = (
  client: HttpClient.HttpClient,
  issuer: string,
  options: RequestOptions
): Effect.Effect<Documents> =>
  URL.canParse(issuer)
    ? Effect.succeed(make(client, new URL(issuer), { requestTimeout: "5 seconds", ...options }))
    : Effect.dieMessage(`"${issuer}" is not an issuer: an issuer is a URL, as in "https://login.example.com"`)

/**
 * One HTTP request, from its headers to its response: it adds what the application wants added, follows redirects as far as
 * they may lead, and asks the application once when it may not come in.
 *
 * It knows no message and no session. Whatever happens, the connection of a response that was not read is closed.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Url from "@effect/platform/Url"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { HttpRefused } from "../HttpRefused.js"
import * as Refused from "../HttpRefused.js"
import type { Resolved } from "../RemoteOptions.js"
import { theirs } from "../RemoteOptions.js"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse

/**
 * What is made of a response. It reads the body, or fails.
 *
 * @since 0.1.0
 * @category models
 */
export type Use<A> = (response: Response) => Effect.Effect<A, TransportError>

/** What was done for a request already. */
interface Done {
  readonly redirects: number
  readonly authorized: boolean
}

const nothing: Done = { redirects: 0, authorized: false }

/**
 * @since 0.1.0
 * @category models
 */
export class HttpSender {
  private readonly client: HttpClient.HttpClient.With<HttpClientError.HttpClientError, Scope.Scope>

  constructor(client: HttpClient.HttpClient, private readonly options: Resolved) {
    this.client = HttpClient.withScope(client)
  }

  /**
   * Sends a request and uses its response, whatever its status. Fails with reason `Write` when the request surely did not
   * reach the server, and with `Read` when it may have.
   */
  send<A>(request: Request, use: Use<A>): Effect.Effect<A, TransportError> {
    const { headersEffect } = this.options
    if (headersEffect === undefined) return this.attempt(request, use, nothing)
    return Effect.matchEffect(headersEffect, {
      onFailure: (cause) => Effect.fail(notSent("The headers of the request could not be made", cause)),
      onSuccess: (more) => this.attempt(HttpClientRequest.setHeaders(request, theirs(more)), use, nothing)
    })
  }

  private attempt<A>(request: Request, use: Use<A>, done: Done): Effect.Effect<A, TransportError> {
    // Closed only when something is left to be closed: what was read to its end is over.
    return Effect.flatMap(Scope.make(), (scope) =>
      Effect.onError(
        Effect.matchEffect(Effect.provideService(this.client.execute(request), Scope.Scope, scope), {
          onFailure: (error) => Effect.fail(unreached(request, error)),
          onSuccess: (response) =>
            response.status >= 200 && response.status < 300 ? use(response) : this.judge(response, use, done)
        }),
        (cause) => Scope.close(scope, Exit.failCause(cause))
      ))
  }

  private judge<A>(response: Response, use: Use<A>, done: Done): Effect.Effect<A, TransportError> {
    const { status } = response
    if (status < 400 && status !== 304) return this.redirect(response, use, done)
    const { authorize } = this.options
    if ((status !== 401 && status !== 403) || authorize === undefined || done.authorized) return use(response)
    return Effect.flatMap(Refused.fromResponse(response), (refused) => {
      const request = response.request
      return Effect.matchEffect(Effect.suspend(() => authorize(refused, request)), {
        onFailure: (cause) => Effect.fail(notSent(refused.message, cause)),
        onSuccess: (headers) =>
          this.attempt(HttpClientRequest.setHeaders(request, theirs(headers)), use, { ...done, authorized: true })
      })
    })
  }

  private redirect<A>(response: Response, use: Use<A>, done: Done): Effect.Effect<A, TransportError> {
    return Effect.flatMap(Refused.fromResponse(response), (refused) => {
      const target = follow(response)
      if (typeof target === "string") return Effect.fail(redirected(refused, target))
      const { maxRedirects } = this.options
      if (done.redirects >= maxRedirects) {
        return Effect.fail(redirected(refused, `it was redirected more than ${maxRedirects} times`))
      }
      const request = HttpClientRequest.setUrl(bare(response.request), target)
      return this.attempt(request, use, { ...done, redirects: done.redirects + 1 })
    })
  }
}

const bare = (request: Request): Request => HttpClientRequest.setUrlParams(HttpClientRequest.removeHash(request), [])

/** Where a response leads, or why we do not go there. */
const follow = ({ headers, request, status }: Response): URL | string => {
  // A browser does not say where to.
  if (status === 0) return "the platform does not say where to"
  const kept = status === 307 || status === 308 ||
    (request.method === "GET" && (status === 301 || status === 302 || status === 303))
  if (!kept) return `with ${status} a ${request.method} would become another request`
  const { location } = headers
  if (location === undefined) return "it does not say where to"
  const target = Either.getOrUndefined(Url.fromString(location, request.url))
  if (target === undefined) return "where to is no URL"
  // Whatever came along with the request was meant for this origin, and for nobody else.
  if (target.origin !== new URL(request.url).origin) return `"${target.origin}" is another origin`
  return target.username === "" && target.password === "" ? target : "where to holds credentials"
}

const redirected = (refused: HttpRefused, why: string): TransportError =>
  new TransportError({
    reason: "Write",
    message: `${refused.method} ${refused.url} was redirected, and that is not followed: ${why}`,
    cause: refused
  })

const notSent = (message: string, cause: unknown): TransportError =>
  new TransportError({ reason: "Write", message, cause })

const unreached = (request: Request, error: HttpClientError.HttpClientError): TransportError => {
  const innermost = root(error)
  const never = error._tag === "RequestError" && (error.reason !== "Transport" || isUnreached(innermost))
  const why = Refused.redact(sentence(innermost), request.headers)
  return new TransportError({
    reason: never ? "Write" : "Read",
    message: `${request.method} ${request.url} ${never ? "was not sent" : "failed, and may have been served"}: ${why}`,
    cause: error
  })
}

/** What an error was made of, in the end. */
const root = (error: unknown): unknown => {
  let inner = error
  for (let depth = 0; depth < 8; depth++) {
    const cause: unknown = (inner as { readonly cause?: unknown } | undefined)?.cause
    if (cause === undefined || cause === null) return inner
    inner = cause
  }
  return inner
}

const codeOf = (error: unknown): string | undefined => {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === "string" ? code : undefined
}

const sentence = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  // A connection that was tried at several addresses has no message.
  return message === "" ? codeOf(error) ?? "no reason given" : message
}

// Nothing was written as long as there was no connection, and on one that is not trusted.
const unreachedCodes =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|ERR_INVALID_\w+|ERR_TLS_\w+|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/

const isUnreached = (error: unknown): boolean => unreachedCodes.test(codeOf(error) ?? "")

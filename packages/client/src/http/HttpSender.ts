/**
 * Sends one HTTP request through the platform's `HttpClient`, up to its response: adds the headers of the application,
 * follows redirects within the same origin, and runs `authorize` once when the server answers 401 or 403.
 *
 * It knows no message and no session. `HttpConnection` has one sender; it closes the connection of each response whose body
 * was not read to its end.
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
import * as Stream from "effect/Stream"
import type { HttpRefused } from "../HttpRefused.js"
import * as Refusal from "./Refusal.js"
import type { Settings } from "./Settings.js"
import { applicationHeaders } from "./Settings.js"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse

/**
 * Both functions take a response of any status. They fail with reason `Write` when the request surely did not reach the
 * server, and with `Read` when it may have.
 */
export interface HttpSender {
  /** Sends a request and runs an effect that reads the body of the response, or fails. */
  readonly send: <A, E>(
    request: Request,
    use: (response: Response) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E | TransportError>
  /** The same for a body that is read as a stream. */
  readonly stream: <A, E>(
    request: Request,
    use: (response: Response) => Stream.Stream<A, E>
  ) => Stream.Stream<A, E | TransportError>
}

/** What happened to a request before this attempt. */
interface Earlier {
  readonly redirects: number
  readonly isAuthorized: boolean
}

const first: Earlier = { redirects: 0, isAuthorized: false }

export const make = (client: HttpClient.HttpClient, settings: Settings): HttpSender => {
  const { authorize, headersEffect, maxRedirects } = settings
  const { execute } = HttpClient.withScope(client)

  const attempt = (request: Request, scope: Scope.Scope, earlier: Earlier): Effect.Effect<Response, TransportError> =>
    Effect.matchEffect(Effect.provideService(execute(request), Scope.Scope, scope), {
      onFailure: (error) => Effect.fail(noResponse(request, error)),
      onSuccess: (response) => {
        const { status } = response
        if (Refusal.isOk(response)) return Effect.succeed(response)
        if (status < 400 && status !== 304) return redirect(response, scope, earlier)
        const isDenied = status === 401 || status === 403
        return isDenied && !earlier.isAuthorized ? ask(response, scope, earlier) : Effect.succeed(response)
      }
    })

  const ask = (response: Response, scope: Scope.Scope, earlier: Earlier): Effect.Effect<Response, TransportError> => {
    if (authorize === undefined) return Effect.succeed(response)
    const { request } = response
    return Effect.flatMap(
      Refusal.fromResponse(response),
      (refused) =>
        Effect.matchEffect(Effect.suspend(() => authorize(refused, request)), {
          onFailure: (cause) => Effect.fail(notSent(refused.message, cause)),
          onSuccess: (headers) =>
            attempt(HttpClientRequest.setHeaders(request, applicationHeaders(headers)), scope, {
              ...earlier,
              isAuthorized: true
            })
        })
    )
  }

  const redirect = (
    response: Response,
    scope: Scope.Scope,
    earlier: Earlier
  ): Effect.Effect<Response, TransportError> =>
    Effect.flatMap(Refusal.fromResponse(response), (refused) => {
      const target = targetOf(response)
      if (typeof target === "string") return Effect.fail(redirected(refused, target))
      if (earlier.redirects >= maxRedirects) {
        return Effect.fail(redirected(refused, `it was redirected more than ${maxRedirects} times`))
      }
      const request = HttpClientRequest.setUrl(withoutQuery(response.request), target)
      return attempt(request, scope, { ...earlier, redirects: earlier.redirects + 1 })
    })

  const open = (request: Request, scope: Scope.Scope): Effect.Effect<Response, TransportError> =>
    headersEffect === undefined ? attempt(request, scope, first) : Effect.matchEffect(headersEffect, {
      onFailure: (cause) => Effect.fail(notSent("The headers of the request could not be made", cause)),
      onSuccess: (more) => attempt(HttpClientRequest.setHeaders(request, applicationHeaders(more)), scope, first)
    })

  return {
    send: (request, use) =>
      Effect.flatMap(Scope.make(), (scope) =>
        // A body that was read to its end leaves nothing to close, so success does not pay for it.
        Effect.onError(
          Effect.flatMap(open(request, scope), use),
          (cause) => Scope.close(scope, Exit.failCause(cause))
        )),
    stream: (request, use) =>
      Stream.unwrapScoped(Effect.flatMap(Effect.scope, (scope) => Effect.map(open(request, scope), use)))
  }
}

const withoutQuery = (request: Request): Request =>
  HttpClientRequest.setUrlParams(HttpClientRequest.removeHash(request), [])

/** The target of a redirect, or the reason not to follow it. */
const targetOf = ({ headers, request, status }: Response): URL | string => {
  // In a browser.
  if (status === 0) return "the platform hides its target"
  const keepsMethod = status === 307 || status === 308 ||
    (request.method === "GET" && (status === 301 || status === 302 || status === 303))
  if (!keepsMethod) return `with ${status} a ${request.method} would become another request`
  const { location } = headers
  if (location === undefined) return "it names no target"
  const target = Either.getOrUndefined(Url.fromString(location, request.url))
  if (target === undefined) return "its target is no URL"
  // The headers and the body are meant for this origin only.
  if (target.origin !== new URL(request.url).origin) return `"${target.origin}" is another origin`
  return target.username === "" && target.password === "" ? target : "its target holds credentials"
}

const redirected = (refused: HttpRefused, why: string): TransportError =>
  new TransportError({
    reason: "Write",
    message: `${refused.method} ${refused.url} was redirected, and the client does not follow: ${why}`,
    cause: refused
  })

const notSent = (message: string, cause: unknown): TransportError =>
  new TransportError({ reason: "Write", message, cause })

const noResponse = (request: Request, error: HttpClientError.HttpClientError): TransportError => {
  const innermost = rootOf(error)
  const wasSent = error._tag !== "RequestError" || (error.reason === "Transport" && !isUnreached(innermost))
  const why = Refusal.redact(describe(innermost), request.headers)
  return new TransportError({
    reason: wasSent ? "Read" : "Write",
    message: `${request.method} ${request.url} ${
      wasSent ? "failed, and may have been served" : "was not sent"
    }: ${why}`,
    cause: error
  })
}

/** The innermost cause of an error. */
const rootOf = (error: unknown): unknown => {
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

const describe = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  // The error of a connection that was tried at several addresses has no message.
  return message === "" ? codeOf(error) ?? "no reason given" : message
}

// A request is not written before there is a connection, nor on a connection that is not trusted.
const unreachedCodes =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|ERR_INVALID_\w+|ERR_TLS_\w+|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/

const isUnreached = (error: unknown): boolean => unreachedCodes.test(codeOf(error) ?? "")

/**
 * Sends one HTTP request through the platform's `HttpClient`, up to its response: adds the headers of the application and of
 * its `Authorizer`, follows redirects within the same origin, and runs `authorize` when the server answers 401 or 403: a
 * function once, an `Authorizer` up to five times.
 *
 * It knows no message and no session. `HttpConnection` has one sender; it closes the connection of each response whose body
 * was not read to its end.
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Credentials, PauseTimeouts } from "@effect-mcp/jsonrpc/Transport"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { HttpRefused } from "../HttpRefused.js"
import * as PlatformError from "./PlatformError.js"
import * as Redirect from "./Redirect.js"
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
  /** Counts how often the headers of the application change. `undefined` when they cannot change. */
  readonly credentials: Credentials | undefined
}

/** What happened to a request before this attempt. */
interface Earlier {
  readonly redirects: number
  readonly refusals: number
  /** The headers of the application that it has, without those of an `Authorizer`. */
  readonly given: Headers.Headers
}

const first: Earlier = { redirects: 0, refusals: 0, given: Headers.empty }

/** How many refusals of one request an `Authorizer` is given. */
const MAX_REFUSALS = 5

/** `url` is the URL of the connection. An `Authorizer` may wait for the user, so it runs in `pauseTimeouts`. */
export const make = (
  client: HttpClient.HttpClient,
  settings: Settings,
  url: URL,
  pauseTimeouts: PauseTimeouts
): HttpSender => {
  const { authorize, authorizer, headersEffect, maxRedirects } = settings
  const { execute } = HttpClient.withScope(client)
  const server = `${url.origin}${url.pathname}`
  const maxRefusals = authorizer !== undefined ? MAX_REFUSALS : authorize !== undefined ? 1 : 0

  const isFixed = authorize === undefined && authorizer === undefined && headersEffect === undefined
  let changes = 0
  // Kept in order to be compared with those of the next request, and no longer.
  let lastHeaders: Headers.Headers | undefined
  const count = (headers: Headers.Headers): number => {
    if (lastHeaders !== undefined && !isSame(lastHeaders, headers)) changes++
    lastHeaders = headers
    return changes
  }

  const attempt = (request: Request, scope: Scope.Scope, earlier: Earlier): Effect.Effect<Response, TransportError> =>
    authorizer === undefined ? send(request, scope, earlier, earlier.given) : Effect.matchEffect(
      Effect.suspend(() => authorizer.headers(request, server)),
      {
        onFailure: (cause) => Effect.fail(notSent("The request could not be authorized", cause)),
        onSuccess: (headers) => {
          const more = applicationHeaders(headers)
          return send(HttpClientRequest.setHeaders(request, more), scope, earlier, Headers.setAll(earlier.given, more))
        }
      }
    )

  const send = (
    request: Request,
    scope: Scope.Scope,
    earlier: Earlier,
    headers: Headers.Headers
  ): Effect.Effect<Response, TransportError> => {
    if (!isFixed) count(headers)
    return Effect.matchEffect(Effect.provideService(execute(request), Scope.Scope, scope), {
      onFailure: (error) => Effect.fail(noResponse(request, error)),
      onSuccess: (response) => {
        const { status } = response
        if (Refusal.isOk(response)) return Effect.succeed(response)
        if (status < 400 && status !== 304) return redirect(response, scope, earlier)
        const isDenied = status === 401 || status === 403
        return isDenied && earlier.refusals < maxRefusals ? ask(response, scope, earlier) : Effect.succeed(response)
      }
    })
  }

  const ask = (response: Response, scope: Scope.Scope, earlier: Earlier): Effect.Effect<Response, TransportError> => {
    const { request } = response
    const refusals = earlier.refusals + 1
    return Effect.flatMap(
      Refusal.fromResponse(response),
      (refused) =>
        Effect.matchEffect(
          Effect.suspend((): Effect.Effect<Headers.Input | boolean, unknown> =>
            authorizer !== undefined
              ? pauseTimeouts(authorizer.onRefused(refused, request, server, refusals))
              : authorize!(refused, request)
          ),
          {
            onFailure: (cause) =>
              Effect.fail(notSent(
                `${refused.method} ${refused.url} was answered with ${refused.status}, and \`authorize\` failed: see the cause`,
                cause
              )),
            onSuccess: (headers) => {
              if (headers === false) return Effect.succeed(Refusal.toResponse(refused, request))
              if (headers === true) return attempt(request, scope, { ...earlier, refusals })
              const more = applicationHeaders(headers)
              const given = Headers.setAll(earlier.given, more)
              return attempt(HttpClientRequest.setHeaders(request, more), scope, { ...earlier, refusals, given })
            }
          }
        )
    )
  }

  const redirect = (
    response: Response,
    scope: Scope.Scope,
    earlier: Earlier
  ): Effect.Effect<Response, TransportError> =>
    Effect.flatMap(Refusal.fromResponse(response), (refused) => {
      const target = Redirect.targetOf(response)
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
      onSuccess: (headers) => {
        const given = applicationHeaders(headers)
        return attempt(HttpClientRequest.setHeaders(request, given), scope, { ...first, given })
      }
    })

  const now = Effect.gen(function*() {
    const given = applicationHeaders(yield* headersEffect ?? Effect.succeed(Headers.empty))
    const request = HttpClientRequest.post(url, { headers: Headers.setAll(settings.headers, given) })
    return count(
      Headers.setAll(
        given,
        applicationHeaders(yield* authorizer?.headers(request, server) ?? Effect.succeed(Headers.empty))
      )
    )
  })

  return {
    credentials: isFixed ? undefined : { last: () => changes, now },
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

/** Whether two requests have the same credentials. A proof of possession is another one in each request. */
const isSame = (one: Headers.Headers, other: Headers.Headers): boolean => {
  const names = (headers: Headers.Headers) => Object.keys(headers).filter((name) => name !== "dpop")
  const all = names(one)
  return all.length === names(other).length && all.every((name) => one[name] === other[name])
}

const withoutQuery = (request: Request): Request =>
  HttpClientRequest.setUrlParams(HttpClientRequest.removeHash(request), [])

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
    cause: PlatformError.withoutHeaders(error)
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

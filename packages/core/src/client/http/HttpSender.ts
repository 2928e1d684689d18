/**
 * Sends one HTTP request through the `HttpClient` of the platform, up to its response. It adds the headers of the application and of its
 * `Authorizer`, follows redirects within the same origin, and remembers the target of a permanent redirect. When the server answers with
 * status 401 or 403, it runs `authorize`: a function once, an `Authorizer` up to five times.
 *
 * A sender does not depend on messages or sessions. `HttpConnection` has one sender. The sender closes the HTTP connection of each response
 * whose body was not read to its end.
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import type { Credentials, PauseTimeouts } from "../../jsonrpc/Transport.js"
import type { RefusedRequest } from "../Authorizer.js"
import type { HttpResponseError } from "../HttpResponseError.js"
import * as PlatformError from "./PlatformError.js"
import * as Redirect from "./Redirect.js"
import * as RefusedResponse from "./RefusedResponse.js"
import { applicationHeaders, type Settings } from "./Settings.js"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse

/**
 * `send` and `stream` accept a response of any status. They fail with reason `Write` when the request certainly did not reach the server,
 * and with reason `Read` when it may have reached the server.
 */
export interface HttpSender {
  /** Sends a request, and runs `use`, which must read the body of the response or fail. */
  readonly send: <A, E>(
    request: Request,
    use: (response: Response) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E | TransportError>
  /** Like `send`, for a body that is read as a stream. */
  readonly stream: <A, E>(
    request: Request,
    use: (response: Response) => Stream.Stream<A, E>
  ) => Stream.Stream<A, E | TransportError>
  /** Counts how often the headers of the application change. `undefined` when they cannot change. */
  readonly credentials: Credentials | undefined
  /** Returns the message. If the message is an error, its texts are returned without secret values of the client's own headers. */
  readonly redacted: (message: Message.Incoming) => Message.Incoming
}

/** What happened to a request before this attempt. */
interface Earlier {
  readonly redirects: number
  /** The request as the connection has made it; `undefined` after a redirect that was not permanent. */
  readonly asked: Request | undefined
  readonly refusals: number
  /** What an `Authorizer` remembers of the request; `undefined` before the first refusal. */
  readonly memory: RefusedRequest["memory"] | undefined
  /** The headers that the application has given to the request, without the headers of an `Authorizer`. */
  readonly given: Headers.Headers
}

const first: Earlier = { redirects: 0, asked: undefined, refusals: 0, memory: undefined, given: Headers.empty }

/**
 * Copies a JSON value, and changes each text and each member name with `change`. The function does not recurse, because the server chooses
 * how deep the value nests.
 */
const withTexts = (given: unknown, change: (text: string) => string): unknown => {
  const unfinished: Array<readonly [from: object, to: Record<string, unknown>]> = []
  const copyOf = (value: unknown): unknown => {
    if (typeof value === "string") return change(value)
    if (typeof value !== "object" || value === null) return value
    const to = Array.isArray(value) ? [] : {}
    unfinished.push([value, to as Record<string, unknown>])
    return to
  }
  const copied = copyOf(given)
  for (let next = unfinished.pop(); next !== undefined; next = unfinished.pop()) {
    const [from, to] = next
    for (const [name, value] of Object.entries(from)) to[change(name)] = copyOf(value)
  }
  return copied
}

/** How many refusals of one request an `Authorizer` gets. */
const MAX_REFUSALS = 5

/** Makes a sender. `url` is the URL of the connection. An `Authorizer` runs in `pauseTimeouts`, because it may wait for the user. */
export const make = (
  client: HttpClient.HttpClient,
  settings: Settings,
  url: URL,
  pauseTimeouts: PauseTimeouts
): HttpSender => {
  const attempts = new Attempts(client, settings, url, pauseTimeouts)
  return {
    redacted: (message) =>
      Message.isMalformed(message) || !Message.isResponse(message) || Message.isSuccess(message)
        ? message
        : attempts.redacted(message),
    credentials: attempts.isFixed ? undefined : { last: () => attempts.changes, now: attempts.now },
    send: (request, use) =>
      Effect.flatMap(Scope.make(), (scope) =>
        // A body that was read to its end leaves nothing to close, so nothing is closed after a success.
        Effect.onError(
          Effect.flatMap(attempts.open(request, scope), use),
          (cause) => Scope.close(scope, Exit.failCause(cause))
        )),
    stream: (request, use) =>
      Stream.unwrapScoped(Effect.flatMap(Effect.scope, (scope) => Effect.map(attempts.open(request, scope), use)))
  }
}

/**
 * Sends requests, and sends them again after a redirect or a refusal. The mutable fields: `changes` counts how often the headers of the
 * application have changed. `lastHeaders` are the headers of the last request, and `headersBefore` are the headers before their last
 * change. `moved` has the target of the last permanent redirect, by the method and the URL of the request; a connection has at most two
 * URLs.
 */
class Attempts {
  /** Whether the headers of the application cannot change. */
  readonly isFixed: boolean
  changes = 0
  // Kept for comparison with the headers of the next request.
  private lastHeaders: Headers.Headers | undefined
  private headersBefore: Headers.Headers | undefined
  private readonly moved = new Map<string, URL>()
  private readonly execute: (request: Request) => Effect.Effect<Response, PlatformError.PlatformError, Scope.Scope>
  private readonly server: string
  private readonly maxRefusals: number

  constructor(
    client: HttpClient.HttpClient,
    private readonly settings: Settings,
    private readonly url: URL,
    private readonly pauseTimeouts: PauseTimeouts
  ) {
    const { authorize, authorizer, headersEffect } = settings
    this.execute = HttpClient.withScope(client).execute
    this.server = `${url.origin}${url.pathname}`
    this.maxRefusals = authorizer !== undefined ? MAX_REFUSALS : authorize !== undefined ? 1 : 0
    this.isFixed = authorize === undefined && authorizer === undefined && headersEffect === undefined
  }

  private count(headers: Headers.Headers): number {
    if (this.lastHeaders !== undefined && !isSame(this.lastHeaders, headers)) {
      this.changes++
      this.headersBefore = this.lastHeaders
    }
    this.lastHeaders = headers
    return this.changes
  }

  /**
   * Removes the client's own secrets from an error of the server. An answer may arrive after the headers of the application have changed,
   * so both the new and the previous headers are removed.
   */
  redacted(message: Message.Failure): Message.Failure {
    const sent = [this.settings.headers, this.lastHeaders, this.headersBefore].filter(Predicate.isNotUndefined)
    const clean = (text: string): string => sent.reduce(RefusedResponse.redact, text)
    // Texts are replaced by texts, so the shape of the error stays.
    return { ...message, error: withTexts(message.error, clean) as Message.Failure["error"] }
  }

  private attempt(request: Request, scope: Scope.Scope, earlier: Earlier): Effect.Effect<Response, TransportError> {
    const { authorizer } = this.settings
    return authorizer === undefined ? this.send(request, scope, earlier, earlier.given) : Effect.matchEffect(
      Effect.suspend(() => authorizer.headers(request, this.server)),
      {
        onFailure: (cause) => Effect.fail(notSent("The request could not be authorized", cause)),
        onSuccess: (headers) => {
          const more = applicationHeaders(headers)
          return this.send(
            HttpClientRequest.setHeaders(request, more),
            scope,
            earlier,
            Headers.setAll(earlier.given, more)
          )
        }
      }
    )
  }

  private send(
    request: Request,
    scope: Scope.Scope,
    earlier: Earlier,
    headers: Headers.Headers
  ): Effect.Effect<Response, TransportError> {
    if (!this.isFixed) this.count(headers)
    return Effect.matchEffect(Effect.provideService(this.execute(request), Scope.Scope, scope), {
      onFailure: (error) => Effect.fail(noResponse(request, error)),
      onSuccess: (response) => {
        const { status } = response
        if (RefusedResponse.isOk(response)) return Effect.succeed(response)
        if (status < 400 && status !== 304) return this.redirect(response, scope, earlier)
        // The endpoint may be back at its first URL.
        if (earlier.asked !== undefined && (status === 404 || status === 410)) this.moved.delete(keyOf(earlier.asked))
        const isDenied = status === 401 || status === 403
        return isDenied && earlier.refusals < this.maxRefusals
          ? this.ask(response, scope, earlier)
          : Effect.succeed(response)
      }
    })
  }

  private ask(response: Response, scope: Scope.Scope, earlier: Earlier): Effect.Effect<Response, TransportError> {
    const { request } = response
    const { authorize, authorizer } = this.settings
    const { server } = this
    const attempt = earlier.refusals + 1
    const memory: RefusedRequest["memory"] = earlier.memory ?? new Map()
    const later = { ...earlier, refusals: attempt, memory }
    return Effect.flatMap(
      RefusedResponse.fromResponse(response),
      (refused) =>
        Effect.matchEffect(
          Effect.suspend((): Effect.Effect<Headers.Input | boolean, unknown> =>
            authorizer !== undefined
              ? this.pauseTimeouts(authorizer.onRefused({ request, refusal: refused, server, attempt, memory }))
              : authorize!(refused, request)
          ),
          {
            onFailure: (cause) =>
              Effect.fail(notSent(
                `${refused.method} ${refused.url} was answered with ${refused.status}, and \`authorize\` failed: see the cause`,
                cause
              )),
            onSuccess: (headers) => {
              if (headers === false) return Effect.succeed(RefusedResponse.toResponse(refused, request))
              if (headers === true) return this.attempt(request, scope, later)
              const more = applicationHeaders(headers)
              const given = Headers.setAll(earlier.given, more)
              return this.attempt(HttpClientRequest.setHeaders(request, more), scope, { ...later, given })
            }
          }
        )
    )
  }

  private redirect(
    response: Response,
    scope: Scope.Scope,
    earlier: Earlier
  ): Effect.Effect<Response, TransportError> {
    return Effect.flatMap(RefusedResponse.fromResponse(response), (refused) => {
      const target = Redirect.targetOf(response)
      if (typeof target === "string") return Effect.fail(redirected(refused, target))
      if (earlier.redirects >= this.settings.maxRedirects) {
        return Effect.fail(redirected(refused, `it was redirected more than ${this.settings.maxRedirects} times`))
      }
      const asked = Redirect.isPermanent(response) ? earlier.asked : undefined
      if (asked !== undefined) this.moved.set(keyOf(asked), target)
      const later = { ...earlier, redirects: earlier.redirects + 1, asked }
      return this.attempt(moveTo(response.request, target), scope, later)
    })
  }

  open(asked: Request, scope: Scope.Scope): Effect.Effect<Response, TransportError> {
    const { headersEffect } = this.settings
    const target = this.targetOf(asked)
    const request = target === undefined ? asked : moveTo(asked, target)
    const earlier = { ...first, asked }
    return headersEffect === undefined ? this.attempt(request, scope, earlier) : Effect.matchEffect(headersEffect, {
      onFailure: (cause) => Effect.fail(notSent("The headers of the request could not be made", cause)),
      onSuccess: (headers) => {
        const given = applicationHeaders(headers)
        return this.attempt(HttpClientRequest.setHeaders(request, given), scope, { ...earlier, given })
      }
    })
  }

  /**
   * Returns the URL to which a request has moved; `undefined` when it has not moved. Every MCP endpoint supports POST, so a redirect of
   * POST moves the endpoint. A redirect of GET may lead to a page for browsers, so it moves only GET.
   */
  private targetOf(request: Request): URL | undefined {
    if (this.moved.size === 0) return undefined
    return this.moved.get(keyOf(request)) ?? this.moved.get(keyOf(request, "POST"))
  }

  /** Makes the headers that a request would have now. Returns how often these headers have changed, including a change that happens now. */
  get now(): Effect.Effect<number, unknown> {
    return Effect.gen(this, function*() {
      const given = applicationHeaders(yield* this.settings.headersEffect ?? Effect.succeed(Headers.empty))
      const request = HttpClientRequest.post(this.url, { headers: Headers.setAll(this.settings.headers, given) })
      return this.count(
        Headers.setAll(
          given,
          applicationHeaders(
            yield* this.settings.authorizer?.headers(request, this.server) ?? Effect.succeed(Headers.empty)
          )
        )
      )
    })
  }
}

/** Whether two requests have the same credentials. The header `dpop` is not compared, because it differs in each request. */
const isSame = (one: Headers.Headers, other: Headers.Headers): boolean => {
  const names = (headers: Headers.Headers) => Object.keys(headers).filter((name) => name !== "dpop")
  const all = names(one)
  return all.length === names(other).length && all.every((name) => one[name] === other[name])
}

const moveTo = (request: Request, target: URL): Request =>
  HttpClientRequest.setUrl(HttpClientRequest.setUrlParams(HttpClientRequest.removeHash(request), []), target)

const keyOf = (request: Request, method: string = request.method): string =>
  `${method} ${Option.getOrUndefined(HttpClientRequest.toUrl(request))?.href}`

const redirected = (refused: HttpResponseError, why: string): TransportError =>
  new TransportError({
    reason: "Write",
    message: `${refused.method} ${refused.url} was redirected, and the client does not follow: ${why}`,
    cause: refused
  })

const notSent = (message: string, cause: unknown): TransportError =>
  new TransportError({ reason: "Write", message, cause })

const noResponse = (request: Request, error: PlatformError.PlatformError): TransportError => {
  const innermost = rootOf(error)
  const wasSent = PlatformError.wasSent(error, isUnreached(innermost))
  const why = RefusedResponse.redact(describe(innermost), request.headers)
  return new TransportError({
    reason: wasSent ? "Read" : "Write",
    message: `${request.method} ${request.url} ${
      wasSent ? "failed, and the server may have served it" : "was not sent"
    }: ${why}`,
    cause: PlatformError.withoutHeaders(error)
  })
}

/** Returns the innermost cause of an error. */
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

// With these codes the request was not written: there was no connection, or the client did not trust the connection.
const unreachedCodes =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|ERR_INVALID_\w+|ERR_TLS_\w+|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/

const isUnreached = (error: unknown): boolean => unreachedCodes.test(codeOf(error) ?? "")

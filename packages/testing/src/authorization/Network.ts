/**
 * An `HttpClient` without sockets: each origin is a function that answers web requests. A request to another origin fails as
 * if nothing listened there.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Host } from "../AuthorizationServerOptions.js"

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): Effect.Effect<BodyInit | undefined> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed(undefined)
    case "FormData":
      return Effect.succeed(body.formData)
    case "Stream":
      return Stream.toReadableStreamEffect(Stream.orDie(body.stream))
    default:
      // The platform types the body of "Raw" as unknown: it is what the application gave to `fetch`.
      return Effect.succeed(body.body as BodyInit)
  }
}

export const make = (hosts: ReadonlyMap<string, Host>): HttpClient.HttpClient =>
  HttpClient.make((request, url, signal) => {
    const broken = (cause: unknown) => new HttpClientError.RequestError({ request, reason: "Transport", cause })
    const host = hosts.get(url.origin)
    if (host === undefined) return Effect.fail(broken(new Error(`Nothing listens at ${url.origin}`)))
    return Effect.gen(function*() {
      const body = yield* bodyOf(request)
      const { "content-length": _, ...headers } = request.headers
      const init = { method: request.method, headers, signal, ...(body === undefined ? {} : { body, duplex: "half" }) }
      const answer = host(new Request(url, init))
      const response = yield* Effect.isEffect(answer)
        ? Effect.mapError(answer, broken)
        : Effect.tryPromise({ try: () => answer, catch: broken })
      return HttpClientResponse.fromWeb(request, response)
    })
  })

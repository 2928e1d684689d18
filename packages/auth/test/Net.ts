/**
 * A network in memory: an `HttpClient` whose requests are answered by functions, one per origin, and recorded. There is no
 * socket, and only the test clock.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { Effect, Layer } from "effect"
import * as PlatformErrors from "../../testing/test/support/PlatformErrors.js"

export interface Received {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The fields of a form. */
  readonly form: URLSearchParams
}

export type Handler = (request: Received) => Response | Effect.Effect<Response>

export interface Net {
  readonly client: HttpClient.HttpClient
  readonly layer: Layer.Layer<HttpClient.HttpClient>
  /** All requests so far. */
  readonly received: Array<Received>
  /** The requests so far as texts: method and URL. */
  readonly log: () => ReadonlyArray<string>
  readonly add: (origin: string, handler: Handler) => void
}

const textOf = (request: HttpClientRequest.HttpClientRequest): string => {
  const { body } = request
  return body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
}

export const make = (hosts: Readonly<Record<string, Handler>> = {}): Net => {
  const handlers = new Map(Object.entries(hosts))
  const received: Array<Received> = []
  const client = HttpClient.make((request, url) =>
    Effect.suspend(() => {
      const text = textOf(request)
      const one: Received = {
        method: request.method,
        url,
        headers: { ...request.headers },
        text,
        form: new URLSearchParams(text)
      }
      received.push(one)
      const handler = handlers.get(url.origin)
      if (handler === undefined) {
        const cause = new Error(`connect ECONNREFUSED ${url.href} ${text}`)
        return Effect.fail(PlatformErrors.lost(request, cause))
      }
      const answer = handler(one)
      return Effect.map(
        Effect.isEffect(answer) ? answer : Effect.succeed(answer),
        (response) => HttpClientResponse.fromWeb(request, response)
      )
    })
  )
  return {
    client,
    layer: Layer.succeed(HttpClient.HttpClient, client),
    received,
    log: () => received.map(({ method, url }) => `${method} ${url.href}`),
    add: (origin, handler) => void handlers.set(origin, handler)
  }
}

export const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } })

export const notFound = (): Response => new Response("<html>not found</html>", { status: 404 })

/** Documents by path; every other path is not found. */
export const documents = (byPath: Readonly<Record<string, unknown>>): Handler => ({ url }) => {
  const value = byPath[url.pathname]
  return value === undefined ? notFound() : value instanceof Response ? value.clone() : json(value)
}

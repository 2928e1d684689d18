/**
 * Who adds credentials to the requests of a connection over HTTP, and finds new ones when the server refuses them. `Remote` takes an
 * authorizer as its option `authorize`.
 *
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Effect from "effect/Effect"
import type { HttpResponseError } from "./HttpResponseError.js"

/**
 * Adds credentials to every request of a connection, and finds new ones when the server refuses them. `server` is the URL of
 * the connection, without its query. `Authorization` of package `auth` has an authorizer for OAuth.
 *
 * @category models
 */
export interface Authorizer<out R = never> {
  /**
   * The headers for one attempt to send a request. When it fails, the request fails with that failure as its cause. It runs as
   * well before a private result of the client's cache is used again, which needs the headers that it was requested with; a
   * header `dpop` may differ.
   */
  readonly headers: (
    request: HttpClientRequest.HttpClientRequest,
    server: string
  ) => Effect.Effect<Headers.Input, unknown, R>
  /**
   * Runs when a request is answered with 401 or 403. `true` sends it once more, with new `headers`; `false` leaves it refused.
   * `attempt` counts the refusals of this request from 1; after the fifth, the request is refused. Meanwhile the timeouts of
   * all calls of the connection stand still, because it may wait for the user; `maxTotalTimeout` runs on.
   */
  readonly onRefused: (
    refusal: HttpResponseError,
    request: HttpClientRequest.HttpClientRequest,
    server: string,
    attempt: number
  ) => Effect.Effect<boolean, unknown, R>
}

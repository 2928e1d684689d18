/**
 * What the platform's HTTP clients read from the fiber that runs them. Every effect of a connection
 * runs with these settings, its finalizers included.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * Runs an effect in which `fetch` follows no redirect, logs and spans show no session id, and requests make spans only if
 * the application wants them.
 */
export const configure = (tracing: boolean) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  effect.pipe(
    Effect.locallyWith(Headers.currentRedactedNames, (names) => [...names, "mcp-session-id"]),
    tracing ? (self) => self : Effect.locally(HttpClient.currentTracerDisabledWhen, () => true),
    // `fetch` would follow redirects with all headers of the request.
    Effect.mapInputContext((context: Context.Context<R>) => {
      const given = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
      return Context.add(context, FetchHttpClient.RequestInit, { ...given, redirect: "manual" })
    })
  )

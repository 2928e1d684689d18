/**
 * Settings that the HTTP clients of the platform read from the fiber that runs them: `fetch` does not follow redirects. Logs and spans do
 * not show the session id. A request makes a span only when its call has a span. `negotiation/HttpTransport` runs every effect of a
 * connection with these settings, also its finalizers. `Documents` of package `auth` runs its requests with them.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"

/** Runs an effect in which `fetch` follows no redirect, logs and spans show no session id, and requests make no spans. */
export const configure = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  effect.pipe(
    Effect.locallyWith(Headers.currentRedactedNames, (names) => [...names, "mcp-session-id"]),
    Effect.locally(HttpClient.currentTracerDisabledWhen, () => true),
    // Without this setting, `fetch` would follow redirects with all headers of the request.
    Effect.mapInputContext((context: Context.Context<R>) => {
      const given = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
      return Context.add(context, FetchHttpClient.RequestInit, { ...given, redirect: "manual" })
    })
  )

/** Runs an effect whose requests make spans that are children of `span`. */
export const below =
  (span: Tracer.AnySpan, tracer: Tracer.Tracer) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.locally(HttpClient.currentTracerDisabledWhen, () => false),
      Effect.withParentSpan(span),
      Effect.withTracer(tracer)
    ) as Effect.Effect<A, E, R>

/**
 * Settings that the HTTP clients of Effect read from the fiber that runs them. This module replaces `PlatformClient` for version 4. Every
 * effect of a connection runs with these settings, also its finalizers.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import type * as Tracer from "effect/Tracer"

/** Runs an effect in which `fetch` follows no redirect, logs and spans show no session id, and requests make no spans. */
export const configure = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateContext(effect, (context: Context.Context<R>) => {
    const names = Context.get(context, Headers.CurrentRedactedNames)
    const redacted = Context.add(context, Headers.CurrentRedactedNames, [...names, "mcp-session-id"])
    const quiet = Context.add(redacted, HttpClient.TracerDisabledWhen, () => true)
    const given = Context.getOrUndefined(quiet as Context.Context<any>, FetchHttpClient.RequestInit)
    // Without this setting, `fetch` would follow redirects with all headers of the request.
    return Context.add(quiet, FetchHttpClient.RequestInit, { ...given, redirect: "manual" }) as never
  })

/** Runs an effect whose requests make spans that are children of `span`. */
export const below =
  (span: Tracer.AnySpan, tracer: Tracer.Tracer) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.provideService(HttpClient.TracerDisabledWhen, () => false),
      Effect.withParentSpan(span),
      Effect.withTracer(tracer)
    ) as Effect.Effect<A, E, R>

/**
 * Probes of the health of a process, and endpoints on top of checks.
 */
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Effect, Exit, Layer, Scope as Scopes, TestClock } from "effect"
import { GreetLive, serve } from "../Serving.js"
import { answered, type EndpointClient, makeClient } from "./TestExchange.js"

export const probe = (http: EndpointClient, path: string, method = "GET") => {
  const exchange = http.send(method, { host: "10.0.0.7:3000" }, "", path)
  return Effect.zipRight(TestClock.adjust("1 millis"), answered(exchange))
}

export const status = (http: EndpointClient, path: string) => Effect.map(probe(http, path), ({ status }) => status)

/** A client of an endpoint on top of these checks, and what closes the endpoint. */
export const serving = (checks: Layer.Layer<never>, options?: HttpOptions, features = GreetLive) =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scopes.make(), (scope) => Scopes.close(scope, Exit.void))
    const context = yield* Layer.build(Layer.merge(serve(features), checks))
    const http = yield* makeClient({ health: true, ...options }).pipe(Effect.provide(context), Scopes.extend(scope))
    return { http, close: Scopes.close(scope, Exit.void) }
  })

/**
 * Builds the application's session layer: anew for every client, over the services that the application provides to all
 * clients, and released with the session. Two clients never share what it builds. Each era decides when a session begins.
 */
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { RequestContext, type RequestContextService } from "../RequestContext.js"
import type { RequestOrigin } from "./RequestOrigin.js"

export interface SessionLayer {
  /** Builds the services of a session in its scope. `request` is the request that begins the session. */
  readonly build: (
    request: RequestContextService & { readonly origin: Pick<RequestOrigin, "user"> },
    scope: Scope.Scope
  ) => Effect.Effect<Context.Context<never>, unknown>
}

export const make = (
  layer: Layer.Layer<never, unknown, any>,
  application: Context.Context<never>
): SessionLayer => {
  const context = Context.omit(Scope.Scope)(application as Context.Context<any>)
  // With a memo map of its own for each session: a shared one would give one client's services to the next.
  const fresh = Layer.fresh(layer)
  return {
    build: (request, scope) =>
      Effect.flatMap(
        // A scope of its own, so that a layer that fails half-way releases at once what it built.
        Effect.zip(Layer.makeMemoMap, Edition.childOf(scope)),
        ([memo, own]) =>
          Effect.onExit(
            Effect.mapInputContext(
              Layer.buildWithMemoMap(fresh, memo, own),
              () =>
                Context.add(
                  request.origin.user === undefined ? context : Context.merge(context, request.origin.user),
                  RequestContext,
                  request
                ) as Context.Context<any>
            ),
            (exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(own, exit)
          )
      )
  }
}

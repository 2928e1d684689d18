/**
 * The application's own layer for each client: what it builds is built anew for every session, over what the application
 * provides to all, and is gone with the session. Two clients never share it.
 *
 * When a session begins is the business of each era.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { RequestContextService } from "../RequestContext.js"
import { RequestContext } from "../RequestContext.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface SessionLayer {
  /** Builds it in the scope of a session, for whoever made this request. */
  readonly build: (request: RequestContextService, scope: Scope.Scope) => Effect.Effect<Context.Context<never>, unknown>
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  layer: Layer.Layer<never, unknown, any>,
  application: Context.Context<never>
): SessionLayer => {
  const context = Context.omit(Scope.Scope)(application as Context.Context<any>)
  // Fresh, and each with a memo map of its own: one that is shared would hand one client's session to the next.
  const fresh = Layer.fresh(layer)
  return {
    // In a scope of its own: what was built of a layer that fails is released at once, not with the conversation.
    build: (request, scope) =>
      Effect.flatMap(
        Effect.zip(Layer.makeMemoMap, Scope.fork(scope, ExecutionStrategy.sequential)),
        ([memo, own]) =>
          Effect.onExit(
            Effect.mapInputContext(
              Layer.buildWithMemoMap(fresh, memo, own),
              () => Context.add(context, RequestContext, request) as Context.Context<any>
            ),
            (exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(own, exit)
          )
      )
  }
}

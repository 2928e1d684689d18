/**
 * A feature: a layer that registers entries with a server. Their handlers run with the context that the layer was built with, and with the
 * services of the request; where both have a service, a handler gets the service of the request. `McpServer` makes features;
 * `features/Surroundings` runs handlers inside what `visible`, `requires` and `provide` say. `FeatureMiddleware` runs around each use.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import type { CallError } from "../jsonrpc/Outbound.js"
import type { ExtendedResult } from "../protocol/Extension.js"
import type { McpError, NameOf } from "../protocol/McpError.js"
import * as SurroundedRegistry from "./features/SurroundedRegistry.js"
import * as Surroundings from "./features/Surroundings.js"
import type { HttpRefusal } from "./HttpRefusal.js"
import { type FeatureEntry, type Registered, Registry, type RegistryService } from "./Registry.js"
import type { RequestContext } from "./RequestContext.js"
import * as HandlerResult from "./runtime/HandlerResult.js"
import type { ServerSession } from "./ServerSession.js"

/**
 * A layer that registers entries with a server, and requires `R` for their handlers.
 *
 * @category models
 */
export type Feature<R = never> = Layer.Layer<never, never, Registry | R>

/**
 * The services of a request: a handler may use them, and its layer does not require them.
 *
 * @category models
 */
export type RequestServices = RequestContext | ServerSession | Scope.Scope

/**
 * The failures that every handler may have beside the failures that its definition declares. The calling program receives them as JSON-RPC
 * errors. An `HttpRefusal` decides the HTTP status, too. An `ExtendedResult` is not an error: it answers the request with a result of an
 * extension.
 *
 * @category models
 */
export type Fails = McpError | CallError | HttpRefusal | ExtendedResult

/**
 * Accepts the effect of a handler that fails with `E`, when its definition declares these failures. Otherwise it is a
 * sentence for the compiler to show, which names the failure and what to do.
 *
 * @category models
 */
export type Declared<E, Failure = never> = [Exclude<E, Failure | Fails>] extends [never] ? unknown
  : [Failure] extends [never] ? `The handler fails with ${NameOf<
      Exclude<E, Failure | Fails>
    >}, which its definition does not declare: catch it, declare it as the "failure" of a tool, or fail with an McpError`
  : `The handler fails with ${NameOf<
    Exclude<E, Failure | Fails>
  >}, which its definition does not declare: catch it, or add it to the tool's "failure"`

/**
 * Accepts an effect that declares no failures: a completer, the list of a template, the handler of a whole method. Otherwise it is a
 * sentence for the compiler to show.
 *
 * @category models
 */
export type Allowed<E> = 0 extends 1 & E ? unknown // `any`: nothing was inferred
  : [Exclude<E, Fails>] extends [never] ? unknown
  : `This fails with ${NameOf<Exclude<E, Fails>>}: catch it, or fail with an McpError`

/**
 * A feature from a function that registers its entries, until the layer's scope closes. The function gets the context that
 * the layer was built with, without the layer's `Scope`.
 *
 * @category constructors
 */
export const make = <R = never>(
  register: (registry: RegistryService, context: Context.Context<never>) => Effect.Effect<void, never, Scope.Scope>
): Feature<R> =>
  Layer.scopedDiscard(
    Effect.gen(function*() {
      const registry = yield* Registry
      const context = yield* Effect.context<R>()
      yield* register(registry, Context.omit(Scope.Scope)(context as Context.Context<any>) as Context.Context<never>)
    })
  )

/**
 * Requires scopes of the user, all of them, for each use of a feature, or of a group of features: to call, read, get, complete and
 * subscribe to it. The option `requires` of a definition does the same for one entry.
 *
 * The `permit` of the server's `Authenticator` decides, before the arguments are decoded and the handler runs; without it every use is
 * refused. A client is refused once, with all scopes that the use requires: a feature may be inside of several `requires`. Over HTTP the
 * response has the status of the refusal, for example 403; a batch is refused as a whole.
 *
 * Lists show the feature to all users, so that a client can get the scope; resources that a template lists need its scopes. Where
 * `Feature.visible` surrounds the feature, a feature that the user does not see counts as unknown, and its scopes are not named.
 *
 * @example
 * ```ts
 * import * as Feature from "@effect-mcp/core/Feature"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect } from "effect"
 *
 * export const Delete = McpServer.tool(Tool.make("delete"), () => Effect.void).pipe(Feature.requires(["notes:write"]))
 * ```
 * @category combinators
 */
export const requires: {
  (scopes: ReadonlyArray<string>): <E, R>(feature: Layer.Layer<never, E, R>) => Layer.Layer<never, E, R | Registry>
  <E, R>(feature: Layer.Layer<never, E, R>, scopes: ReadonlyArray<string>): Layer.Layer<never, E, R | Registry>
} = dual(
  2,
  <E, R>(feature: Layer.Layer<never, E, R>, scopes: ReadonlyArray<string>): Layer.Layer<never, E, R | Registry> =>
    SurroundedRegistry.layer(feature, () => ({ _tag: "Requirement", scopes }))
)

/**
 * Decides for each request whether it sees a feature, or a group of features. What a request does not see is not listed,
 * completed or subscribed to, and calling, reading or getting it fails as if the server did not have it. A resource that is
 * hidden is not read through a template either. The capabilities of the server stay.
 *
 * The check is an effect, which decides for all entries of the features alike, or a function that gets the entry: its kind, its name, the
 * entry as lists show it, and its scopes. The effect may require the user, what the session layer, the middleware of the server and
 * `Feature.provide` provide, and `RequestContext`. An effect runs for each use of a feature, and once for a list, however many features
 * there are; for `resources/list` once more for each template with a list of its own. A function runs for each entry of a list. Where a
 * `Feature.provide` around the check refuses, a list leaves the features out.
 *
 * Clients are not notified when its answer changes: see `ServerSession` for the notifications to one client, and `Registry.changed` for the
 * notifications to all clients. From 2026-07-28 on, its lists and contents are cached for the sender alone.
 *
 * @example
 * ```ts
 * import * as Feature from "@effect-mcp/core/Feature"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Context, Effect, Layer } from "effect"
 *
 * class User extends Context.Tag("User")<User, { readonly isAdmin: boolean; readonly tools: ReadonlySet<string> }>() {}
 *
 * export const Delete = McpServer.tool(Tool.make("delete"), () => Effect.void).pipe(
 *   Feature.visible(Effect.map(User, ({ isAdmin }) => isAdmin))
 * )
 *
 * // Works for the features of a proxy, too.
 * export const byUser = <E, R>(features: Layer.Layer<never, E, R>) =>
 *   Feature.visible(features, (entry) => Effect.map(User, ({ tools }) => entry.kind !== "tool" || tools.has(entry.name)))
 * ```
 * @category combinators
 */
export const visible: {
  <VR>(
    check: Check<VR>
  ): <E, R>(
    feature: Layer.Layer<never, E, R>
  ) => Layer.Layer<never, E, R | Registry | Exclude<VR, RequestServices>>
  <E, R, VR>(
    feature: Layer.Layer<never, E, R>,
    check: Check<VR>
  ): Layer.Layer<never, E, R | Registry | Exclude<VR, RequestServices>>
} = dual(
  2,
  <E, R, VR>(
    feature: Layer.Layer<never, E, R>,
    check: Check<VR>
  ): Layer.Layer<never, E, R | Registry | Exclude<VR, RequestServices>> =>
    SurroundedRegistry.layer(feature, (own) => {
      const checked = (given: Effect.Effect<boolean, never, VR>): Effect.Effect<boolean> =>
        Effect.mapInputContext(
          HandlerResult.effect(given, "Feature.visible") as Effect.Effect<boolean>,
          (request: Context.Context<never>) => Context.merge(own, request)
        )
      if (!Predicate.isFunction(check)) {
        const always = checked(check)
        return { _tag: "Visibility", check: () => always }
      }
      return (describe) => ({
        _tag: "Visibility",
        check: (entry) => Effect.suspend(() => checked(check(describe(entry))))
      })
    })
)

/**
 * Whether a request sees an entry: an effect, or a function that gets the entry.
 *
 * @category models
 */
export type Check<R = never> =
  | Effect.Effect<boolean, never, R>
  | ((entry: FeatureEntry) => Effect.Effect<boolean, never, R>)

/**
 * Provides a service to the handlers of a feature, or of a group of features, and to the checks and the middleware inside: the effect makes
 * the service anew for each use, for each check of a list, and for each list of a resource template. When a request takes several rounds,
 * the effect runs in each round. It may require the user, and what the session layer and the middleware of the server provide.
 *
 * When the effect fails with an `McpError`, the request is refused; for a tool it may also fail with a failure that the tool declares,
 * which the model reads. Any other failure is a defect.
 *
 * @example
 * ```ts
 * import * as Feature from "@effect-mcp/core/Feature"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Context, Effect } from "effect"
 *
 * class User extends Context.Tag("User")<User, { readonly tenant: string }>() {}
 * class Tenant extends Context.Tag("Tenant")<Tenant, string>() {}
 *
 * export const Where = McpServer.tool(Tool.make("where"), () => Effect.map(Tenant, (tenant) => `at ${tenant}`)).pipe(
 *   Feature.provide(Tenant, Effect.map(User, ({ tenant }) => tenant))
 * )
 * ```
 * @category combinators
 */
export const provide: {
  <I, S, SR>(
    tag: Context.Tag<I, S>,
    service: Effect.Effect<S, unknown, SR>
  ): <E, R>(
    feature: Layer.Layer<never, E, R>
  ) => Layer.Layer<never, E, Exclude<R, I> | Registry | Exclude<SR, RequestServices>>
  <E, R, I, S, SR>(
    feature: Layer.Layer<never, E, R>,
    tag: Context.Tag<I, S>,
    service: Effect.Effect<S, unknown, SR>
  ): Layer.Layer<never, E, Exclude<R, I> | Registry | Exclude<SR, RequestServices>>
} = dual(
  3,
  <E, R, I, S>(
    feature: Layer.Layer<never, E, R>,
    tag: Context.Tag<I, S>,
    service: Effect.Effect<S, unknown, any>
  ): Layer.Layer<never, E, any> =>
    SurroundedRegistry.layer(feature, (own) => {
      const made = HandlerResult.effect(service, `Feature.provide of ${tag.key}`)
      return {
        _tag: "Services",
        run: (next) =>
          Effect.contextWithEffect((request: Context.Context<never>) =>
            Effect.flatMap(
              Effect.mapInputContext(made as Effect.Effect<S, unknown>, () => Context.merge(own, request)),
              (service) => Effect.mapInputContext(next, () => Context.add(request, tag, service))
            )
          )
      }
    })
)

/**
 * Whether there are requests that do not see an entry of the registry: then results that are made from the entry are not cached for other
 * clients.
 *
 * @category utils
 */
export const mayBeHidden: (entry: Registered) => boolean = Surroundings.mayBeHidden

/**
 * Whether the request sees an entry of the registry, with or without the scopes to use it. For handlers.
 *
 * @category guards
 */
export const isVisible: (entry: Registered) => Effect.Effect<boolean> = Surroundings.isVisible

/**
 * The entries of the registry that the request sees. A check around several entries runs once. For handlers.
 *
 * @category utils
 */
export const onlyVisible: <A extends Registered>(
  entries: Iterable<readonly [key: string, entry: A]>
) => Effect.Effect<ReadonlyArray<readonly [key: string, entry: A]>> = Surroundings.visible

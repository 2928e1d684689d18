/**
 * A feature: a layer that registers entries with a server. Handlers run with the context that the layer was built with, and with the
 * services of the request. Where both have a service, a handler gets the service of the request. `McpServer` makes features.
 * `features/Surroundings` runs handlers inside the checks, the scopes and the services of `visible`, `requires` and `provide`.
 * `FeatureMiddleware` runs around each use.
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
 * The services of a request. A handler may use them, and the layer of its feature does not require them.
 *
 * @category models
 */
export type RequestServices = RequestContext | ServerSession | Scope.Scope

/**
 * The failures that every handler may have beside the failures that its definition declares. The calling program receives them as JSON-RPC
 * errors. An `HttpRefusal` also decides the HTTP status. An `ExtendedResult` is not an error: it answers the request with a result of an
 * extension.
 *
 * @category models
 */
export type Fails = McpError | CallError | HttpRefusal | ExtendedResult

/**
 * Accepts the effect of a handler that fails with `E`, when its definition declares these failures. Otherwise this type is a sentence,
 * which names the failure and says what to do. The compiler shows the sentence.
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
 * Accepts an effect whose definition can declare no failures: a completer, the list of a template, the handler of a whole method. Such an
 * effect may fail only with `Fails`. Otherwise this type is a sentence, which the compiler shows.
 *
 * @category models
 */
export type Allowed<E> = 0 extends 1 & E ? unknown // `any`: nothing was inferred
  : [Exclude<E, Fails>] extends [never] ? unknown
  : `This fails with ${NameOf<Exclude<E, Fails>>}: catch it, or fail with an McpError`

/**
 * Makes a feature from a function that registers the entries of the feature until the layer's scope closes. The function gets the context
 * that the layer was built with, without the layer's `Scope`.
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
 * Requires scopes of the user for each use of a feature, or of a group of features. The user needs all of the scopes to call, read, get,
 * complete or subscribe to the feature. The option `requires` of a definition does the same for one entry.
 *
 * The `permit` of the server's `Authenticator` decides, before the server decodes the arguments and runs the handler. Without `permit`
 * every use is refused. A feature may be inside of several `requires`. The server refuses a client once, with all scopes that the use
 * requires. Over HTTP the response has the status of the refusal, for example 403; a batch is refused as a whole.
 *
 * Lists show the feature to all users, so that a client can get the scope. Resources that a template lists need the scopes of the template.
 * Where `Feature.visible` is around this `requires`, a user who does not see the feature gets the error of an unknown feature, which names
 * no scopes.
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
 * Decides for each request whether it sees a feature, or a group of features. What a request does not see is not listed, completed or
 * subscribed to. Calling, reading or getting it fails as if the server did not have it. A hidden resource is not read through a template
 * either. The capabilities of the server do not change.
 *
 * The check is an effect, which decides for all entries of the features alike, or a function that gets the entry: its kind, its name, the
 * entry as lists show it, and its scopes. The check may require the user, what the session layer, the middleware of the server and
 * `Feature.provide` provide, and `RequestContext`. An effect runs for each use of a feature. For a list it runs once, however many features
 * there are; for `resources/list` it runs once more for each template with a list of its own. A function runs for each entry of a list.
 * Where a `Feature.provide` around the check refuses the request, a list leaves the features out.
 *
 * Clients are not notified when the answer of the check changes. `ServerSession` has the notifications to one client, and
 * `Registry.changed` notifies all clients. With revision 2026-07-28 or later, lists and contents of such features may be cached only for
 * the sender of the request.
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
 * Provides a service to the handlers of a feature, or of a group of features, and to the checks and the middleware inside. The effect makes
 * the service anew for each use, for each check of a list, and for each list of a resource template. When a handler asks questions with
 * revision 2026-07-28 or later, the client sends the request again with the answers, and the effect runs again each time. The effect may
 * require the user, and what the session layer and the middleware of the server provide.
 *
 * When the effect fails with an `McpError`, the request is refused. For a tool it may also fail with a failure that the tool declares,
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
 * Whether some requests may not see an entry of the registry. Results that are made from such an entry must not be cached for other
 * clients.
 *
 * @category utils
 */
export const mayBeHidden: (entry: Registered) => boolean = Surroundings.mayBeHidden

/**
 * Whether the request sees an entry of the registry, whether or not its user has the scopes to use the entry. For handlers.
 *
 * @category guards
 */
export const isVisible: (entry: Registered) => Effect.Effect<boolean> = Surroundings.isVisible

/**
 * The entries of the registry that the request sees. A check around several entries runs once for all of them. For handlers.
 *
 * @category utils
 */
export const onlyVisible: <A extends Registered>(
  entries: Iterable<readonly [key: string, entry: A]>
) => Effect.Effect<ReadonlyArray<readonly [key: string, entry: A]>> = Surroundings.visible

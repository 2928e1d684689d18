/**
 * A feature: a layer that registers entries, such as tools and resources, with a server. Handlers run with the context of the layer and
 * with the services of the request. Where both contain a service, a handler gets the service of the request. `McpServer` makes features.
 * Three functions of this module change features: `visible` adds a check, `requires` adds authorization scopes, and `provide` adds a
 * service. `features/Surroundings` runs the checks and makes the services. `FeatureMiddleware` adds middleware around each use of a
 * feature.
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
 * The services of a request. A handler may use these services, and the layer of the handler's feature does not require them.
 *
 * @category models
 */
export type RequestServices = RequestContext | ServerSession | Scope.Scope

/**
 * The failures that every handler may have, in addition to the failures that its definition declares. The calling program receives an
 * `McpError`, a `CallError` or an `HttpRefusal` as a JSON-RPC error. An `HttpRefusal` also decides the HTTP status. An `ExtendedResult` is
 * not an error: it answers the request with a result of an extension.
 *
 * @category models
 */
export type Fails = McpError | CallError | HttpRefusal | ExtendedResult

/**
 * Checks the failures `E` of a handler's effect: the definition must declare them, or they must be `Fails`. For other failures this type is
 * a sentence, which names the failure and says what to do. The compiler shows the sentence as an error.
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
 * Checks the failures `E` of an effect that has no declared failures: a completer, the list of a template, or the handler of a whole
 * method. These effects may fail only with `Fails`. For other failures this type is a sentence, which the compiler shows as an error.
 *
 * @category models
 */
export type Allowed<E> = 0 extends 1 & E ? unknown // `any`: nothing was inferred
  : [Exclude<E, Fails>] extends [never] ? unknown
  : `This fails with ${NameOf<Exclude<E, Fails>>}: catch it, or fail with an McpError`

/**
 * Makes a feature from a function. The function registers the entries of the feature until the layer's scope closes. It gets the registry,
 * and the context of the layer without the layer's `Scope`.
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
 * Requires authorization scopes for each use of a feature, or of a group of features. The user needs all of these scopes to call a tool,
 * read a resource, get a prompt, complete an argument, or subscribe. The option `requires` of a definition does the same for one entry.
 *
 * The option `permit` of the server's `Authenticator` decides whether the user has the scopes. The server calls `permit` before it decodes
 * the arguments and runs the handler. Without `permit` the server refuses every use. A feature may be inside of several `requires`. Then
 * the server calls `permit` with all their scopes together. Over HTTP the response has the status of the refusal, for example 403. The
 * server refuses a batch as a whole.
 *
 * Lists show the feature to all users, so that a client can learn of the feature and request the scopes. The resources of a template need
 * the scopes of the template. To hide the feature from some users, put `Feature.visible` around this `requires`. These users then get the
 * error of an unknown feature, which names no scopes.
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
 * Decides for each request whether a feature, or a group of features, is visible to the request. No list contains a hidden feature. When a
 * client calls, reads, gets, completes or subscribes to a hidden feature, the server answers as if the feature did not exist. The server
 * also does not read a hidden resource through a template. The capabilities of the server do not change.
 *
 * The check is an effect or a function. An effect decides for all entries of the features together. A function decides for one entry. It
 * gets the entry's kind, its name, its description in lists, and its scopes. The check may require the user, `RequestContext`, and the
 * services that the session layer, the middleware of the server and `Feature.provide` provide. An effect runs for each use of a feature.
 * For a list the effect runs one time for all features. For `resources/list` the effect also runs for each template that lists resources. A
 * function runs for each entry of a list. When the effect of a `Feature.provide` around the check fails, the list does not contain the
 * features.
 *
 * The server does not notify clients when the result of the check changes. To notify one client, use `changed` of `ServerSession`. To
 * notify all clients, use `Registry.changed`. With revision 2026-07-28 or later, caches may store lists and contents of features with a
 * check only for the sender of the request.
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
 * A check whether an entry is visible to a request: an effect, or a function that gets the entry.
 *
 * @category models
 */
export type Check<R = never> =
  | Effect.Effect<boolean, never, R>
  | ((entry: FeatureEntry) => Effect.Effect<boolean, never, R>)

/**
 * Provides a service to a feature, or to a group of features: to their handlers, and to the checks and the middleware that are inside of
 * this `provide`. The effect makes a new service for each use, for each check of a list, and for each list of a resource template. When a
 * handler asks questions with revision 2026-07-28 or later, the client sends the request again with the answers, and the effect runs again
 * each time. The effect may require the user, and the services that the session layer and the middleware of the server provide.
 *
 * When the effect fails with an `McpError`, the server refuses the request. For a tool, the effect may also fail with a failure that the
 * tool declares. The model reads this failure. Any other failure is a defect.
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
 * Whether an entry of the registry may be hidden from some requests. Results that are made from such an entry must not be cached for other
 * clients.
 *
 * @category utils
 */
export const mayBeHidden: (entry: Registered) => boolean = Surroundings.mayBeHidden

/**
 * Whether an entry of the registry is visible to the current request. Ignores the scopes that a use of the entry requires. Call this
 * function in a handler.
 *
 * @category guards
 */
export const isVisible: (entry: Registered) => Effect.Effect<boolean> = Surroundings.isVisible

/**
 * Gives the entries that are visible to the current request. An effect that checks several entries runs one time for all of them. Call this
 * function in a handler.
 *
 * @category utils
 */
export const onlyVisible: <A extends Registered>(
  entries: Iterable<readonly [key: string, entry: A]>
) => Effect.Effect<ReadonlyArray<readonly [key: string, entry: A]>> = Surroundings.visible

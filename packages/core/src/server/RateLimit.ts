/**
 * Limits how often clients may send requests. `middleware` limits the requests to a whole server, and `featureMiddleware` limits the uses
 * of features. Each user has a separate counter, or each key that a function of the application returns. With `make` and `take`, the
 * application can also count other things, such as the requests of each network address. When the application provides `SharedLimits` to
 * the server, all nodes share their counters. Without `SharedLimits`, each node has its own counters.
 *
 * The server refuses a request beyond the limit with an `HttpRefusal`. Over HTTP the response has status 429 and the header `Retry-After`.
 * On stdio, and in a batch, there is no status for a single request. There the client gets only the JSON-RPC error.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { RequestServices } from "./Feature.js"
import * as FeatureMiddleware from "./FeatureMiddleware.js"
import * as Refusal from "./http/Refusal.js"
import type { HttpRefusal } from "./HttpRefusal.js"
import * as Middleware from "./Middleware.js"
import { Running, type Use } from "./Registry.js"
import { RequestContext } from "./RequestContext.js"
import { IsCounted } from "./runtime/Authentication.js"
import * as SharedLimits from "./SharedLimits.js"
import * as StoreFailure from "./telemetry/StoreFailure.js"

/** @category models */
export interface Options extends SharedLimits.Rate {
  /**
   * How the server treats requests while the service `SharedLimits` does not answer. `"serve"`: the server serves the requests without a
   * limit. `"refuse"`: the server refuses the requests with status 503. The server logs when `SharedLimits` begins to fail. Default:
   * "serve".
   */
  readonly whenAway?: "serve" | "refuse" | undefined
}

/** @category models */
export interface RateLimit {
  /**
   * Counts one request under the key. Fails with the refusal of the request when the limit is reached. When an authenticator runs at two
   * nodes for one request, only the first node counts the request.
   */
  readonly take: (key: string) => Effect.Effect<void, HttpRefusal>
}

/**
 * Makes a limit that any effect can use. For example, an authenticator can refuse a request before the server reads the body. Limits with
 * the same name share their counters, on all nodes that share `SharedLimits`.
 *
 * @example
 * ```ts
 * import * as Authenticator from "@effect-mcp/core/Authenticator"
 * import * as RateLimit from "@effect-mcp/core/RateLimit"
 * import { Context, Effect } from "effect"
 *
 * class User extends Context.Tag("User")<User, { readonly name: string }>() {}
 *
 * const addresses = RateLimit.make("addresses", { burst: 100, every: "100 millis" })
 *
 * export const authenticator = Authenticator.make(User, {
 *   id: ({ name }) => name,
 *   http: ({ headers, remoteAddress = "" }) =>
 *     Effect.as(addresses.take(remoteAddress), { name: headers.authorization ?? "anonymous" })
 * })
 * ```
 * @category constructors
 */
export const make = (name: string, { burst, every, whenAway = "serve" }: Options): RateLimit => {
  const rate = { burst, every }
  const own = new WeakMap<object, SharedLimits.SharedLimitsService>()
  const limits = Effect.contextWithEffect((context: Context.Context<never>) => {
    const shared = Context.getOption(context, SharedLimits.SharedLimits)
    if (Option.isSome(shared)) return Effect.succeed(shared.value)
    // The set `observers` is the same object for all features of a server, so it identifies the server.
    const server = Option.match(Context.getOption(context, Running), {
      onNone: () => own,
      onSome: ({ observers }) => observers
    })
    const known = own.get(server)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.map(SharedLimits.memory(), (made) => {
      own.set(server, made)
      return made
    })
  })
  const logged = StoreFailure.once(STORE)
  const away = whenAway === "serve" ? Effect.succeed(0) : Effect.fail(Refusal.storeAway(STORE))
  const counted = (key: string) =>
    limits.pipe(
      Effect.zip(named(name, key)),
      Effect.flatMap(([limits, key]) => logged(limits.take(key, rate))),
      Effect.catchAll((): Effect.Effect<number, HttpRefusal> => away),
      Effect.flatMap((wait) => wait === 0 ? Effect.void : Effect.fail(Refusal.tooMany(Duration.millis(wait))))
    )
  return {
    take: (key) => Effect.flatMap(IsCounted, (isCounted) => isCounted ? Effect.void : counted(key))
  }
}

const STORE = "The store of limits"

/** The greatest length of a key, in characters. A digest replaces a longer key, because a client may have chosen the key. */
const MAX_KEY = 256

const named = (name: string, key: string): Effect.Effect<string> => {
  const text = JSON.stringify([name, key])
  return key.length <= MAX_KEY ? Effect.succeed(text) : Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
    (digest) => JSON.stringify([name, "SHA-256", Encoding.encodeBase64Url(new Uint8Array(digest))])
  )
}

/** @category models */
export interface MiddlewareOptions<R = never> extends Options {
  /**
   * Gives the key under which the limit counts a request. When the effect gives `undefined`, the request has no limit. The effect can read
   * the services of the call, such as the user. Default: the id of the principal. Then all clients without a principal count as one client.
   */
  readonly by?: ((call: Middleware.Call) => Effect.Effect<string | undefined, never, R>) | undefined
  /**
   * Whether each tool has separate counters. If `true`, the limit counts only calls of tools that the server has, and no other requests.
   * Default: `false`.
   */
  readonly perTool?: boolean | undefined
}

/**
 * Makes middleware of a server that limits all requests except `initialize` and `ping`. Notifications have no limit, because a server
 * cannot answer a notification with an error. With revision 2026-07-28 or later, a client sends a request again after each question of the
 * handler. The limit counts each of these requests.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as RateLimit from "@effect-mcp/core/RateLimit"
 * import { Layer } from "effect"
 *
 * export const Server = McpServer.layer({ name: "reports", version: "1.0.0" }, Layer.empty, {
 *   // For each user, at most 20 requests at once and 10 in a second.
 *   middleware: RateLimit.middleware("requests", { burst: 20, every: "100 millis" })
 * })
 * ```
 * @category utils
 */
export const middleware = <R = never>(
  name: string,
  { by, perTool = false, ...options }: MiddlewareOptions<R>
): Middleware.Middleware<never, Exclude<R, RequestContext | Scope.Scope>> => {
  const { take } = make(name, options)
  return Middleware.make<R | RequestContext>((call, next) => {
    if (call.id === undefined || FREE.has(call.method)) return next
    const sender: Effect.Effect<string | undefined, never, R | RequestContext> = by === undefined ? principal : by(call)
    return Effect.flatMap(sender, (key) => {
      if (key === undefined) return next
      if (!perTool) return Effect.zipRight(take(key), next)
      const tool = call.method === "tools/call" ? String(call.params?.name) : undefined
      return Effect.flatMap(
        Effect.serviceOption(Running),
        // A call of an unknown tool has no limit, because a client may invent names.
        (registry) =>
          tool !== undefined && Option.exists(registry, ({ tools }) => tools.has(tool))
            ? Effect.zipRight(take(JSON.stringify([tool, key])), next)
            : next
      )
    })
  })
}

/** @category models */
export interface FeatureOptions<R = never> extends Options {
  /**
   * Gives the key under which the limit counts a use. When the effect gives `undefined`, the use has no limit. The effect can read the
   * services of the call, such as the user. Default: the id of the principal. Then all clients without a principal count as one client.
   */
  readonly by?: ((use: Use) => Effect.Effect<string | undefined, never, R>) | undefined
}

/**
 * Makes middleware for `FeatureMiddleware.around` that limits the uses of features. All features inside of this middleware share their
 * counters. The limit does not count notifications, and does not count uses whose arguments the server refuses.
 *
 * @example
 * ```ts
 * import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as RateLimit from "@effect-mcp/core/RateLimit"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect } from "effect"
 *
 * // Three reports in a row, and one more each minute.
 * const rare = RateLimit.featureMiddleware("reports", { burst: 3, every: "1 minute" })
 *
 * export const Report = McpServer.tool(Tool.make("report"), () => Effect.succeed("…")).pipe(FeatureMiddleware.around(rare))
 * ```
 * @category utils
 */
export const featureMiddleware = <R = never>(
  name: string,
  { by, ...options }: FeatureOptions<R>
): FeatureMiddleware.FeatureMiddleware<Exclude<R, RequestServices>> => {
  const { take } = make(name, options)
  return FeatureMiddleware.make<R | RequestContext>((use) => {
    if (use.kind === "method" && use.isNotification) return use.next
    const sender: Effect.Effect<string | undefined, never, R | RequestContext> = by === undefined ? principal : by(use)
    return Effect.flatMap(
      sender,
      (key): Effect.Effect<unknown, unknown> => key === undefined ? use.next : Effect.zipRight(take(key), use.next)
    )
  })
}

/** The methods without a limit, so that every client can connect and can send `ping`. */
const FREE: ReadonlySet<string> = new Set(["initialize", "ping"])

const principal = Effect.map(RequestContext, ({ principal }) => JSON.stringify(principal?.id ?? null))

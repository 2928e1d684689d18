/**
 * Identifies the sender of a message: the user of a server, a service of the application's own type. Features, the session layer and the
 * middleware require the user as any other service, and `McpServer.layer` provides the user to them. `runtime/Authentication` runs the
 * authenticator.
 *
 * Over HTTP each request is authenticated on its own, before its session is looked up and its body is read; a request that goes on to
 * another node is authenticated at both. On a pipe the conversation is authenticated once, before its first message is read; each message
 * of `Dispatcher.serve` is authenticated on its own.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { JsonObject } from "../protocol/Json.js"
import type { McpError } from "../protocol/McpError.js"
import type { HttpRefusal } from "./HttpRefusal.js"
import { Validity } from "./runtime/Validity.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/Authenticator")

/** @category models */
export type TypeId = typeof TypeId

/**
 * Provides the user `Provides` to each message, and requires `R` of the server.
 *
 * @category models
 */
export interface Authenticator<out Provides, out R = never> {
  readonly [TypeId]: { readonly _Provides: Provides }
  readonly tag: Context.Tag<any, any>
  /** Runs once for each server, in its scope. */
  readonly options: Effect.Effect<Options<any, R, R, R>, never, R | Scope.Scope>
}

/** @category models */
export declare namespace Authenticator {
  /** Any authenticator. */
  type Any = Authenticator<any, any>

  /** The user that an authenticator provides. */
  type Provides<A> = A extends Authenticator<infer U, any> ? U : never

  /** The services that an authenticator requires. */
  type Context<A> = A extends Authenticator<any, infer R> ? R : never
}

/**
 * An `HttpRefusal` decides the status and the headers of a response over HTTP; on other transports its error is sent.
 *
 * @category models
 */
export type Refuses = HttpRefusal | McpError

/** @category models */
export interface Options<S, R1 = never, R2 = never, R3 = never> {
  /**
   * Identifies the user. A session belongs to the user that opened it, and the limits for one client hold for one user. `undefined` for an
   * anonymous user: anonymous users may use the sessions of one another, and share limits.
   */
  readonly id: (user: S) => string | undefined
  /** The user of an HTTP request. It runs for each request, before the body is read. */
  readonly http?: ((request: HttpRequest) => Effect.Effect<S, Refuses, R1>) | undefined
  /** The user of a server on stdio, from the environment that the client has launched it with. */
  readonly stdio?: ((environment: Environment) => Effect.Effect<S, Refuses, R2>) | undefined
  /** The user of a client in the same process. */
  readonly inProcess?: Effect.Effect<S, Refuses, R3> | undefined
  /**
   * Decides whether the user may use what requires all of these scopes: `undefined` when it may, otherwise the refusal. It gets the scopes
   * that `Feature.requires` names; over HTTP and in `Dispatcher.serve`, it also runs for every other request, with an empty list. Default:
   * the user may use what requires no scope.
   */
  readonly permit?: ((user: S, scopes: ReadonlyArray<string>) => Refuses | undefined) | undefined
  /** JSON documents that every HTTP endpoint of the server serves, by their paths, to every client and every web page. */
  readonly documents?: Readonly<Record<string, JsonObject>> | undefined
  /**
   * How long finding the user of one message may take. Then the message is refused, over HTTP with status 503, and the
   * effect is interrupted. Default: 10 seconds.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /** For how many messages users may be found at the same time; more are refused, over HTTP with 503. Default: 1,024. */
  readonly concurrency?: number | undefined
}

/**
 * The users of a server, as the service `tag`.
 *
 * A user that the application hands over with the message is taken first: from the application that the endpoint is mounted in, from the
 * caller of a web handler, from the connector of a client in the same process. Otherwise the option for the transport finds the user.
 * Messages on a transport without such an option are refused; so `{ id }` alone is for applications that hand over all their users.
 *
 * @example
 * ```ts
 * import * as Authenticator from "@effect-mcp/core/Authenticator"
 * import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import { Context, Effect, Layer } from "effect"
 *
 * class User extends Context.Tag("User")<User, { readonly name: string }>() {}
 *
 * const authenticator = Authenticator.make(User, {
 *   id: ({ name }) => name,
 *   http: ({ headers }) =>
 *     headers.authorization === "Bearer ada-secret"
 *       ? Effect.succeed({ name: "ada" })
 *       : Effect.fail(HttpRefusal.unauthorized("Bearer")),
 *   stdio: ({ USER }) => Effect.succeed({ name: USER ?? "unknown" })
 * })
 *
 * export const Server = McpServer.layer({ name: "notes", version: "1.0.0" }, Layer.empty, { authenticator })
 * ```
 * @category constructors
 */
export const make = <I, S, R1 = never, R2 = never, R3 = never>(
  tag: Context.Tag<I, S>,
  options: Options<S, R1, R2, R3>
): Authenticator<I, R1 | R2 | R3> => ({
  [TypeId]: { _Provides: undefined as I },
  tag,
  // Which function requires what is known to the type of this function only.
  options: Effect.succeed(options as Options<any, any, any, any>)
})

/**
 * The same with options that each server acquires: caches and connections, which its scope releases.
 *
 * @category utils
 */
export const scoped = <I, S, R, R1 = never, R2 = never, R3 = never>(
  tag: Context.Tag<I, S>,
  options: Effect.Effect<Options<S, R1, R2, R3>, never, R>
): Authenticator<I, Exclude<R, Scope.Scope> | R1 | R2 | R3> => ({
  [TypeId]: { _Provides: undefined as I },
  tag,
  options: options as Effect.Effect<Options<any, any, any, any>, never, any>
})

/**
 * An HTTP request without its body.
 *
 * @category models
 */
export interface HttpRequest {
  readonly method: string
  /** Path and query, as the client has sent them. */
  readonly url: string
  /**
   * By their names in lower case. Repeated fields are joined by a comma. A request with two `Authorization` gets a 400 where
   * the platform keeps them apart; a web handler gets them joined.
   */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The address of the client, or of the last proxy before the server; `undefined` where the platform does not tell. */
  readonly remoteAddress?: string | undefined
  /** Whether the connection to this process is encrypted; `undefined` where the platform does not tell. */
  readonly encrypted?: boolean | undefined
  /**
   * Whether the user of the request was found before: by another node of this server, which has passed the request on to the node of its
   * session; or by this node, which looks again while a stream of the request is open (`validFor`). Code that counts each request once,
   * such as the check that a proof is not used twice, must not count this request again. The limits of `RateLimit` do so by themselves.
   */
  readonly isForwarded?: boolean | undefined
}

/**
 * Called in the option `http`, says for how long the user of the request is valid. After `life`, a stream that waits for messages of the
 * server (GET, `subscriptions/listen`) ends, and so does the stream of a call that the client can resume: the client opens another stream,
 * with other credentials. Any other call is answered. Over HTTP+SSE the newest request decides.
 *
 * Until then the server runs `http` again whenever `recheckAfter` has passed: the stream ends when `http` refuses the request with a
 * status of 4xx, or finds another user. Default of `recheckAfter`: `life`.
 *
 * Without `validFor`, a stream does not end because its user is no longer valid.
 *
 * @category utils
 */
export const validFor = (
  life: Duration.DurationInput,
  recheckAfter: Duration.DurationInput = life
): Effect.Effect<void> =>
  Effect.map(Validity, (validity) => {
    if (validity === undefined) return
    validity.life = Duration.toMillis(life)
    validity.recheckAfter = Duration.toMillis(recheckAfter)
  })

/**
 * The environment variables of a process.
 *
 * @category models
 */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * What a transport knows of the sender of its messages. `services` are the services that the application hands over: a user among them is
 * taken as it is.
 *
 * @category models
 */
export type Caller =
  & { readonly services?: Context.Context<never> | undefined }
  & (
    | { readonly _tag: "Http"; readonly request: HttpRequest }
    | { readonly _tag: "Stdio"; readonly environment: Environment }
    | { readonly _tag: "InProcess" }
    /** Any other transport. It needs a user in `services`. */
    | { readonly _tag: "Other" }
  )

/**
 * The sender of an HTTP request, for tests and for transports of an application.
 *
 * @category utils
 */
export const http = ({ headers, method = "POST", url = "/mcp", ...facts }: Partial<HttpRequest>): Caller => ({
  _tag: "Http",
  request: { method, url, headers: headers ?? {}, ...facts }
})

/**
 * The client that has launched a process with this environment.
 *
 * @category utils
 */
export const stdio = (environment: Environment): Caller => ({ _tag: "Stdio", environment })

/**
 * A client in the same process.
 *
 * @category constants
 */
export const inProcess: Caller = { _tag: "InProcess" }

/**
 * A user that the application has found itself: `Authenticator.given(Context.make(User, ada))`.
 *
 * @category utils
 */
export const given = <I>(services: Context.Context<I>): Caller => ({
  _tag: "Other",
  services: services as Context.Context<unknown> as Context.Context<never>
})

/**
 * A user that was found.
 *
 * @category models
 */
export interface Found {
  readonly principal: Principal | undefined
  /** The user as a service, and what it may do. */
  readonly user: Context.Context<never>
  /** What `validFor` has said, in milliseconds. */
  readonly validity?: { readonly life: number; readonly recheckAfter: number } | undefined
}

/**
 * The identity of the sender of a message. Handlers read it as `RequestContext.principal`; what else is known of the sender is the user.
 *
 * @category models
 */
export interface Principal {
  /**
   * Identifies the principal: two messages with the same id have the same sender. A session belongs to one principal.
   */
  readonly id: string
}

/**
 * Identifies the user who has sent a message. The user is an Effect service, whose type the application chooses. Features, the session
 * layer and the middleware can require the user in the same way as any other service. `McpServer.layer` provides the user to them.
 * `runtime/Authentication` runs the authenticator.
 *
 * Over HTTP the server authenticates each request, before it looks up the session and reads the body. On a pipe, such as stdio, the server
 * authenticates the client one time, before it reads the first message. `Dispatcher.serve` authenticates each message. When a node of a
 * server passes a request on to another node, both nodes authenticate the request.
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
 * An authenticator. It provides the user, a service of type `Provides`, to each message. It requires the services `R` from the layer of the
 * server.
 *
 * @category models
 */
export interface Authenticator<out Provides, out R = never> {
  readonly [TypeId]: { readonly _Provides: Provides }
  readonly tag: Context.Tag<any, any>
  /** Gives the options. This effect runs one time for each server, in the scope of the server. */
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
 * A failure with which the server refuses a message. Over HTTP an `HttpRefusal` decides the status and the headers of the response. On
 * other transports the client gets only the error of the `HttpRefusal`.
 *
 * @category models
 */
export type Refuses = HttpRefusal | McpError

/** @category models */
export interface Options<S, R1 = never, R2 = never, R3 = never> {
  /**
   * Gives the id of a user. A session belongs to the user that opened the session. The server counts all requests with the same id for the
   * limits of one client. When the function returns `undefined`, the user is anonymous. All anonymous users count as one client: they may
   * use each other's sessions, and they share limits.
   */
  readonly id: (user: S) => string | undefined
  /** Finds the user of an HTTP request. The server runs this function for each request, before it reads the body. */
  readonly http?: ((request: HttpRequest) => Effect.Effect<S, Refuses, R1>) | undefined
  /** Finds the user of a server on stdio, from the environment variables with which the client started the server. */
  readonly stdio?: ((environment: Environment) => Effect.Effect<S, Refuses, R2>) | undefined
  /** Gives the user of a client in the same process. */
  readonly inProcess?: Effect.Effect<S, Refuses, R3> | undefined
  /**
   * Decides whether the user may use a feature that requires these scopes. Returns `undefined` when the user may use the feature, and
   * otherwise the refusal. `scopes` are the scopes that `Feature.requires` names. Over HTTP and in `Dispatcher.serve`, the server also
   * calls this function for requests that need no scopes, with an empty list. Default: the user may use only features that require no
   * scopes.
   */
  readonly permit?: ((user: S, scopes: ReadonlyArray<string>) => Refuses | undefined) | undefined
  /**
   * JSON documents. The keys are the paths. Every HTTP endpoint of the server serves these documents to every client and every web page,
   * without authentication.
   */
  readonly documents?: Readonly<Record<string, JsonObject>> | undefined
  /**
   * How long the effect of the transport's option (`http`, `stdio`, `inProcess`) may take to find the user of one message. When this time
   * has passed, the server interrupts the effect and refuses the message. Over HTTP the response has status 503. Default: 10 seconds.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * How many messages the server may authenticate at the same time. The server refuses further messages. Over HTTP the response has status
   * 503. Default: 1,024.
   */
  readonly concurrency?: number | undefined
}

/**
 * Makes an authenticator, which provides the user of a message as the service `tag`.
 *
 * When the application passes a user together with the message, the authenticator uses this user. Three callers can pass a user: the
 * application that the endpoint is mounted in, the caller of a web handler, and the connector of a client in the same process. Otherwise
 * the option for the transport (`http`, `stdio`, `inProcess`) finds the user. When the option for a transport is missing, the server
 * refuses the messages on this transport. So give `{ id }` alone only when the application passes all users itself.
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
  // The type of `make` contains the services of each function. At run time they are not distinguished.
  options: Effect.succeed(options as Options<any, any, any, any>)
})

/**
 * As `make`, with an effect that makes the options for each server. The effect can acquire resources, such as caches and connections. The
 * scope of the server releases these resources.
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
   * The header fields by their names in lower case. The platform joins repeated fields by a comma. When a request has two `Authorization`
   * fields and the platform does not join them, the server answers with status 400. A web handler always gets joined fields.
   */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The address of the client, or of the last proxy before the server; `undefined` where the platform does not give it. */
  readonly remoteAddress?: string | undefined
  /** Whether the connection to this process is encrypted; `undefined` where the platform does not say. */
  readonly encrypted?: boolean | undefined
  /**
   * `true` when a node has already found the user of this request, in one of two cases. First case: another node has found the user, and
   * has passed the request on to this node, which serves the session. Second case: this node has found the user, and looks for the user
   * again while a stream of the request is open (see `validFor`). Code that counts each request one time, such as a check that a proof is
   * not used twice, must not count this request again. `RateLimit` does not count this request again. `undefined` means `false`.
   */
  readonly isForwarded?: boolean | undefined
}

/**
 * Says for how long the user of the request is valid. Call this function in the option `http`. After `life` the server ends two kinds of
 * streams: a stream that waits for messages of the server (GET, `subscriptions/listen`), and the stream of a call, if the client can resume
 * this stream. The client then opens another stream, with new credentials. A call on any other stream goes on until the server has answered
 * it. Over HTTP+SSE the newest request decides how long the stream lasts.
 *
 * Before `life` has passed, the server runs `http` again each time that `recheckAfter` has passed. The server ends the stream when `http`
 * refuses the request with a status from 400 to 499 (but not 429), or when `http` finds another user. Default of `recheckAfter`: `life`.
 *
 * When `http` does not call `validFor`, the server does not check the user of an open stream again.
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
 * The facts about the sender of a message that a transport passes to the authenticator. `services` are the services that the application
 * passes. When the user is one of these services, the authenticator uses this user, and does not look for another.
 *
 * @category models
 */
export type Caller =
  & { readonly services?: Context.Context<never> | undefined }
  & (
    | { readonly _tag: "Http"; readonly request: HttpRequest }
    | { readonly _tag: "Stdio"; readonly environment: Environment }
    | { readonly _tag: "InProcess" }
    /** A transport of another kind. Its user must be in `services`. */
    | { readonly _tag: "Other" }
  )

/**
 * Makes the `Caller` for an HTTP request, for tests and for transports of an application.
 *
 * @category utils
 */
export const http = ({ headers, method = "POST", url = "/mcp", ...facts }: Partial<HttpRequest>): Caller => ({
  _tag: "Http",
  request: { method, url, headers: headers ?? {}, ...facts }
})

/**
 * Makes the `Caller` for the client that started this process, with these environment variables.
 *
 * @category utils
 */
export const stdio = (environment: Environment): Caller => ({ _tag: "Stdio", environment })

/**
 * The `Caller` for a client in the same process.
 *
 * @category constants
 */
export const inProcess: Caller = { _tag: "InProcess" }

/**
 * Makes a `Caller` with a user that the application has already found: `Authenticator.given(Context.make(User, ada))`.
 *
 * @category utils
 */
export const given = <I>(services: Context.Context<I>): Caller => ({
  _tag: "Other",
  services: services as Context.Context<unknown> as Context.Context<never>
})

/**
 * The user that the authenticator has found for a message.
 *
 * @category models
 */
export interface Found {
  readonly principal: Principal | undefined
  /** The user as a service, with the answers of `permit`. */
  readonly user: Context.Context<never>
  /** The arguments of `validFor`, in milliseconds; `undefined` when the option `http` did not call `validFor`. */
  readonly validity?: { readonly life: number; readonly recheckAfter: number } | undefined
}

/**
 * The identity of the sender of a message. Handlers read it as `RequestContext.principal`. All other facts about the sender are in the
 * user, the service that the authenticator provides.
 *
 * @category models
 */
export interface Principal {
  /**
   * Identifies the principal. Two messages with the same id have the same sender. A session belongs to one principal.
   */
  readonly id: string
}

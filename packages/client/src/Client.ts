/**
 * A client of one server: connected when you have it, closed with its scope. One entry point takes any `Connector`: a
 * subprocess, a server in the same process, a transport of your own.
 *
 * @since 0.1.0
 */
import type * as Definition from "@effect-mcp/definition/Definition"
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { ConnectError } from "./ClientError.js"
import * as ClientSession from "./ClientSession.js"
import * as Features from "./Features.js"
import * as Typed from "./Typed.js"

/**
 * @since 0.1.0
 * @category tags
 */
export class Client extends Context.Tag("@effect-mcp/client/Client")<Client, ClientSession.ClientSessionService>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<E = never, R = never> extends ClientSession.Options {
  /** What the client can do for the server: see `Features`. Default: nothing. */
  readonly features?: Layer.Layer<never, E, R> | undefined
}

/**
 * Reaches a server and shakes hands with it. Fails when it cannot be reached, does not answer in time, or speaks no
 * revision that we do; whatever was opened is closed then, before this fails, and not only with the scope.
 *
 * Features are built before the server is reached, with a memo map of their own: one layer of features given to two
 * clients serves both.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <RC, E = never, R = never>(
  connector: Connector<RC>,
  options?: Options<E, R>
): Effect.Effect<
  ClientSession.ClientSessionService,
  ConnectError | E,
  Exclude<R, Features.Features> | RC | Scope.Scope
> =>
  Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    return yield* Effect.gen(function*() {
      const features = yield* Features.make
      if (options?.features !== undefined) {
        yield* Layer.buildWithMemoMap(
          Layer.provide(
            options.features as Layer.Layer<never, E, Features.Features>,
            Layer.succeed(Features.Features, features)
          ),
          yield* Layer.makeMemoMap,
          scope
        )
      }
      return yield* ClientSession.make(yield* connector.connect, options, features)
    }).pipe(
      Scope.extend(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = <RC, E = never, R = never>(
  connector: Connector<RC>,
  options?: Options<E, R>
): Layer.Layer<Client, ConnectError | E, Exclude<Exclude<R, Features.Features> | RC, Scope.Scope>> =>
  Layer.scoped(Client, make(connector, options))

/**
 * The server's tools as functions, typed by a definition.
 *
 * Nothing is asked of the server here: a tool that it does not keep fails when it is called.
 *
 * @since 0.1.0
 * @category accessors
 */
export const of = <D extends Definition.Definition.Any>(
  definition: D
): Effect.Effect<Typed.Typed<D>, never, Client> => Effect.map(Client, (client) => Typed.make(client, definition))

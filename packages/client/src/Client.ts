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
import * as Typed from "./Typed.js"

/**
 * @since 0.1.0
 * @category tags
 */
export class Client extends Context.Tag("@effect-mcp/client/Client")<Client, ClientSession.ClientSessionService>() {}

/**
 * Reaches a server and shakes hands with it. Fails when it cannot be reached, does not answer in time, or speaks no
 * revision that we do; whatever was opened is closed then, before this fails, and not only with the scope.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <R>(
  connector: Connector<R>,
  options?: ClientSession.Options
): Effect.Effect<ClientSession.ClientSessionService, ConnectError, R | Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    return yield* Effect.flatMap(connector.connect, (transport) => ClientSession.make(transport, options)).pipe(
      Scope.extend(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = <R>(
  connector: Connector<R>,
  options?: ClientSession.Options
): Layer.Layer<Client, ConnectError, Exclude<R, Scope.Scope>> => Layer.scoped(Client, make(connector, options))

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

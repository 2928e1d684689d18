/**
 * A server as something to connect to, in the same process: no wire, no JSON, the same contract. Who connects is not
 * known here; a client needs a `Connector` and nothing else.
 *
 * @since 0.1.0
 */
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as Direct from "@effect-mcp/jsonrpc/Direct"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Dispatcher } from "./Dispatcher.js"

/**
 * Each connection is a conversation of its own, served in the server's context, not in the caller's. It ends with the
 * server, and with the scope it was connected in.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connector: Effect.Effect<Connector.Connector, never, Dispatcher> = Effect.map(
  Dispatcher,
  (dispatcher) =>
    Connector.make(
      "a server in this process",
      Effect.gen(function*() {
        const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
        const [client, server] = yield* Scope.extend(Direct.pair, scope)
        yield* Effect.forkScoped(Effect.ensuring(dispatcher.accept(server), Scope.close(scope, Exit.void)))
        return client
      })
    )
)

/**
 * A server as something to connect to, before there is one: each connection has a server of its own, built when it is
 * connected and gone with it. What the layer needs, connecting needs.
 *
 * @example
 * ```ts
 * import { Client } from "@effect-mcp/client"
 * import { InProcess, McpServer } from "@effect-mcp/server"
 * import { Layer } from "effect"
 *
 * const Server = McpServer.layer({ name: "inside", version: "1.0.0" }, Layer.empty)
 *
 * export const ClientLive = Client.layer(InProcess.fromLayer(Server))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromLayer = <E, R>(server: Layer.Layer<Dispatcher, E, R>): Connector.Connector<R> =>
  Connector.make(
    "a server in this process",
    Effect.gen(function*() {
      const context = yield* Effect.mapError(
        Layer.build(Layer.fresh(server)),
        (cause) => new TransportError({ reason: "Open", message: "The server in this process cannot be built", cause })
      )
      const { connect } = yield* Effect.provide(connector, context)
      return yield* connect
    })
  )

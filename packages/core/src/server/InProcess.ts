/**
 * Connects a client to a server in the same process, without a network and without JSON texts. This module makes a `Connector`, with which
 * a client of this library connects. The transport `Direct` passes the messages.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Connector from "../jsonrpc/Connector.js"
import * as Direct from "../jsonrpc/Direct.js"
import { TransportError } from "../jsonrpc/LocalError.js"
import * as Authenticator from "./Authenticator.js"
import { Dispatcher } from "./Dispatcher.js"

/**
 * Makes a connector to the server in the context. Each connection is a separate conversation, which runs in the server's context. The
 * conversation ends when the server ends, or when the scope of the connection closes.
 *
 * @category constructors
 */
export const connector: Effect.Effect<Connector.Connector, never, Dispatcher> = Effect.suspend(() =>
  connectorAs(Authenticator.inProcess)
)

/**
 * Makes a connector for a client whose user the application already has: `connectorAs(Authenticator.given(Context.make(User, ada)))`. The
 * server needs an authenticator.
 *
 * @category constructors
 */
export const connectorAs = (caller: Authenticator.Caller): Effect.Effect<Connector.Connector, never, Dispatcher> =>
  Effect.map(Dispatcher, (dispatcher) =>
    Connector.make(
      "a server in this process",
      Effect.gen(function*() {
        const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
        const [client, server] = yield* Scope.extend(Direct.pair, scope)
        yield* Effect.forkScoped(Effect.ensuring(dispatcher.accept(server, caller), Scope.close(scope, Exit.void)))
        return client
      }),
      once
    ))

/**
 * Tells the client not to connect a second time when it cannot begin a session. With a server of this library, the second connection would
 * fail in the same way as the first.
 */
const once = { connectsAgain: false } as const

/**
 * Makes a connector that builds a server for each connection, and closes this server with the connection. Connecting requires the services
 * that the layer requires, and fails with a `TransportError` when the layer fails. The authenticator of the server gets `caller`. Default
 * of `caller`: `Authenticator.inProcess`.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/core/Client"
 * import * as InProcess from "@effect-mcp/core/InProcess"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import { Layer } from "effect"
 *
 * const Server = McpServer.layer({ name: "inside", version: "1.0.0" }, Layer.empty)
 *
 * export const ClientLive = Client.layer(InProcess.fromLayer(Server))
 * ```
 * @category constructors
 */
export const fromLayer = <E, R>(
  server: Layer.Layer<Dispatcher, E, R>,
  caller: Authenticator.Caller = Authenticator.inProcess
): Connector.Connector<R> =>
  Connector.make(
    "a server in this process",
    Effect.gen(function*() {
      const context = yield* Effect.mapError(
        Layer.build(Layer.fresh(server)),
        (cause) => new TransportError({ reason: "Open", message: "The server in this process cannot be built", cause })
      )
      const { connect } = yield* Effect.provide(connectorAs(caller), context)
      return yield* connect
    }),
    once
  )

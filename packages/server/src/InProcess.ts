/**
 * A server as something to connect to, in the same process: no wire, no JSON, the same contract. Who connects is not
 * known here; a client needs a `Connector` and nothing else.
 *
 * @since 0.1.0
 */
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as Direct from "@effect-mcp/jsonrpc/Direct"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
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

/**
 * A server as something to connect to, in the same process: no wire, no JSON, the same contract.
 *
 * @since 0.1.0
 */
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as Direct from "@effect-mcp/jsonrpc/Direct"
import * as Effect from "effect/Effect"
import { Dispatcher } from "./Dispatcher.js"

/**
 * Each connection is a conversation of its own, served in the server's context, not in the caller's.
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
        const [client, server] = yield* Direct.pair
        yield* Effect.forkScoped(dispatcher.accept(server))
        return client
      })
    )
)

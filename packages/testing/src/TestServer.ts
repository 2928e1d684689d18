/**
 * A server and a client in one room: what a test needs to call a server through everything but the network. The wire is in
 * memory, and what crosses it is put to the official schema.
 *
 * @since 0.1.0
 */
import * as Client from "@effect-mcp/client/Client"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import type * as ClientSession from "@effect-mcp/client/ClientSession"
import type * as Definition from "@effect-mcp/definition/Definition"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as InProcess from "@effect-mcp/server/InProcess"
import * as McpServer from "@effect-mcp/server/McpServer"
import type { Registry } from "@effect-mcp/server/Registry"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestTransport from "./TestTransport.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends TestTransport.Options {
  /** `wire`: as text, checked against the specification. `direct`: without a wire, as fast as it gets. Default: `wire`. */
  readonly transport?: "wire" | "direct" | undefined
  readonly info?: Implementation | undefined
  readonly server?: McpServer.Options | undefined
  readonly client?: ClientSession.Options | undefined
}

/**
 * How to reach a server over a checked wire in memory. Each connection is a wire of its own.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connector = (
  options?: TestTransport.Options
): Effect.Effect<Connector.Connector, never, Dispatcher> =>
  Effect.map(Dispatcher, (dispatcher) =>
    Connector.make(
      "a server under test",
      Effect.gen(function*() {
        const pair = yield* TestTransport.pair(options)
        yield* Effect.forkScoped(dispatcher.accept(pair.server))
        return pair.client
      })
    ))

/**
 * A client of a server that keeps `definition` with these features. Dies when a promised tool is not kept.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <D extends Definition.Definition.Any, E = never, R = never>(
  definition: D,
  features: Layer.Layer<never, E, R>,
  options: Options = {}
): Layer.Layer<Client.Client | Dispatcher, E | ConnectError, Exclude<R, Registry>> => {
  const server = McpServer.layer(options.info ?? { name: "test", version: "0.0.0" }, features, options.server)
  const client = Layer.scoped(
    Client.Client,
    Effect.gen(function*() {
      const reach = options.transport === "direct" ? yield* InProcess.connector : yield* connector(options)
      const session = yield* Client.make(reach, options.client)
      const kept = definition.tools.size === 0 ? [] : yield* Stream.runCollect(session.tools)
      const names = new Set(Array.from(kept, ({ name }) => name))
      const broken = [...definition.tools.keys()].filter((name) => !names.has(name))
      if (broken.length > 0) return yield* Effect.dieMessage(`The server does not keep: ${broken.join(", ")}`)
      return session
    })
  )
  return Layer.provideMerge(client, server)
}

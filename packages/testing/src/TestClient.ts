/**
 * A client under test, and the server it talks to, played by the test.
 *
 * @since 0.1.0
 */
import * as Client from "@effect-mcp/client/Client"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import type * as ClientSession from "@effect-mcp/client/ClientSession"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestPeer from "./TestPeer.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface TestClient {
  readonly client: ClientSession.ClientSessionService
  readonly server: TestPeer.TestPeer
}

/**
 * A client that has shaken hands with a server that says it has these capabilities.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: {
  readonly capabilities?: JsonObject
  readonly version?: string
  readonly client?: ClientSession.Options
} = {}): Effect.Effect<TestClient, ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const [server, connector] = yield* TestPeer.server()
    const [client] = yield* Effect.all(
      [Client.make(connector, options.client), Effect.orDie(server.initialized(options))],
      { concurrency: 2 }
    )
    return { client, server }
  })

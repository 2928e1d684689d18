/**
 * A client under test, and the server it talks to, played by the test. `TestServer` is the other way round: a server under
 * test, and a real client.
 *
 * @since 0.1.0
 */
import * as Client from "@effect-mcp/client/Client"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import type * as ClientSession from "@effect-mcp/client/ClientSession"
import type * as Features from "@effect-mcp/client/Features"
import { ConnectionClosed } from "@effect-mcp/jsonrpc/LocalError"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as TestPeer from "./TestPeer.js"
import type * as TestTransport from "./TestTransport.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface TestClient {
  readonly client: ClientSession.ClientSessionService
  readonly server: TestPeer.TestPeer
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<E = never, R = never> extends TestTransport.Options {
  /** What the server says that it can do. Default: nothing. */
  readonly capabilities?: JsonObject | undefined
  /** The revision that the server answers. Default: the latest that begins with a handshake. */
  readonly version?: string | undefined
  readonly client?: Client.Options<E, R> | undefined
}

/**
 * A client that has shaken hands with a server that says it has these capabilities. What the client says is put to the
 * official schema.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <E = never, R = never>(
  options: Options<E, R> = {}
): Effect.Effect<TestClient, ConnectError | E, Exclude<R, Features.Features> | Scope.Scope> =>
  Effect.gen(function*() {
    const { capabilities, client: session, version, ...transport } = options
    const [server, connector] = yield* TestPeer.server(transport)
    const shaking = Effect.onError(Effect.orDie(server.initialized({ capabilities, version })), () => server.hangUp)
    const [shaken, connected] = yield* Effect.all(
      [Effect.exit(shaking), Effect.exit(Client.make(connector, session))],
      { concurrency: 2 }
    )
    if (Exit.isFailure(connected)) {
      // A client that failed has hung up, and one whose server has hung up has failed: who was first?
      const first = Exit.isFailure(shaken) && isHungUp(connected.cause) ? shaken : connected
      return yield* Effect.failCause(first.cause)
    }
    return { client: connected.value, server }
  })

const isHungUp = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(Cause.failureOption(cause), (error) => error instanceof ConnectionClosed)

/**
 * A client under test, connected to a server that the test scripts. `TestServer` is the counterpart: a server under test
 * with a real client.
 *
 * @since 0.1.0
 */
import * as Client from "@effect-mcp/client/Client"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import type * as ClientSession from "@effect-mcp/client/ClientSession"
import type * as Features from "@effect-mcp/client/Features"
import { ConnectionClosed } from "@effect-mcp/jsonrpc/LocalError"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Version from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as TestPeer from "./TestPeer.js"
import type * as TestTransport from "./TestTransport.js"

/** @category models */
export interface TestClient {
  readonly client: ClientSession.ClientSessionService
  /** The scripted server. */
  readonly server: TestPeer.TestPeer
}

/** @category models */
export interface Options<E = never, R = never> extends TestTransport.Options {
  /**
   * The capabilities of the server. Default: every one but tasks; in the modern era without notifications of changes, for
   * which the client would open a subscription.
   */
  readonly capabilities?: JsonObject | undefined
  /**
   * The revision that the server supports. With one of the legacy era, client and server make the handshake, and the client
   * speaks the legacy revisions only, unless it has `versions` of its own. Default: the newest that the client speaks.
   */
  readonly version?: string | undefined
  /** Here `checkOutputs` is false by default: a client that checks requests a list that the script may not expect. */
  readonly client?: Client.Options<E, R> | undefined
}

/**
 * A client that is connected to a server that has these capabilities: in the modern era, which is the default, the client
 * has discovered the server; in the legacy era both have completed the handshake. All messages of the client are checked
 * against the official schema. Fails with the error of `Client.make`.
 *
 * @category constructors
 */
export const make = <E = never, R = never>(
  options: Options<E, R> = {}
): Effect.Effect<TestClient, ConnectError | E, Exclude<R, Features.Features> | Scope.Scope> =>
  Effect.gen(function*() {
    const { capabilities, client: session, version: given, ...transport } = options
    const version = given ?? newestOf(session?.versions)
    const [server, connector] = yield* TestPeer.server(transport)
    const isModern = Version.isModern(version)
    const opening = isModern
      ? server.discovered({ capabilities, version })
      : server.initialized({ capabilities, version })
    const handshake = Effect.onError(Effect.orDie(opening), () => server.hangUp)
    const versions = !isModern ? Version.legacy : given === undefined ? Version.all : [version] as const
    const [accepted, connected] = yield* Effect.all(
      [Effect.exit(handshake), Effect.exit(Client.make(connector, { versions, checkOutputs: false, ...session }))],
      { concurrency: 2 }
    )
    if (Exit.isFailure(connected)) {
      // When one side fails, it closes the connection, and the other fails with that: report the first failure.
      const first = Exit.isFailure(accepted) && isClosed(connected.cause) ? accepted : connected
      return yield* Effect.failCause(first.cause)
    }
    return { client: connected.value, server }
  })

const newestOf = (versions: ReadonlyArray<Version.Version> = Version.all): Version.Version =>
  versions.reduce((newest, version) => version > newest ? version : newest)

/**
 * A client that connects without a message, because its options tell all that it would find out.
 *
 * @category utils
 */
export const connected = <E = never, R = never>(
  client: Client.Options<E, R>,
  options?: TestTransport.Options
): Effect.Effect<TestClient, ConnectError | E, Exclude<R, Features.Features> | Scope.Scope> =>
  Effect.gen(function*() {
    const [server, connector] = yield* TestPeer.server(options)
    return { client: yield* Client.make(connector, { checkOutputs: false, ...client }), server }
  })

const isClosed = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(Cause.failureOption(cause), (error) => error instanceof ConnectionClosed)

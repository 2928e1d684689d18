/**
 * Connects a client under test to a scripted server: the test plays the server with a `TestPeer`. To connect a server under test to a real
 * client, use `TestServer`.
 *
 * @since 0.1.0
 */
import * as Client from "@effect-mcp/core/Client"
import type { ConnectError } from "@effect-mcp/core/ClientError"
import type * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type * as ClientSession from "@effect-mcp/core/ClientSession"
import { ConnectionClosed } from "@effect-mcp/core/LocalError"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
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
export interface Options<E = never, R = ClientFeatures.ClientFeatures> extends TestTransport.Options {
  /**
   * The capabilities of the server. Default: all except tasks. With revision 2026-07-28, the default also has no `listChanged`, because for
   * `listChanged` the client would open a subscription.
   */
  readonly capabilities?: JsonObject | undefined
  /**
   * The revision that the server supports. With revision 2025-11-25 or earlier, client and server make the handshake. Default: the newest
   * revision that the client supports.
   *
   * The option `versions` of `client` decides which revisions the client supports. Default of `versions`: with `version` "2026-07-28", only
   * this revision; with an earlier `version`, all revisions with a handshake; without `version`, all revisions.
   */
  readonly version?: string | undefined
  /**
   * The options of the client. The default of `checkOutputs` is false here. A client that checks outputs requests the list of tools, and
   * the script of the test might not expect this request.
   */
  readonly client?: Client.Options<E, R> | undefined
}

/**
 * Connects a client to a scripted server. With revision 2026-07-28, which is the default, the returned client has already discovered the
 * server. With revision 2025-11-25 or earlier, client and server have already completed the handshake. All messages of the client are
 * checked against the official schema. Fails with the errors of `Client.make`.
 *
 * @category constructors
 */
export const make = <E = never, R = never>(
  options: Options<E, R> = {}
): Effect.Effect<TestClient, ConnectError | E, Exclude<R, ClientFeatures.ClientFeatures> | Scope.Scope> =>
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
      // A side that fails closes the connection, and then the other side fails as well. The first failure is reported.
      const first = Exit.isFailure(accepted) && isClosed(connected.cause) ? accepted : connected
      return yield* Effect.failCause(first.cause)
    }
    return { client: connected.value, server }
  })

const newestOf = (versions: ReadonlyArray<Version.Version> = Version.all): Version.Version =>
  versions.reduce((newest, version) => version > newest ? version : newest)

/**
 * Connects a client that sends no message when it connects. The client needs the option `prior`, which contains the facts about the server
 * that the client would otherwise request.
 *
 * @category utils
 */
export const connected = <E = never, R = never>(
  client: Client.Options<E, R>,
  options?: TestTransport.Options
): Effect.Effect<TestClient, ConnectError | E, Exclude<R, ClientFeatures.ClientFeatures> | Scope.Scope> =>
  Effect.gen(function*() {
    const [server, connector] = yield* TestPeer.server(options)
    return { client: yield* Client.make(connector, { checkOutputs: false, ...client }), server }
  })

const isClosed = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(Cause.failureOption(cause), (error) => error instanceof ConnectionClosed)

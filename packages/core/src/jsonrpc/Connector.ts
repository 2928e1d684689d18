/**
 * A connector opens the transport with which a client reaches a server. There are connectors for a subprocess, for a URL, and for a server
 * in the same process. `make` makes a connector for any other transport.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { TransportError } from "./LocalError.js"
import type { Transport } from "./Transport.js"

/** @category models */
export interface Connector<out R = never> {
  /** The name of the server, for error messages and spans. */
  readonly name: string
  /**
   * A text that is equal for all servers of the same kind, such as the origin of their URLs or the command that launches them. When a
   * client has found the protocol revision of one of these servers, the client expects the same revision from the other servers. Default:
   * the client finds the revision of this server separately.
   */
  readonly origin?: string | undefined
  /** Whether the client can open a second connection when the first connection could not start a session. Default: `true`. */
  readonly connectsAgain?: boolean | undefined
  /** Opens the transport. The transport closes when the scope closes. Fails with a `TransportError` whose reason is `Open`. */
  readonly connect: Effect.Effect<Transport, TransportError, R | Scope.Scope>
}

/**
 * Makes a connector that opens its transport with `connect`.
 *
 * @category constructors
 */
export const make = <R>(
  name: string,
  connect: Effect.Effect<Transport, TransportError, R>,
  options?: Pick<Connector, "connectsAgain" | "origin">
): Connector<Exclude<R, Scope.Scope>> => ({
  ...options,
  name,
  // The two types of requirements are equal: `Scope` is excluded and added again.
  connect: connect as Effect.Effect<Transport, TransportError, Exclude<R, Scope.Scope> | Scope.Scope>
})

/**
 * Makes a connector for a transport that is already open. A client can connect only one time with this connector.
 *
 * @category constructors
 */
export const fromTransport = (transport: Transport, name = "transport"): Connector =>
  make(name, Effect.succeed(transport), { connectsAgain: false })

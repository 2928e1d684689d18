/**
 * How a client reaches a server: a value that opens a transport in a scope. There are connectors for a subprocess, for a URL, and for a
 * server in the same process. `make` builds a connector for any other transport.
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
   * A text that servers of the same kind share: the origin of their URLs, or the command that launches them. A client that has found out
   * which protocol version one of these servers speaks expects the same version from the other servers. Default: the connector shares with
   * no other connector.
   */
  readonly origin?: string | undefined
  /** Whether a second connection can have a session when the first connection could not start one. Default: `true`. */
  readonly connectsAgain?: boolean | undefined
  /** Opens the transport, which closes with the scope. Fails with a `TransportError` of reason `Open`. */
  readonly connect: Effect.Effect<Transport, TransportError, R | Scope.Scope>
}

/**
 * A connector that opens its transport with `connect`.
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
 * A connector for a transport that is already open. A client can connect with it once.
 *
 * @category constructors
 */
export const fromTransport = (transport: Transport, name = "transport"): Connector =>
  make(name, Effect.succeed(transport), { connectsAgain: false })

/**
 * How a client reaches a server: a value that opens a transport in a scope. A subprocess, a URL and a server in the same process each have
 * a connector; `make` builds a connector for any other transport.
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
   * What servers of the same kind have in common: the origin of their URLs, or the command that launches them. A client that has found out
   * which protocol one of these servers speaks expects the same protocol from the other servers. Default: nothing is shared.
   */
  readonly origin?: string | undefined
  /** Whether a second connection can make a session where the first connection made none. Default: true. */
  readonly connectsAgain?: boolean | undefined
  /** Opens the transport; it closes with the scope. Fails with reason `Open`. */
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
  // The two requirements are equal: the scope is excluded and added again.
  connect: connect as Effect.Effect<Transport, TransportError, Exclude<R, Scope.Scope> | Scope.Scope>
})

/**
 * A connector for a transport that is already open. The connector can be used once.
 *
 * @category constructors
 */
export const fromTransport = (transport: Transport, name = "transport"): Connector =>
  make(name, Effect.succeed(transport), { connectsAgain: false })

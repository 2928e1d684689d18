/**
 * How a client reaches a server: a value that yields a transport in a scope. A subprocess, a URL, a server in the same
 * process each make one; so does anything with a `Transport`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Transport, TransportError } from "./Transport.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Connector<out R = never> {
  /** What is reached, for error messages and spans. */
  readonly name: string
  /** Reaches it. Fails with reason `Open` when it cannot; what it opens closes with the scope. */
  readonly connect: Effect.Effect<Transport, TransportError, R | Scope.Scope>
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = <R>(
  name: string,
  connect: Effect.Effect<Transport, TransportError, R>
): Connector<Exclude<R, Scope.Scope>> => ({
  name,
  // What is left of R is what it was without the scope.
  connect: connect as Effect.Effect<Transport, TransportError, Exclude<R, Scope.Scope> | Scope.Scope>
})

/**
 * Reaches what is there already. The transport can be used once.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromTransport = (transport: Transport, name = "transport"): Connector =>
  make(name, Effect.succeed(transport))

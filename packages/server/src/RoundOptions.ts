/**
 * How a server keeps the answers of a client between the rounds of a request, from 2026-07-28 on. A handler that asks a
 * question ends its round; the client sends the request again with the answers and with a sealed state, and the handler runs
 * again from its beginning. The server itself remembers nothing between two rounds.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"

export interface RoundOptions {
  /**
   * The secrets that seal the state, at least 32 bytes each. The first one seals; all of them open, so that a new secret can
   * be put before an old one. Nodes that share the requests of a client need the same secrets. Default: the keys of
   * `SealKeys`, if the layer of the server is given them; else a random secret, which ends with the server.
   */
  readonly secrets?:
    | readonly [Redacted.Redacted<string | Uint8Array>, ...Array<Redacted.Redacted<string | Uint8Array>>]
    | undefined
  /** How long a client has for its answers, from one round to the next. Default: 10 minutes. */
  readonly ttl?: Duration.DurationInput | undefined
  /** How many rounds a request may have in which the handler asks. Default: 10. */
  readonly max?: number | undefined
}

/**
 * What the server knows of one client in a legacy conversation: the facts of its `initialize`, how much it wants to hear,
 * and the way to speak to it outside of any request. Plain state, changed by `Initialize` and `Serve` only.
 *
 * @since 0.1.0
 */
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"

/**
 * @since 0.1.0
 * @category models
 */
export class Connection {
  /** `initialize` was answered: requests are served. That the client has seen the answer is `initialized`. */
  accepted = false
  initialized = false
  version: LegacyVersion = Version.latestLegacy
  clientInfo: Implementation | undefined
  clientCapabilities: ClientCapabilities = {}
  /** What the client asked for with `logging/setLevel`; before that it hears everything. */
  level: LoggingLevel | undefined
  private readonly telling = new Set<string>()

  constructor(
    /** Beside all requests. */
    readonly outbound: Outbound
  ) {}

  /** Tells the client that something has changed, without waiting for it; once, however often, while it does not read. */
  announce(method: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.initialized || this.telling.has(method)) return Effect.void
      this.telling.add(method)
      return Effect.asVoid(Effect.forkDaemon(Effect.ensuring(
        this.outbound.notify(method),
        Effect.sync(() => this.telling.delete(method))
      )))
    })
  }
}

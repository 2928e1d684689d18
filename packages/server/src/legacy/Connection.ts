/**
 * What the server knows of one client in a legacy conversation: the facts of its `initialize`, how much it wants to hear,
 * and the way to speak to it outside of any request. Plain state, changed by `Initialize` and `Serve` only.
 *
 * @since 0.1.0
 */
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { ClientCapabilities, ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import type * as Method from "@effect-mcp/protocol/Method"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"

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
  /** What the client was told that the server offers. */
  serverCapabilities: ServerCapabilities = {}
  /** What the client asked for with `logging/setLevel`; before that it hears everything. */
  level: LoggingLevel | undefined
  private readonly telling = new Map<string, Fiber.RuntimeFiber<void>>()

  constructor(
    /** Beside all requests. */
    readonly outbound: Outbound
  ) {}

  /**
   * Tells the client that something has changed, without waiting for it; once, however often, while it does not read. A
   * client that does not know of what changed, or is not ready to hear of it, is told nothing.
   */
  announce({ capability, name }: Method.Notification): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.initialized || this.telling.has(name) || !declares(this.serverCapabilities, capability)) {
        return Effect.void
      }
      return Effect.map(Effect.forkDaemon(Effect.interruptible(this.outbound.notify(name))), (fiber) => {
        this.telling.set(name, fiber)
        fiber.addObserver(() => this.telling.delete(name))
      })
    })
  }

  /** Stops telling. */
  get silence(): Effect.Effect<void> {
    return Effect.suspend(() => Fiber.interruptAll([...this.telling.values()]))
  }
}

const declares = (capabilities: unknown, path: string | undefined): boolean =>
  path === undefined || Boolean(
    path.split(".").reduce((at: unknown, key) => Predicate.hasProperty(at, key) ? at[key] : undefined, capabilities)
  )

/**
 * What the server knows of one client in a legacy conversation: the facts of its `initialize`, what it wants to hear, the
 * application's own services for it, and the way to speak to it outside of any request. Plain state, changed by
 * `Initialize`, `Serve` and `Subscriptions` only.
 *
 * @since 0.1.0
 */
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { ClientCapabilities, ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import type * as Method from "@effect-mcp/protocol/Method"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import type * as Context from "effect/Context"
import type * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/**
 * @since 0.1.0
 * @category models
 */
export class Connection {
  /** `initialize` was answered: requests are served. That the client has seen the answer is `initialized`. */
  accepted = false
  initialized = false
  /** Done when `initialize`, which is being served, has ended: what came after it waits. */
  opening: Deferred.Deferred<void> | undefined
  version: LegacyVersion = Version.latestLegacy
  clientInfo: Implementation | undefined
  clientCapabilities: ClientCapabilities = {}
  /** What the client was told that the server offers. */
  serverCapabilities: ServerCapabilities = {}
  /** What the client asked for with `logging/setLevel`; before that it hears everything. */
  level: LoggingLevel | undefined
  /** The resources that the client wants to hear of. */
  subscriptions: Set<string> | undefined
  /** What the application's session layer has built for this client. */
  services: Context.Context<never> | undefined
  /** Releases them; for who is not let in after all. */
  leave: Effect.Effect<void> | undefined
  private telling: Map<string, Fiber.RuntimeFiber<void>> | undefined

  constructor(
    /** Beside all requests. */
    readonly outbound: Outbound,
    /** As long as the conversation; none where there is no conversation. */
    readonly scope: Scope.Scope | undefined = undefined
  ) {}

  /**
   * Tells the client that something has changed, without waiting for it; once, however often, while it does not read. A
   * client that does not know of what changed, or is not ready to hear of it, is told nothing.
   */
  announce({ capability, name }: Method.Notification, params?: JsonObject, about = ""): Effect.Effect<void> {
    return Effect.suspend(() => {
      const key = `${name} ${about}`
      const telling = this.telling ??= new Map()
      if (
        !this.initialized || telling.has(key) ||
        (capability !== undefined && !Capabilities.declares(this.serverCapabilities, capability))
      ) {
        return Effect.void
      }
      return Effect.map(Effect.forkDaemon(Effect.interruptible(this.outbound.notify(name, params))), (fiber) => {
        telling.set(key, fiber)
        fiber.addObserver(() => telling.delete(key))
      })
    })
  }

  /** Stops telling. */
  get silence(): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.telling === undefined ? Effect.void : Fiber.interruptAll([...this.telling.values()])
    )
  }
}

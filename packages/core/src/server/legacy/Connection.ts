/**
 * The state of one legacy client (revisions up to 2025-11-25): the facts that the client sent in `initialize`, the messages that the client
 * wants to receive, the services of the client's session layer, and the `Outbound` for messages outside of any request.
 *
 * Each conversation has one object of this class. The fields are mutable, so that requests read them without an effect. One field is the
 * `Phase` of the conversation. For each event that changes the phase, this class has a method. `Handshake`, `Initialize` and `SessionFacts`
 * call these methods. `Initialize` also sets the services and the facts of the client. When this node takes a session over, `SessionFacts`
 * sets the facts. `Conversations` sets `persist` and `isLost`, and ends the session. `ServerSide` reports `initialized`, `Era` sets the log
 * level, and `Subscriptions` sets the subscriptions.
 */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Outbound } from "../../jsonrpc/Outbound.js"
import type { OwnLimit } from "../../jsonrpc/Side.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Release from "../../kit/Release.js"
import { SerialQueue } from "../../kit/SerialQueue.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import type { Implementation } from "../../protocol/Implementation.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import type { LoggingLevel } from "../../protocol/Logging.js"
import type { InternalError } from "../../protocol/McpError.js"
import * as Method from "../../protocol/Method.js"
import * as Version from "../../protocol/Version.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import type { ClientFacts } from "../runtime/HandlerContext.js"

/** A subscription of the client to a resource. */
export interface Subscription {
  /** The URI as the client sent it. */
  readonly uri: string
  readonly end: Effect.Effect<void>
  /**
   * Set while the feature of the resource begins the subscription. Completes when the subscription has begun, or when the feature has
   * refused it.
   */
  begun: Deferred.Deferred<void> | undefined
}

/** How many different notifications of changes may wait for one client. */
export const MAX_ANNOUNCEMENTS = 1024

/** How many other notifications may wait for one client. */
export const MAX_NOTIFICATIONS = 256

/** The phase of a conversation. */
export type Phase =
  | { readonly _tag: "New" }
  /**
   * The server is serving `initialize`, until `ended` completes. When `accepted` is true, the server has accepted the request, but
   * middleware may still refuse it.
   */
  | { readonly _tag: "Opening"; readonly ended: Deferred.Deferred<void>; readonly accepted: boolean }
  | { readonly _tag: "Open" }
  /**
   * Another node has served the session before, with subscriptions to these URIs. This node must first restore the session: build the
   * session layer, and begin the subscriptions again. When `ended` is set, this node is restoring the session, until `ended` completes.
   */
  | {
    readonly _tag: "Restoring"
    readonly subscriptions: ReadonlyArray<string>
    readonly ended: Deferred.Deferred<void> | undefined
  }
  | { readonly _tag: "Ended"; readonly accepted: boolean }

const never = () => false

const NEW: Phase = { _tag: "New" }
const OPEN: Phase = { _tag: "Open" }

export class Connection implements ClientFacts {
  /** Results of legacy revisions contain no cache hints. */
  readonly hints = undefined
  /** `conversation`: the client has a conversation with the server. `request`: this object exists for one request only. */
  readonly reach: "conversation" | "request"
  /** The current phase. Only this class sets the phase. Each event has one method. */
  private current: Phase = NEW
  /**
   * Whether the client has sent `notifications/initialized`. Only after this may the client receive requests, and notifications outside of
   * its requests.
   */
  initialized = false
  version: Version.LegacyVersion = Version.latestLegacy
  /** The revision that the client requested in `initialize`. */
  requestedVersion: string | undefined
  clientInfo: Implementation | undefined
  clientCapabilities: Capabilities.ClientCapabilities = {}
  /** The capabilities that the server advertised to this client. */
  serverCapabilities: Capabilities.ServerCapabilities = {}
  /**
   * The lowest level of log messages that the client receives. `undefined` before the client sends `logging/setLevel`: until then the
   * client receives all levels.
   */
  logLevel: LoggingLevel | undefined
  /** The subscriptions of the client to resources, by the keys of their URIs; `undefined` before the first subscription. */
  subscriptions: Map<string, Subscription> | undefined
  /** The services of the session layer for this client; `undefined` when the layer has not built services. */
  services: Context.Context<never> | undefined
  /** Stores the facts that another node needs to take the session over; `undefined` where no other node can take the session over. */
  persist: Effect.Effect<void, InternalError | HttpRefusal> | undefined
  /** Whether another node has taken the session over. If `true`, this node does not know how the requests of the session end. */
  isLost: () => boolean = never
  /** Limits the requests of the client that wait for results of tasks. Made when first needed. */
  taskResults: OwnLimit | undefined
  /** Releases the services, when the handshake fails after the services were built. */
  releaseServices: Effect.Effect<void> | undefined
  private lazyScope: Scope.CloseableScope | undefined
  private whenInitialized: Deferred.Deferred<void> | undefined
  private announcements: SerialQueue | undefined
  private notifications: SerialQueue | undefined

  constructor(
    /** Sends outside of any request. */
    readonly outbound: Outbound,
    /** The scope of the conversation; `undefined` for a request that belongs to no conversation. */
    readonly scope: Scope.Scope | undefined = undefined
  ) {
    this.reach = scope === undefined ? "request" : "conversation"
  }

  get phase(): Phase {
    return this.current
  }

  /** Whether the server has accepted `initialize`. Only then does the server serve requests. */
  get accepted(): boolean {
    const { current } = this
    switch (current._tag) {
      case "New":
        return false
      case "Open":
      case "Restoring":
        return true
      default:
        return current.accepted
    }
  }

  /**
   * Completes when the running `initialize` has ended, or when the session has been restored. `undefined` when the server is not serving
   * `initialize` and is not restoring the session.
   */
  get handshake(): Deferred.Deferred<void> | undefined {
    const { current } = this
    return current._tag === "Opening" || current._tag === "Restoring" ? current.ended : undefined
  }

  /** The URIs of the subscriptions that this node has not restored yet; `undefined` when there is nothing to restore. */
  get unrestored(): ReadonlyArray<string> | undefined {
    return this.current._tag === "Restoring" ? this.current.subscriptions : undefined
  }

  /** `initialize` begins. Later messages wait until `ended` completes. */
  beginOpening(ended: Deferred.Deferred<void>): void {
    this.current = { _tag: "Opening", ended, accepted: false }
  }

  /** The server accepts `initialize`. */
  accept(): void {
    const { current } = this
    this.current = current._tag === "Opening" || current._tag === "Ended" ? { ...current, accepted: true } : OPEN
  }

  /** `initialize` has ended without a refusal. */
  endOpening(): void {
    if (this.current._tag === "Opening") this.current = this.current.accepted ? OPEN : NEW
  }

  /**
   * The server has refused `initialize`. The client may send `initialize` again. The second request overwrites the facts of the first
   * request. Gives the effect that releases the services; `undefined` when there are no services.
   */
  refuse(): Effect.Effect<void> | undefined {
    const { current, releaseServices } = this
    this.services = this.releaseServices = undefined
    this.current = current._tag === "Ended" ? { ...current, accepted: false } : NEW
    return releaseServices
  }

  /** Another node served the session before, with subscriptions to these URIs. */
  takeOver(subscriptions: ReadonlyArray<string>): void {
    this.current = { _tag: "Restoring", subscriptions, ended: undefined }
  }

  /** Restoring the session begins. Later messages wait until `ended` completes. */
  beginRestoring(ended: Deferred.Deferred<void>): void {
    if (this.current._tag === "Restoring") this.current = { ...this.current, ended }
  }

  /** Restoring has ended. When restoring has failed, the next message of the client tries again. */
  endRestoring(hasSucceeded: boolean): void {
    if (this.current._tag === "Restoring") this.current = hasSucceeded ? OPEN : { ...this.current, ended: undefined }
  }

  get hasDeclared(): boolean {
    return this.reach === "conversation"
  }

  /** An object that is the same for all requests of the client; `undefined` for a request that belongs to no conversation. */
  get clientKey(): object | undefined {
    return this.reach === "request" ? undefined : this
  }

  /** The scope that closes with the session; `undefined` for a request that belongs to no conversation. */
  get sessionScope(): Scope.CloseableScope | undefined {
    return this.reach === "request" ? undefined : this.ownScope
  }

  /** The scope that closes with the conversation. Made when first needed. */
  get ownScope(): Scope.CloseableScope {
    if (this.lazyScope === undefined) {
      this.lazyScope = Effect.runSync(Scope.make())
      // Code that runs after the end of the conversation gets a closed scope.
      if (this.current._tag === "Ended") Effect.runSync(Scope.close(this.lazyScope, Exit.void))
    }
    return this.lazyScope
  }

  /** Sets the phase to `Ended`. Gives the effect that closes the scope of the session; `undefined` when this scope was never made. */
  closeSession(): Effect.Effect<void> | undefined {
    this.current = { _tag: "Ended", accepted: this.accepted }
    return this.lazyScope === undefined ? undefined : Scope.close(this.lazyScope, Exit.void)
  }

  /** The client has sent `notifications/initialized`. */
  onInitialized(): void {
    this.initialized = true
    if (this.whenInitialized !== undefined) EffectInternals.done(this.whenInitialized, Effect.void)
  }

  /** Waits until the client has sent `notifications/initialized`. */
  get awaitInitialized(): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.initialized ? Effect.void : Deferred.await(this.whenInitialized ??= EffectInternals.deferred())
    )
  }

  /**
   * Whether the client may get a notification with this name. There are two conditions. The client's revision must have the notification.
   * If the notification needs a capability, the side that the specification names (server or client) must have declared this capability.
   */
  allows(name: string): boolean {
    const method = Methods.table.get(name)
    if (method === undefined) return true
    if (!Method.isIn(method, this.version) || method.from === "client") return false
    const { capability, declaredBy } = method
    if (capability === undefined || this.reach === "request") return true
    return Capabilities.declares(
      declaredBy === "sender" ? this.serverCapabilities : this.clientCapabilities,
      capability
    )
  }

  /**
   * Sends a notification in the background. Does nothing in three cases: an equal notification (with the same method and the same `about`)
   * still waits; the client is not initialized yet; or the server has not advertised the capability to the client.
   */
  announce({ capability, name }: Method.Notification, params?: JsonObject, about = ""): Effect.Effect<void> {
    return Effect.suspend(() => {
      const isAllowed = capability === undefined || Capabilities.declares(this.serverCapabilities, capability)
      const key = `${name} ${about}`
      if (!this.initialized || !isAllowed || this.announcements?.has(key) === true) return Effect.void
      this.announcements ??= new SerialQueue({ capacity: MAX_ANNOUNCEMENTS, surplus: "drop" })
      return this.announcements.fork(this.outbound.notify(name, params), key)
    })
  }

  /**
   * Sends a notification in the background. If an older notification with the same key still waits for the client to read, replaces the
   * older notification.
   */
  inform(key: string, name: string, params: JsonObject): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.notifications ??= new SerialQueue({ capacity: MAX_NOTIFICATIONS, surplus: "drop" })
      return this.notifications.fork(this.outbound.notify(name, params), key)
    })
  }

  /** Interrupts the notifications that still wait for the client to read, and waits until they have ended, for `limit` at most. */
  stopAnnouncing(limit: Duration.DurationInput | undefined): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.zipRight(Release.stop(this.announcements, limit), Release.stop(this.notifications, limit))
    )
  }
}

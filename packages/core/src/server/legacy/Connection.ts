/**
 * The state of one client of the legacy era (revisions up to 2025-11-25): what the client sent in `initialize`, which messages it wants to
 * receive, the services that the session layer built for it, and the `Outbound` for messages outside of any request.
 *
 * A class with mutable fields, one object for each conversation; requests read it without an effect. How far the conversation has come is
 * one field, a `Phase`, with a method for each event. `Handshake`, `Initialize` and `SessionFacts` call these methods. `Initialize` also
 * sets the services and what the client has sent; after a takeover `SessionFacts` sets what the client has sent. `Conversations` sets
 * `persist` and `isLost`, and ends the session. `ServerSide` reports `initialized`, `Era` sets the log level, and `Subscriptions` sets the
 * subscriptions.
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
  /** Set while the feature of the resource begins the subscription. Completes when the subscription has begun or was refused. */
  begun: Deferred.Deferred<void> | undefined
}

/** How many different notifications of changes may wait for a client. */
export const MAX_ANNOUNCEMENTS = 1024

/** How many notifications with contents of their own may wait for a client. */
export const MAX_NOTIFICATIONS = 256

/** How far a conversation has come. */
export type Phase =
  | { readonly _tag: "New" }
  /** `initialize` is being served, until `ended` completes. When the server has `accepted` it, middleware may still refuse it. */
  | { readonly _tag: "Opening"; readonly ended: Deferred.Deferred<void>; readonly accepted: boolean }
  | { readonly _tag: "Open" }
  /**
   * Another node has served the session before, with subscriptions to these URIs. What features and the session layer keep for the client
   * does not exist at this node yet. When `ended` is set, it is being made now, until `ended` completes.
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
  /** Results of the legacy era carry no hints for caches. */
  readonly hints = undefined
  /** `conversation`: the client has a conversation with the server. `request`: the connection was made for one request. */
  readonly reach: "conversation" | "request"
  /** The current phase. Only this class sets it, with one method for each event. */
  private current: Phase = NEW
  /**
   * Whether the client has sent `notifications/initialized`. From then on it may receive requests, and notifications outside of its
   * requests.
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
   * The lowest level of log messages that the client receives. `undefined` until the client sends `logging/setLevel`: it then receives all
   * levels.
   */
  logLevel: LoggingLevel | undefined
  /** The subscriptions of the client to resources, by the keys of their URIs; `undefined` before the first subscription. */
  subscriptions: Map<string, Subscription> | undefined
  /** The services that the session layer built for this client; `undefined` when it has built none. */
  services: Context.Context<never> | undefined
  /** Stores what another node needs to take the session over; `undefined` where no other node can take it over. */
  persist: Effect.Effect<void, InternalError | HttpRefusal> | undefined
  /** Whether another node has taken the session over. Then this node does not know how the requests of the session end. */
  isLost: () => boolean = never
  /** Limits the requests of the client that wait for results of tasks; made when it is first needed. */
  taskResults: OwnLimit | undefined
  /** Releases the services. It is for a handshake that fails after the services were built. */
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

  /** Whether the server has accepted `initialize`, and so serves requests. */
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
   * Completes when the `initialize` that is being served has ended, or when the session that is being restored is restored. `undefined`
   * when neither is under way.
   */
  get handshake(): Deferred.Deferred<void> | undefined {
    const { current } = this
    return current._tag === "Opening" || current._tag === "Restoring" ? current.ended : undefined
  }

  /** The URIs of the subscriptions that are not restored yet; `undefined` when the session is not being restored. */
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
   * `initialize` was refused. The client may send `initialize` again, which overwrites what the client has sent before. Gives the effect
   * that releases the services that were built; `undefined` when none were built.
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

  /** Restoring has ended. When it has failed, the next message of the client tries again. */
  endRestoring(hasSucceeded: boolean): void {
    if (this.current._tag === "Restoring") this.current = hasSucceeded ? OPEN : { ...this.current, ended: undefined }
  }

  get hasDeclared(): boolean {
    return this.reach === "conversation"
  }

  /** The same object for all requests of the client; `undefined` for a request that belongs to no conversation. */
  get clientKey(): object | undefined {
    return this.reach === "request" ? undefined : this
  }

  /** Closes with the session; `undefined` for a request that belongs to no conversation. */
  get sessionScope(): Scope.CloseableScope | undefined {
    return this.reach === "request" ? undefined : this.ownScope
  }

  /** Closes with the conversation. It is made when something first needs it. */
  get ownScope(): Scope.CloseableScope {
    if (this.lazyScope === undefined) {
      this.lazyScope = Effect.runSync(Scope.make())
      // Code that outlives the conversation finds the scope closed.
      if (this.current._tag === "Ended") Effect.runSync(Scope.close(this.lazyScope, Exit.void))
    }
    return this.lazyScope
  }

  /** Ends the conversation's phase, and closes the session's scope, if it was made. */
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
   * Whether the client may get a notification with this name: its revision has the notification, and the capability that the notification
   * needs was declared.
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
   * Sends a notification without waiting until it is sent. Does nothing in three cases: an equal notification (with the same method and the
   * same `about`) still waits to be sent; the client is not initialized yet; the capability was not advertised to the client.
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
   * Sends a notification without waiting until it is sent. It replaces an older notification with the same key that still waits for the
   * client to read.
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

/**
 * Two types for the modules of a protocol era. `Options` is what an era needs to open a session over a transport. `NegotiatedSession` is
 * the session after both sides have agreed on a revision. `legacy/Connect` and `modern/Connect` open sessions with these types.
 * `Negotiation` chooses the era. `Verbs` calls the session.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { LocalError } from "../../jsonrpc/LocalError.js"
import type { Outbound } from "../../jsonrpc/Outbound.js"
import type { ExtensionTable } from "../../protocol/extension/ExtensionTable.js"
import type { Version } from "../../protocol/Version.js"
import type { FeaturesService } from "../ClientFeatures.js"
import type * as ClientSession from "../ClientSession.js"
import type { Report } from "./Decoding.js"
import type { EraTasks } from "./EraTasks.js"
import type { ExtensionMethods } from "./ExtensionMethods.js"
import type { Calls } from "./MethodCalls.js"
import type { ServerToolsService } from "./ServerTools.js"
import type { ClientTracing } from "./Tracing.js"

/** What the server has sent about itself. */
export interface ServerFacts<V extends Version = Version> extends ClientSession.Prior {
  readonly version: V
}

export interface NegotiatedSession extends Calls {
  readonly facts: ServerFacts
  /** Sends any notification without a check. */
  readonly notify: Outbound["notify"]
  readonly notifications: ClientSession.Notifications
  /** The functions that call extensions. */
  readonly extended: ExtensionMethods
  readonly tasks: EraTasks
  readonly report: Report
  /**
   * Waits until the server has accepted or refused the subscription to changes of its lists. Ends at once if there is no such subscription.
   */
  readonly awaitSubscription: Effect.Effect<void>
  readonly ended: Effect.Effect<void, LocalError>
}

type WithDefault = "clientInfo" | "timeout" | "maxRetries" | "cache" | "enforceCapabilities" | "onNotification"

type Resolved = { readonly [Name in WithDefault]-?: Exclude<ClientSession.Options[Name], undefined> }

/** The options of a client with their defaults, and the services that the modules of a client share. */
export interface Options<V extends Version = Version>
  extends Omit<ClientSession.Options, WithDefault | "extensions" | "timeouts" | "versions">, Resolved
{
  /** The revisions on which the client may agree. */
  readonly versions: ReadonlyArray<V>
  readonly features: FeaturesService
  readonly extensions: ExtensionTable
  readonly tools: ServerToolsService
  /** Records the calls; `undefined` when nothing records them. */
  readonly tracing: ClientTracing | undefined
  /** The timeouts of methods that have a timeout of their own, by name. */
  readonly timeouts: ReadonlyMap<string, Duration.DurationInput>
}

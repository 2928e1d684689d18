/**
 * The contract between the eras and `ClientSession`: what an era needs to open a session over a transport, and what it gives once both
 * sides have agreed on a revision. `legacy/Connect` and `modern/Connect` implement the contract; `Negotiation` chooses the era, and
 * `Verbs` calls the session.
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

/** What the server sent about itself. */
export interface ServerFacts<V extends Version = Version> extends ClientSession.Prior {
  readonly version: V
}

export interface NegotiatedSession extends Calls {
  readonly facts: ServerFacts
  /** Sends any notification, unchecked. */
  readonly notify: Outbound["notify"]
  readonly notifications: ClientSession.Notifications
  /** The calls of extensions. */
  readonly extended: ExtensionMethods
  readonly tasks: EraTasks
  readonly report: Report
  /** Waits until the server notifies this client of changes of its lists, if it ever does. */
  readonly awaitSubscription: Effect.Effect<void>
  readonly ended: Effect.Effect<void, LocalError>
}

type WithDefault = "clientInfo" | "timeout" | "maxRetries" | "cache" | "enforceCapabilities" | "onNotification"

type Resolved = { readonly [Name in WithDefault]-?: Exclude<ClientSession.Options[Name], undefined> }

/** The options of a client, with their defaults, and what its parts share. */
export interface Options<V extends Version = Version>
  extends Omit<ClientSession.Options, WithDefault | "extensions" | "timeouts" | "versions">, Resolved
{
  /** The revisions that the client may agree on. */
  readonly versions: ReadonlyArray<V>
  readonly features: FeaturesService
  readonly extensions: ExtensionTable
  readonly tools: ServerToolsService
  /** What records the calls; `undefined` where nothing does. */
  readonly tracing: ClientTracing | undefined
  /** The timeouts of methods that have a timeout of their own. */
  readonly timeouts: ReadonlyMap<string, Duration.DurationInput>
}

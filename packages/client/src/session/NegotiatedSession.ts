/**
 * The contract between the eras and `ClientSession`: what an era needs to open a session over a transport, and what it
 * gives once both sides have agreed on a revision. Each era's `Connect` implements it; `Negotiation` chooses one.
 */
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import type { Notification } from "@effect-mcp/jsonrpc/Message"
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { ExtensionTable } from "@effect-mcp/protocol/unstable/ExtensionTable"
import type { Version } from "@effect-mcp/protocol/Version"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { FeaturesService } from "../Features.js"
import type { Notifications } from "../Notifications.js"
import type { Report } from "./Decoding.js"
import type { EraTasks } from "./EraTasks.js"
import type { ExtensionVerbs } from "./ExtensionVerbs.js"
import type { Calls } from "./MethodCalls.js"
import type { ServerToolsService } from "./ServerTools.js"

/** What the server sent about itself. */
export interface ServerFacts<V extends Version = Version> {
  readonly version: V
  readonly serverInfo: Implementation
  readonly serverCapabilities: ServerCapabilities
  readonly instructions: string | undefined
}

export interface NegotiatedSession extends Calls {
  readonly facts: ServerFacts
  /** Sends any notification, unchecked. */
  readonly notify: Outbound["notify"]
  readonly notifications: Notifications
  /** The calls of extensions. */
  readonly extended: ExtensionVerbs
  readonly tasks: EraTasks
  readonly report: Report
  /** Waits until the server notifies this client of changes of its lists, if it ever does. */
  readonly awaitSubscription: Effect.Effect<void>
  readonly ended: Effect.Effect<void, LocalError>
}

export interface Options<V extends Version = Version> {
  readonly clientInfo: Implementation
  /** The revisions that the client may agree on. */
  readonly versions: ReadonlyArray<V>
  /** What an earlier session with this server found out. With it, the client does not look for the server's era. */
  readonly prior: ServerFacts | undefined
  readonly features: FeaturesService
  readonly extensions: ExtensionTable
  readonly tools: ServerToolsService
  /** Called for each notification that arrives, before any listener gets it. */
  readonly onNotification: (notification: Notification) => void
  readonly timeout: Duration.DurationInput
  /** The timeouts of methods that have one of their own. */
  readonly timeouts: ReadonlyMap<string, Duration.DurationInput>
  /** How many times a call that may run twice is sent again when its answer was lost. */
  readonly maxRetries: number
  /** Whether results are cached as their hints allow. */
  readonly cacheResults: boolean
  /** Whether what needs a capability is refused when that was not declared. */
  readonly enforceCapabilities: boolean
  /** Whether questions of the server are refused that come while no call waits. */
  readonly refuseUnassociated: boolean
  readonly maxInFlight: number | undefined
  /** How many times the input requests of one call are answered. */
  readonly maxRounds: number | undefined
  readonly maxWaiting: number | undefined
  readonly maxWaitingText: number | undefined
  readonly maxCalls: number | undefined
  readonly heartbeat: { readonly interval: Duration.DurationInput } | undefined
  readonly closeTimeout: Duration.DurationInput | undefined
  readonly telemetry: boolean
}

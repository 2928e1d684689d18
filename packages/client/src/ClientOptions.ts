/**
 * The options of a client and of its session, which hold over every transport: how long calls wait, what the client checks, and the
 * limits of what it does at a time. `Client` and `ClientSession` take them; a group takes them for each of its servers.
 *
 * @since 0.1.0
 */
import type { Notification } from "@effect-mcp/jsonrpc/Message"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type * as Version from "@effect-mcp/protocol/Version"
import type * as Duration from "effect/Duration"

/**
 * The limits of a session. What one connection may hold is limited by the options of its connector.
 *
 * @category models
 */
export interface Limits {
  /** How many calls may be in flight; more wait to be sent, and their timeouts run. Default: 1,024. */
  readonly maxCalls?: number | undefined
  /**
   * How many times a server may ask for input in order to serve one call, from 2026-07-28 on. Then the call fails with
   * `TooManyRounds`. Default: 10.
   */
  readonly maxRounds?: number | undefined
  /** How many of the server's requests are served at the same time; more wait. Default: 64. */
  readonly maxInFlight?: number | undefined
  /** How many of the server's requests may wait to be served; more get the error -32000. Default: 1,024. */
  readonly maxWaiting?: number | undefined
  /** How many characters the server's waiting requests may have; more get the error -32000. Default: 16 Mi. */
  readonly maxWaitingText?: number | undefined
}

/**
 * What a session has found out about its server.
 *
 * @category models
 */
export interface Prior {
  readonly version: Version.Version
  readonly serverInfo: Implementation
  readonly serverCapabilities: ServerCapabilities
  readonly instructions: string | undefined
}

/** @category models */
export interface Options {
  /** The name and version that the client sends. Default: those of this library. */
  readonly clientInfo?: Implementation | undefined
  /**
   * How long a call waits when it has no `timeout` of its own. The time during which this client answers a question of the
   * server does not count; `maxTotalTimeout` of a call counts it. Default: 60 seconds.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * The same for single methods, by name: `{ "tools/call": "10 minutes" }`. Default: `timeout` for all but
   * `server/discover`, to which a server may be silent for 5 seconds before the client tries the handshake.
   */
  readonly timeouts?: Readonly<Record<string, Duration.DurationInput>> | undefined
  /** The `maxRetries` of calls that have none of their own. Default: 0, no call is sent again. */
  readonly maxRetries?: number | undefined
  /**
   * Whether lists and resources are cached for as long as the server allows, from 2026-07-28 on. What the server allows for one
   * user only is used again while the requests of the connection have the same credentials. Default: true.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
   */
  readonly cache?: boolean | undefined
  /**
   * Whether the client refuses, with `NotNegotiated`, to send what needs a capability that was not declared. Set it to false
   * for servers that forget to declare what they have. Default: true.
   */
  readonly enforceCapabilities?: boolean | undefined
  /**
   * Whether sampling, elicitation and roots are refused while no call of the client waits for its answer. Newer servers ask
   * only within a call; many older ones request the roots as soon as the session begins. Default: false.
   */
  readonly refuseUnassociated?: boolean | undefined
  /**
   * The revisions that the client may speak; it requests the latest. With revisions of one era only, it does not look for
   * the server's era. Default: all that this library knows, of both eras.
   */
  readonly versions?: readonly [Version.Version, ...Array<Version.Version>] | undefined
  /**
   * What an earlier session with the same server found out: that session, or the same members of it, stored as JSON. The
   * client then does not look for the server's era: a modern session opens without a message, and a legacy one with the
   * handshake, after which the client looks for the era only if the server refuses it.
   */
  readonly prior?: Prior | undefined
  /**
   * The extensions that the client uses, with the settings that it declares. It dies when two of them add the same. Over HTTP,
   * the headers of their requests need a transport that this client opens. Default: none.
   */
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  /** How much the client does for its server at a time. */
  readonly limits?: Limits | undefined
  /**
   * Sends a ping to a server that was silent for `interval`, and ends the session when two in a row bring nothing within
   * `interval`; a ping that cannot be delivered brings nothing. It is off at 2026-07-28, which has no ping: there each call
   * has its `timeout`. Default: no pings.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
   */
  readonly heartbeat?: { readonly interval: Duration.DurationInput } | undefined
  /** How long closing waits for handlers of features that cannot be interrupted. Default: 5 seconds. */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * Whether structured content is checked against the output schema that the server lists for the tool. When the client
   * does not have the list yet, it requests it after the first call, in the time that is left for the call. A result that cannot be
   * checked is accepted, and reported in `diagnostics`: the tools could not be listed, which is tried again after a minute, the schema
   * is not valid, or the check would cost too much. Default: true.
   */
  readonly checkOutputs?: boolean | undefined
  /**
   * Called with each notification when it arrives, before a call that ends after it returns. The streams of the session are for
   * listeners that may be slower than the server; this must return at once, and must not throw.
   */
  readonly onNotification?: ((notification: Notification) => void) | undefined
  /** Whether calls are recorded as spans and metrics. See `Telemetry`. Default: false. */
  readonly telemetry?: boolean | undefined
}

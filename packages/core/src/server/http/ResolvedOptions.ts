/**
 * The options of an HTTP endpoint, with all defaults. All durations are in milliseconds. `WebHandler` describes the options.
 * `EndpointContext` adds the defaults with this module. `dispatch/Endpoint`, `legacy/SessionStore` and the other modules of the endpoint
 * read the result.
 */
import type * as Duration from "effect/Duration"
import type { Tap } from "../../jsonrpc/Tap.js"
import * as Deadlines from "../../kit/Deadlines.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { HttpLimits } from "../Limits.js"
import * as ResolvedLimits from "../runtime/ResolvedLimits.js"
import type * as Guard from "./Guard.js"
import type * as Health from "./Health.js"

/** The options of `WebHandler`. */
export interface Given extends Guard.Given, Health.Given {
  readonly path?: string | undefined
  readonly documents?: Readonly<Record<string, JsonObject>> | undefined
  readonly responses?: "auto" | "json" | "stream" | undefined
  readonly tap?: Tap | undefined
  readonly limits?: HttpLimits | undefined
  readonly keepAlive?: Duration.DurationInput | undefined
  readonly closeTimeout?: Duration.DurationInput | undefined
  readonly drainTimeout?: Duration.DurationInput | undefined
  readonly legacy?: {
    readonly sessions?: boolean | undefined
    readonly sessionIdPrefix?: string | undefined
    readonly ssePath?: string | undefined
    readonly retry?: Duration.DurationInput | undefined
  } | undefined
}

export interface ResolvedOptions {
  readonly path: string | undefined
  readonly ssePath: string | undefined
  readonly responses: "auto" | "json" | "stream"
  readonly sessions: boolean
  readonly handshakeTimeout: number
  readonly sessionIdPrefix: string
  readonly limits: ResolvedLimits.ResolvedHttpLimits
  readonly keepAlive: number
  readonly retry: number
  readonly closeTimeout: number
  /** `undefined` when the application gives no value. Then the default depends on whether several nodes serve the endpoint. */
  readonly drainTimeout: number | undefined
  /** The texts of the documents beside the endpoint, by their paths. */
  readonly documents: ReadonlyMap<string, string> | undefined
}

/**
 * How long a handler goes on after its client has disconnected, in milliseconds. For clients of revision 2025-11-25 or earlier without a
 * session.
 */
export const ABANDON_AFTER = 30_000

export const make = (options: Given): ResolvedOptions => {
  const legacy = options.legacy ?? {}
  return {
    path: options.path,
    ssePath: legacy.ssePath,
    responses: options.responses ?? "auto",
    sessions: legacy.sessions !== false,
    handshakeTimeout: 30_000,
    sessionIdPrefix: legacy.sessionIdPrefix ?? "",
    limits: ResolvedLimits.ofHttp(options.limits),
    keepAlive: Deadlines.millis(options.keepAlive ?? "15 seconds"),
    retry: Deadlines.millis(legacy.retry ?? "1 second"),
    closeTimeout: Deadlines.millis(options.closeTimeout ?? TimeLimit.CLOSE),
    drainTimeout: options.drainTimeout === undefined ? undefined : Deadlines.millis(options.drainTimeout),
    documents: options.documents === undefined
      ? undefined
      : new Map(Object.entries(options.documents).map(([path, document]) => [path, JSON.stringify(document)]))
  }
}

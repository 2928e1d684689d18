/**
 * The options of an HTTP endpoint with every default filled in, durations in milliseconds. `HttpOptions` is what an
 * application writes; this is what the modules of the endpoint read.
 */
import * as Deadlines from "@effect-mcp/jsonrpc/unstable/kit/Deadlines"
import type { HttpOptions } from "../HttpOptions.js"
import * as Limits from "../Limits.js"

export interface ResolvedOptions {
  readonly path: string | undefined
  readonly ssePath: string | undefined
  readonly responses: "auto" | "json" | "stream"
  readonly sessions: boolean
  readonly handshakeTimeout: number
  readonly sessionIdPrefix: string
  readonly limits: Limits.ResolvedHttpLimits
  readonly keepAlive: number
  readonly retry: number
  readonly closeTimeout: number
  /** `undefined` for the default, which depends on the services of the endpoint. */
  readonly drainTimeout: number | undefined
  /** The texts of the documents beside the endpoint, by their paths. */
  readonly documents: ReadonlyMap<string, string> | undefined
}

/** How long a handler runs on after its client, of a revision up to 2025-11-25, has disconnected; in milliseconds. */
export const ABANDON_AFTER = 30_000

export const make = (options: HttpOptions): ResolvedOptions => {
  const legacy = options.legacy ?? {}
  return {
    path: options.path,
    ssePath: legacy.ssePath,
    responses: options.responses ?? "auto",
    sessions: legacy.sessions !== false,
    handshakeTimeout: 30_000,
    sessionIdPrefix: legacy.sessionIdPrefix ?? "",
    limits: Limits.ofHttp(options.limits),
    keepAlive: Deadlines.millis(options.keepAlive ?? "15 seconds"),
    retry: Deadlines.millis(legacy.retry ?? "1 second"),
    closeTimeout: Deadlines.millis(options.closeTimeout ?? Deadlines.TIMEOUT),
    drainTimeout: options.drainTimeout === undefined ? undefined : Deadlines.millis(options.drainTimeout),
    documents: options.documents === undefined
      ? undefined
      : new Map(Object.entries(options.documents).map(([path, document]) => [path, JSON.stringify(document)]))
  }
}

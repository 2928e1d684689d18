/**
 * The options of an HTTP endpoint with every default filled in, durations in milliseconds. `HttpOptions` is what an
 * application writes; this is what the modules of the endpoint read.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Deadlines from "@effect-mcp/jsonrpc/unstable/kit/Deadlines"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/kit/Outbox"
import type { HttpOptions } from "../HttpOptions.js"

export interface ResolvedOptions {
  readonly path: string | undefined
  readonly ssePath: string | undefined
  readonly responses: "auto" | "json" | "stream"
  readonly sessions: boolean
  readonly maxSessions: number
  readonly maxPerPrincipal: number
  readonly idleTimeout: number
  readonly handshakeTimeout: number
  readonly idPrefix: string
  readonly maxBodyBytes: number
  readonly maxDepth: number
  readonly maxNodes: number
  readonly maxResponseNodes: number
  readonly capacity: number
  readonly maxQueued: number
  readonly maxUnsent: number
  readonly keepAlive: number
  readonly stallTimeout: number
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
  const sessions = typeof legacy.sessions === "object" ? legacy.sessions : {}
  const maxSessions = sessions.max ?? 10_000
  return {
    path: options.path,
    ssePath: legacy.ssePath,
    responses: options.responses ?? "auto",
    sessions: legacy.sessions !== false,
    maxSessions,
    maxPerPrincipal: sessions.maxPerPrincipal ?? Math.ceil(maxSessions / 10),
    idleTimeout: Deadlines.millis(sessions.idleTimeout ?? "30 minutes"),
    handshakeTimeout: 30_000,
    idPrefix: sessions.idPrefix ?? "",
    maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
    maxDepth: options.maxDepth ?? Json.MAX_DEPTH,
    maxNodes: options.maxNodes ?? Json.MAX_NODES,
    maxResponseNodes: legacy.maxResponseNodes ?? Json.MAX_RESPONSE_NODES,
    capacity: Math.max(1, options.capacity ?? Outbox.CAPACITY),
    maxQueued: options.maxQueued ?? 16 * 1024 * 1024,
    maxUnsent: options.maxUnsent ?? 256 * 1024 * 1024,
    keepAlive: Deadlines.millis(options.keepAlive ?? "15 seconds"),
    stallTimeout: Deadlines.millis(options.stallTimeout ?? "30 seconds"),
    retry: Deadlines.millis(legacy.retry ?? "1 second"),
    closeTimeout: Deadlines.millis(options.closeTimeout ?? Deadlines.TIMEOUT),
    drainTimeout: options.drainTimeout === undefined ? undefined : Deadlines.millis(options.drainTimeout),
    documents: options.documents === undefined
      ? undefined
      : new Map(Object.entries(options.documents).map(([path, document]) => [path, JSON.stringify(document)]))
  }
}

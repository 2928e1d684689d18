/**
 * Adds the defaults to the limits of a server (for `dispatch/Build`) and to the limits of an endpoint (for `http/ResolvedOptions`).
 * `Limits` describes the limits.
 */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { MAX_IN_FLIGHT, MAX_WAITING, MAX_WAITING_TEXT } from "../../jsonrpc/Conversation.js"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as Deadlines from "../../kit/Deadlines.js"
import * as Outbox from "../../kit/Outbox.js"
import type { HttpLimits, ServerLimits } from "../Limits.js"
import * as Paging from "./Paging.js"

/** The limits, each with a value. */
export type Resolved<Limits> = { readonly [Name in keyof Limits]-?: Exclude<Limits[Name], undefined> }

const resolve = <Limits extends object>(limits: Limits, defaults: Resolved<Limits>): Resolved<Limits> => ({
  ...defaults,
  ...Record.filter(limits as Record.ReadonlyRecord<string, unknown>, Predicate.isNotUndefined)
})

export const ofServer = (limits: ServerLimits = {}): Resolved<ServerLimits> =>
  resolve(limits, {
    maxInFlight: MAX_IN_FLIGHT,
    maxWaiting: MAX_WAITING,
    maxWaitingText: MAX_WAITING_TEXT,
    maxExchanges: 4096,
    requestTimeout: "60 seconds",
    elicitationTimeout: "10 minutes",
    maxRounds: 10,
    pageSize: Paging.SIZE,
    maxSubscribedResources: 1024,
    maxListens: 10_000,
    maxListensPerClient: 64,
    userSessionIdleTimeout: "30 minutes"
  })

/** The limits of an endpoint. All durations are in milliseconds. */
export interface ResolvedHttpLimits extends Resolved<HttpLimits> {
  readonly bodyTimeout: number
  readonly stallTimeout: number
  readonly sessionIdleTimeout: number
}

export const ofHttp = (limits: HttpLimits = {}): ResolvedHttpLimits => {
  const resolved = resolve(limits, {
    maxBodyBytes: 4 * 1024 * 1024,
    bodyTimeout: "1 minute",
    maxIncompleteBytes: 128 * 1024 * 1024,
    maxDepth: JsonText.MAX_DEPTH,
    maxNodes: JsonText.MAX_NODES,
    maxResponseNodes: JsonText.MAX_RESPONSE_NODES,
    capacity: Outbox.CAPACITY,
    maxQueued: 16 * 1024 * 1024,
    maxUnsent: 256 * 1024 * 1024,
    stallTimeout: "30 seconds",
    maxSessions: 10_000,
    maxSessionsPerPrincipal: Math.ceil((limits.maxSessions ?? 10_000) / 10),
    sessionIdleTimeout: "30 minutes"
  })
  return {
    ...resolved,
    capacity: Math.max(1, resolved.capacity),
    bodyTimeout: Deadlines.millis(resolved.bodyTimeout),
    stallTimeout: Deadlines.millis(resolved.stallTimeout),
    sessionIdleTimeout: Deadlines.millis(resolved.sessionIdleTimeout)
  }
}

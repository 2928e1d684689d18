/**
 * Reads and writes W3C Trace Context. Messages have the values `traceparent` and `tracestate` in `_meta` or in the headers of an HTTP
 * request. `ClientTelemetry` and `ServerTelemetry` call this module. `protocol/Baggage` handles the third value, `baggage`. A value that is
 * too long or not valid counts as absent.
 *
 * @see https://www.w3.org/TR/trace-context/
 */
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import type { JsonObject } from "../Json.js"
import { keys } from "../Meta.js"

/** How many characters of a `traceparent` are accepted. Versions after version 00 may have longer values. */
const MAX_TRACEPARENT = 128

/** How many characters a `tracestate` may have. `MAX_MEMBERS` is how many members it may have. */
export const MAX_TRACESTATE = 512
const MAX_MEMBERS = 32

/** How many parent spans the search for the span of another process visits at most. */
const MAX_ANCESTORS = 1024

/** The span of another process, with the `tracestate` that came with it. */
interface Remote extends Tracer.ExternalSpan {
  readonly tracestate?: string | undefined
}

/** Returns the span of another process that `_meta` or the headers of a request name; `None` when they name no valid span. */
export const parent = (carrier: unknown): Option.Option<Tracer.ExternalSpan> => {
  const text = Predicate.hasProperty(carrier, keys.traceparent) ? carrier[keys.traceparent] : undefined
  const found = typeof text === "string" && text.length <= MAX_TRACEPARENT ? traceparent.exec(text) : null
  if (found === null) return Option.none()
  const [, version, traceId, spanId, flags, rest] = found
  if (version === "ff" || (version === "00" && rest !== undefined)) return Option.none()
  if (zeros.test(traceId!) || zeros.test(spanId!)) return Option.none()
  const state = Predicate.hasProperty(carrier, keys.tracestate) ? carrier[keys.tracestate] : undefined
  const span: Remote = {
    ...Tracer.externalSpan({
      traceId: traceId!,
      spanId: spanId!,
      sampled: (Number.parseInt(flags!, 16) & 1) === 1,
      context: Context.empty()
    }),
    tracestate: membersOf(state) === undefined ? undefined : state as string
  }
  return Option.some(span)
}

const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const zeros = /^0+$/

/**
 * Returns the members of a `tracestate`, by their keys; `undefined` when the `tracestate` is not valid. A `tracestate` that has a key twice
 * is not valid.
 */
const membersOf = (text: unknown): ReadonlyMap<string, string> | undefined => {
  if (typeof text !== "string" || text === "" || text.length > MAX_TRACESTATE) return undefined
  const members = new Map<string, string>()
  for (const part of text.split(",")) {
    const found = member.exec(part.trim())
    if (found === null || members.has(found[1]!)) return undefined
    members.set(found[1]!, found[2]!)
  }
  return members.size > MAX_MEMBERS ? undefined : members
}

const member = /^([a-z0-9][a-z0-9_\-*/@]{0,255})=([\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e])$/

/**
 * Returns the members of the `tracestate` of a trace whose keys `isSent` accepts; `undefined` when no member is left. The `tracestate` came
 * with the span of another process. `span` descends from that span.
 */
export const stateOf = (span: Tracer.AnySpan, isSent: (key: string) => boolean): string | undefined => {
  const members = membersOf(stateAbove(span))
  if (members === undefined) return undefined
  const sent = [...members].filter(([key]) => isSent(key)).map(([key, value]) => `${key}=${value}`)
  return sent.length === 0 ? undefined : sent.join(",")
}

const stateAbove = (span: Tracer.AnySpan): string | undefined => {
  let above = span
  for (let i = 0; i < MAX_ANCESTORS; i++) {
    if (above._tag === "ExternalSpan") return (above as Remote).tracestate
    if (Option.isNone(above.parent)) return undefined
    above = above.parent.value
  }
  return undefined
}

/** Returns the members of `_meta` that name a span to the receiver. */
export const inject = (span: Tracer.AnySpan): JsonObject => ({
  [keys.traceparent]: `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`
})

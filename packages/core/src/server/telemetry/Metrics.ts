/**
 * The metrics of a running server: gauges of open sessions, requests and streams, and counters of rare events. A gauge computes its number
 * only when the application reads the gauge, so ordinary messages cost no time for gauges.
 *
 * `ServerTelemetry` exports these metrics, and contains the metrics of single messages.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Telemetry from "../../protocol/telemetry/Telemetry.js"
import * as Gauge from "./Gauge.js"

const PREFIX = "mcp.runtime."

export const sessions: Gauge.Gauge = Gauge.counted(
  `${PREFIX}sessions.active`,
  "How many sessions of HTTP clients are open"
)

export const requests: Gauge.Gauge = Gauge.counted(
  `${PREFIX}requests.inflight`,
  "How many requests have no response yet"
)

export const streams: Gauge.Gauge = Gauge.counted(`${PREFIX}streams.open`, "How many event streams clients read")

export const subscriptions: Gauge.Gauge = Gauge.counted(
  `${PREFIX}subscriptions.active`,
  "How many resources clients up to revision 2025-11-25 have subscribed to, and how many later subscriptions are open"
)

type Counter = Metric.Metric.Counter<number>

const counter = (name: string, description: string): Counter =>
  Metric.counter(PREFIX + name, { description, incremental: true })

export const forwarded: Counter = counter("forwarded", "Requests that this node passed on to another node")

export const takeovers: Counter = counter("takeovers", "Sessions that this node took over from another node")

export const leaseLost: Counter = counter(
  "lease.lost",
  "How often this node lost its lease while it was running"
)

export const replayed: Counter = counter("resume.replayed", "Stored events that clients got when they resumed a stream")

export const slowReaders: Counter = counter(
  "slow_consumer.cut",
  "Connections that were cut because the client read too slowly"
)

export const rejected: Counter = counter("frames.rejected", "HTTP requests and messages that were refused, by reason")

export const shutdown: Metric.Metric.Histogram<number> = Telemetry.histogram(
  `${PREFIX}drain.seconds`,
  "How long an HTTP endpoint took to end, from the beginning of its shutdown, in seconds"
)

/**
 * Wraps an endpoint, to record how long the endpoint takes to end: from the beginning of `drain` to the end of `close`. `now` gives the
 * time in milliseconds.
 */
export const timed = <A extends { readonly drain: Effect.Effect<void>; readonly close: Effect.Effect<void> }>(
  endpoint: A,
  now: () => number
): Effect.Effect<A> =>
  Effect.gen(function*() {
    const begin = yield* Effect.cached(Effect.sync(now))
    const record = (began: number) => EffectInternals.update(shutdown, (now() - began) / 1000)
    const end = yield* Effect.cached(Effect.map(begin, record))
    return {
      ...endpoint,
      drain: Effect.zipRight(begin, endpoint.drain),
      close: Effect.zipRight(Effect.zipRight(begin, endpoint.close), end)
    }
  })

/** Adds to a counter. */
export const add = (counter: Counter, times = 1): void => {
  if (times > 0) EffectInternals.update(counter, times)
}

const byReason = new Map<string, Counter>()

/** Counts a refused message. `reason` must be one of a few fixed texts, never a text from a client. */
export const reject = (reason: string, times = 1): void => {
  let tagged = byReason.get(reason)
  if (tagged === undefined) byReason.set(reason, tagged = Metric.tagged(rejected, "reason", reason))
  add(tagged, times)
}

/** Counts a refused HTTP request, by its status. */
export const rejectHttp = (status: number): void => reject(REASONS[status] ?? Telemetry.OTHER)

const REASONS: Readonly<Record<number, string>> = {
  400: "invalid",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  405: "method_not_allowed",
  406: "not_acceptable",
  409: "conflict",
  413: "too_large",
  415: "unsupported_media_type",
  429: "too_many",
  500: "internal",
  503: "unavailable"
}

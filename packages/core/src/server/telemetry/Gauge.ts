/**
 * Gauges that compute their number when the application reads them, for `Metrics`. (An ordinary gauge of Effect contains the number that
 * code has set last.) This is the only module that depends on how Effect registers metrics. Builds for Effect 4 use `Gauge.v4.ts` in place
 * of this file.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricKey from "effect/MetricKey"
import * as MetricState from "effect/MetricState"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"

/** A number that is computed when the application reads it: the sum over all servers of the process. */
export interface Gauge {
  readonly metric: Metric.Metric.Gauge<number>
  /** Adds the result of `read` to the number, until the scope closes. */
  readonly observe: (read: () => number) => Effect.Effect<void, never, Scope.Scope>
}

/** Makes a gauge. `name` is the name of the metric. The process has one gauge of each name, even when this library is loaded twice. */
export const counted = (name: string, description: string): Gauge => {
  const key = MetricKey.gauge(name, { description })
  const sources = EffectInternals.shared(
    `@effect-mcp/core/server/telemetry/Gauge/${name}`,
    () => new Set<() => number>()
  )
  return {
    metric: Metric.fromMetricKey(key),
    observe: (read) =>
      Effect.asVoid(Effect.acquireRelease(
        Effect.sync(() => {
          // Replaces the gauge of Effect, which contains the number that was set last. This gauge computes the number when it is read.
          const get = () => MetricState.gauge([...sources].reduce((sum, source) => sum + source(), 0))
          Object.assign(Metric.globalMetricRegistry.get(key), { get })
          sources.add(read)
        }),
        () => Effect.sync(() => sources.delete(read))
      ))
  }
}

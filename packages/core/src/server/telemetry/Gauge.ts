/**
 * Gauges whose numbers are counted when they are read, for `Metrics`. A gauge of Effect has the number that was set last. Only this module
 * knows how Effect registers its metrics. Under Effect 4, `Gauge.v4.ts` is used in place of this file.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricKey from "effect/MetricKey"
import * as MetricState from "effect/MetricState"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"

/** A number that is counted when it is read, for all servers of the process together. */
export interface Gauge {
  readonly metric: Metric.Metric.Gauge<number>
  /** Adds the number that the function counts, until the scope closes. */
  readonly observe: (read: () => number) => Effect.Effect<void, never, Scope.Scope>
}

/** `name` is the name of the metric. The process has one gauge of each name, even when this library is loaded twice. */
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
          // A gauge of Effect has the number that was set last. This gauge counts when it is read.
          const get = () => MetricState.gauge([...sources].reduce((sum, source) => sum + source(), 0))
          Object.assign(Metric.globalMetricRegistry.get(key), { get })
          sources.add(read)
        }),
        () => Effect.sync(() => sources.delete(read))
      ))
  }
}

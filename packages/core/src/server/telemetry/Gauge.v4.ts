/**
 * Gauges that compute their number when the application reads them, for Effect 4. This is the only module that depends on how Effect
 * registers metrics.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"

/** A number that is computed when the application reads it: the sum over all servers of the process. */
export interface Gauge {
  readonly metric: Metric.Gauge<number>
  /** Adds the result of `read` to the number, until the scope closes. */
  readonly observe: (read: () => number) => Effect.Effect<void, never, Scope.Scope>
}

/** Makes a gauge. `name` is the name of the metric. The process has one gauge of each name, even when this library is loaded twice. */
export const counted = (name: string, description: string): Gauge => {
  const metric = Metric.gauge(name, { description })
  const sources = EffectInternals.shared(
    `@effect-mcp/core/server/telemetry/Gauge/${name}`,
    () => new Set<() => number>()
  )
  const get = () => ({ value: [...sources].reduce((sum, source) => sum + source(), 0) })
  return {
    metric,
    observe: (read) =>
      Effect.asVoid(Effect.acquireRelease(
        Effect.sync(() => {
          Metric.registerUnsafe(metric, Context.empty(), { get, update: () => {}, modify: () => {} })
          sources.add(read)
        }),
        () => Effect.sync(() => sources.delete(read))
      ))
  }
}

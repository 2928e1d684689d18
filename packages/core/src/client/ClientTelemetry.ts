/**
 * The metrics of a client. A client records them, and a span for each call, when its `telemetry` option is on; then it
 * also sends each span to the server, in `_meta`. Spans and metrics go to Effect's own `Tracer` and `Metric`, under the
 * names of the OpenTelemetry conventions for MCP.
 *
 * @since 0.1.0
 */
import type * as Metric from "effect/Metric"
import * as Telemetry from "../protocol/telemetry/Telemetry.js"

/**
 * How long calls take, in seconds, by method and kind of error.
 *
 * @category constants
 */
export const operationDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.clientOperation,
  "How long a call takes, in seconds"
)

/**
 * How long sessions last, in seconds.
 *
 * @category constants
 */
export const sessionDuration: Metric.Metric.Histogram<number> = Telemetry.histogram(
  Telemetry.metrics.clientSession,
  "How long the session with a server lasts, in seconds"
)

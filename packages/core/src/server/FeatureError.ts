/**
 * Says why a feature cannot be registered with a server: another feature has its name, or the server has shut down. `Registry.add` fails
 * with this error. When the feature is given to `McpServer.layer`, the layer dies with this error.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/** @category errors */
export class FeatureError extends Data.TaggedError("FeatureError")<{
  /** `Taken`: the server has an entry of this kind and name already. `Closed`: the server has shut down. */
  readonly reason: "Taken" | "Closed"
  readonly message: string
}> {}

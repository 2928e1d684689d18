/**
 * Says why a feature cannot be registered with a server: another feature already has the name, or the server has shut down. `Registry.add`
 * fails with this error. The layer of `McpServer.layer` dies with this error.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/** @category errors */
export class FeatureError extends Data.TaggedError("FeatureError")<{
  /** `Taken`: the server already has an entry of this kind with this name. `Closed`: the server has shut down. */
  readonly reason: "Taken" | "Closed"
  readonly message: string
}> {}

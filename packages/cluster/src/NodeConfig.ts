/**
 * How a node of the server is started, and what it prints: JSON, one report a line. The program is `node.ts`; it reads the one and
 * prints the other, and `processes/ServerNode` does the opposite.
 */
import * as Schema from "effect/Schema"

/** The only argument of the program, as JSON. */
export const NodeConfig = Schema.parseJson(Schema.Struct({
  /** The node's name in reports and answers. */
  name: Schema.String,
  /** On the loopback interface. */
  port: Schema.Int,
  /** The URL of the Redis that the nodes share. */
  redis: Schema.String
}))

export type NodeConfig = typeof NodeConfig.Type

export const Report = Schema.parseJson(Schema.Union(
  /** It serves requests. */
  Schema.Struct({ type: Schema.Literal("listening") }),
  /** A handler has begun. `nonce` is that of the call. At 2026-07-28 the handler of a call with a question runs twice. */
  Schema.Struct({ type: Schema.Literal("began"), tool: Schema.String, nonce: Schema.String }),
  /** The metrics of `Telemetry.runtime`, every second and once more at the end. */
  Schema.Struct({
    type: Schema.Literal("metrics"),
    values: Schema.Record({ key: Schema.String, value: Schema.Number })
  })
))

export type Report = typeof Report.Type

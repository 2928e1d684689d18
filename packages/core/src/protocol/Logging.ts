/**
 * The types of logging: the messages that a server sends to its client about its work, and the least severe level that the client wants.
 * `server/ClientLogger` sends such messages, and a feature of `client/ClientFeatures` reads them.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { JsonValue } from "./Json.js"
import * as Meta from "./Meta.js"
import * as EffectParser from "./schema/EffectParser.js"
import { harmless } from "./schema/Mendable.js"

const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const

/**
 * The levels of RFC 5424, from the least severe to the most severe.
 *
 * @category schemas
 */
export const LoggingLevel: Schema.Literal<[...typeof levels]> = Schema.Literal(...levels).annotations(
  EffectParser.words(`must be one of ${levels.join(", ")}`)
)

/** @category models */
export type LoggingLevel = typeof LoggingLevel.Type

/**
 * Whether a client that has set the level `threshold` gets a message of level `level`.
 *
 * @category guards
 */
export const isAtLeast = (level: LoggingLevel, threshold: LoggingLevel): boolean =>
  LoggingLevel.literals.indexOf(level) >= LoggingLevel.literals.indexOf(threshold)

/** @category models */
export interface LoggingMessage extends Schema.Schema.Type<typeof LoggingMessage> {}

/**
 * The parameters of `notifications/message`.
 *
 * @category schemas
 */
export const LoggingMessage = Schema.Struct({
  level: LoggingLevel,
  logger: harmless(Schema.optional(Schema.String)),
  data: JsonValue,
  ...Meta.any
})

/** @category models */
export interface SetLevelParams extends Schema.Schema.Type<typeof SetLevelParams> {}

/** @category schemas */
export const SetLevelParams = Schema.Struct({ level: LoggingLevel, ...Meta.request })

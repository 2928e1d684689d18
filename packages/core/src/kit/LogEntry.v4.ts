/**
 * The parts of a log entry of Effect that `ClientLogger` reads. This module replaces `LogEntry` for version 4.
 */
import type * as Context from "effect/Context"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"

/** A message that was logged, with its level and the services of the fiber that logged it. */
export interface LogEntry {
  readonly message: unknown
  readonly level: Exclude<LogLevel.LogLevel, "Warn"> | "Warning"
  readonly annotations: ReadonlyArray<readonly [string, unknown]>
  /** The services of the fiber that has logged the message. */
  readonly context: Context.Context<never>
}

/** Makes a logger that calls `f` for each entry. */
export const logger = (f: (entry: LogEntry) => void): Logger.Logger<unknown, void> =>
  Logger.make(({ fiber, logLevel, message }) =>
    f({
      message,
      level: logLevel === "Warn" ? "Warning" : logLevel,
      annotations: Object.entries(fiber.getRef(References.CurrentLogAnnotations)),
      context: fiber.context as Context.Context<never>
    })
  )

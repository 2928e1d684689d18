/**
 * What Effect tells a logger, as far as `ClientLogger` reads it. Versions 3 and 4 of Effect use different words: for version 4
 * this module is written anew.
 */
import type * as Context from "effect/Context"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as HashMap from "effect/HashMap"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"

/** What was logged, and by which fiber. */
export interface LogEntry {
  readonly message: unknown
  readonly level: LogLevel.LogLevel["_tag"]
  readonly annotations: ReadonlyArray<readonly [string, unknown]>
  /** The services of the fiber that logs. */
  readonly context: Context.Context<never>
}

/** A logger that calls `f` with each entry. */
export const logger = (f: (entry: LogEntry) => void): Logger.Logger<unknown, void> =>
  Logger.make(({ annotations, context, logLevel, message }) =>
    f({
      message,
      level: logLevel._tag,
      annotations: HashMap.toEntries(annotations),
      context: FiberRefs.getOrDefault(context, FiberRef.currentContext)
    })
  )

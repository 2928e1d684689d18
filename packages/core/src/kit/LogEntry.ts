/**
 * The parts of a log entry of Effect that `ClientLogger` reads. Versions 3 and 4 of Effect name these parts differently. `LogEntry.v4.ts`
 * replaces this module for version 4.
 */
import type * as Context from "effect/Context"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as HashMap from "effect/HashMap"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"

/** A message that was logged, with its level and the services of the fiber that logged it. */
export interface LogEntry {
  readonly message: unknown
  readonly level: LogLevel.LogLevel["_tag"]
  readonly annotations: ReadonlyArray<readonly [string, unknown]>
  /** The services of the fiber that has logged the message. */
  readonly context: Context.Context<never>
}

/** Makes a logger that calls `f` for each entry. */
export const logger = (f: (entry: LogEntry) => void): Logger.Logger<unknown, void> =>
  Logger.make(({ annotations, context, logLevel, message }) =>
    f({
      message,
      level: logLevel._tag,
      annotations: HashMap.toEntries(annotations),
      context: FiberRefs.getOrDefault(context, FiberRef.currentContext)
    })
  )

/**
 * A logger that sends the log messages of handlers to the client. A handler logs with Effect, and the logger sends each log message to the
 * client of the handler's request. The application's other loggers also get these messages. The logger ignores log messages outside of a
 * request.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as JsonText from "../jsonrpc/runtime/JsonText.js"
import * as EffectInternals from "../kit/EffectInternals.js"
import * as LogEntry from "../kit/LogEntry.js"
import type { LoggingLevel } from "../protocol/Logging.js"
import { RequestContext, type RequestContextService } from "./RequestContext.js"

/** How many log messages of one request may wait for the client to read them. The logger drops further messages. */
const MAX_WAITING = 64

/**
 * Makes a logger. The logger sends a message and its annotations, if the client wants messages of this level. The logger does not send
 * causes. For an error, the logger sends only the name of the error. The other loggers show everything else to the operator of the server.
 * `name` is the `logger` member of the messages.
 *
 * Effect drops messages below its own minimum level before a logger gets them. To allow clients to ask for `debug`, lower this minimum with
 * `Logger.withMinimumLogLevel`.
 *
 * @deprecated since 2026-07-28 (SEP-2577). Revisions from 2027-07-28 on may no longer have this.
 * @category constructors
 */
export const make = (options: { readonly name?: string | undefined } = {}): Logger.Logger<unknown, void> =>
  LogEntry.logger(({ annotations, context, level: logged, message }) => {
    const level = levels[logged]
    const request = Context.getOption(context, RequestContext)
    if (level === undefined || Option.isNone(request)) return
    const data = dataOf(message)
    if (data === undefined || data === TERMINATED) return
    send(
      request.value,
      level,
      annotations.length === 0
        ? data
        : { message: data, ...Object.fromEntries(annotations.map(([key, value]) => [key, plain(value)])) },
      options.name
    )
  })

/**
 * Adds the logger to the loggers of a server. Provide this layer to the layer of the server.
 *
 * @example
 * ```ts
 * import * as ClientLogger from "@effect-mcp/core/ClientLogger"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import { Layer } from "effect"
 *
 * export const Server = McpServer.layer({ name: "chatty", version: "1.0.0" }, Layer.empty).pipe(
 *   Layer.provide(ClientLogger.layer)
 * )
 * ```
 * @deprecated since 2026-07-28 (SEP-2577). Revisions from 2027-07-28 on may no longer have this.
 * @category layers
 */
export const layer: Layer.Layer<never> = Logger.add(make())

/**
 * Runs an effect whose log messages are not sent to the client. Only the application's other loggers get these messages.
 *
 * @category combinators
 */
export const forOperator: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.mapInputContext(
  (context: Context.Context<any>) => Context.omit(RequestContext)(context)
)

/** The text that Effect's runtime logs at level Debug for each fiber that fails, also for the fibers of this library. */
const TERMINATED = "Fiber terminated with an unhandled error"

const levels: Partial<Record<LogEntry.LogEntry["level"], LoggingLevel>> = {
  Trace: "debug",
  Debug: "debug",
  Info: "info",
  Warning: "warning",
  Error: "error",
  Fatal: "critical"
}

const waiting = new WeakMap<RequestContextService, number>()

/** Sends on a separate fiber, because a logger cannot wait. */
const send = (
  request: RequestContextService,
  level: LoggingLevel,
  data: unknown,
  name: string | undefined
): void => {
  const before = waiting.get(request) ?? 0
  if (before >= MAX_WAITING) return
  const fiber = Effect.runFork(request.log(level, data, name))
  if (EffectInternals.exitOf(fiber) !== undefined) return
  waiting.set(request, before + 1)
  fiber.addObserver(() => waiting.set(request, waiting.get(request)! - 1))
}

// A log call has one or several arguments. A call with only a cause has no data to send.
const dataOf = (message: unknown): unknown => {
  const parts = Array.isArray(message) ? message.map(plain) : [plain(message)]
  return parts.length > 1 ? parts : parts[0]
}

const plain = (value: unknown): unknown => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      return Number.isFinite(value) ? value : String(value)
    case "object": {
      if (value instanceof Error) return value.name
      const json = Inspectable.toJSON(value)
      return JsonText.stringify(json as {}) === undefined ? String(value) : json
    }
    default:
      return String(value)
  }
}

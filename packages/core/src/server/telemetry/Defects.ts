/**
 * Makes the function `report` for the diagnostics of conversations. The function logs each diagnostic, then passes defects of handlers to
 * the application (option `onDefect`), and counts refused messages. `dispatch/Build`, `dispatch/Conversations` and `dispatch/Dispatch` use
 * `report`. `HandlerOutcome` finds the defects, and `jsonrpc/Diagnostic` writes the log.
 */
import * as Effect from "effect/Effect"
import { type Diagnostic, logger } from "../../jsonrpc/Diagnostic.js"
import type { Options } from "../Dispatcher.js"
import * as Metrics from "./Metrics.js"

/** Makes the function that logs a diagnostic. For a handler that died, the function then runs `onDefect`. */
export const report = ({ onDefect }: Pick<Options, "onDefect">): (diagnostic: Diagnostic) => Effect.Effect<void> => {
  const log = logger()
  return (diagnostic) => {
    const reason = REJECTED[diagnostic._tag]
    if (reason !== undefined) Metrics.reject(reason, diagnostic._tag === "Dropped" ? diagnostic.count : 1)
    if (onDefect === undefined || diagnostic._tag !== "HandlerDied") return log(diagnostic)
    const { cause, method, subject } = diagnostic
    return Effect.zipRight(log(diagnostic), Effect.suspend(() => onDefect({ cause, method, subject })))
  }
}

/** The diagnostics about refused messages, each with the tag `reason` of the metric. */
const REJECTED: Readonly<Partial<Record<Diagnostic["_tag"], string>>> = {
  Malformed: "malformed",
  UnknownResponse: "unknown_response",
  UnattributedError: "unknown_response",
  DuplicateRequest: "duplicate_id",
  Overloaded: "overloaded",
  AmbiguousCancel: "ambiguous_cancel",
  Dropped: "unreported"
}

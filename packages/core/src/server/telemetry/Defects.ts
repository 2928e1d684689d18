/**
 * Passes the defects of handlers to the application, after the log, and counts messages that were refused: what a conversation reports,
 * for its option `report`. `dispatch/Build`, `dispatch/Conversations` and `dispatch/Dispatch` give `report` to what they make.
 * `HandlerOutcome` finds the defects; `jsonrpc/Diagnostic` writes the log.
 */
import * as Effect from "effect/Effect"
import { type Diagnostic, logger } from "../../jsonrpc/Diagnostic.js"
import type { Options } from "../Dispatcher.js"
import * as Metrics from "./Metrics.js"

/** Logs a diagnostic, and runs `onDefect` for a handler that died. */
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

/** The diagnostics about messages that were refused, and their reasons. */
const REJECTED: Readonly<Partial<Record<Diagnostic["_tag"], string>>> = {
  Malformed: "malformed",
  UnknownResponse: "unknown_response",
  UnattributedError: "unknown_response",
  DuplicateRequest: "duplicate_id",
  Overloaded: "overloaded",
  AmbiguousCancel: "ambiguous_cancel",
  Dropped: "unreported"
}

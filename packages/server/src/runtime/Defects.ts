/**
 * Passes the defects of handlers to the application, after the log: what a conversation reports, for its option `report`.
 * `Reply` finds the defects; `jsonrpc/Diagnostic` writes the log.
 */
import type { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import { log } from "@effect-mcp/jsonrpc/Diagnostic"
import * as Effect from "effect/Effect"
import type { Options } from "../Dispatcher.js"

/** Logs a diagnostic, and runs `onDefect` for a handler that died. */
export const report = ({ onDefect }: Pick<Options, "onDefect">) => (diagnostic: Diagnostic): Effect.Effect<void> => {
  if (onDefect === undefined || diagnostic._tag !== "HandlerDied") return log(diagnostic)
  const { cause, method, subject } = diagnostic
  return Effect.zipRight(log(diagnostic), Effect.suspend(() => onDefect({ cause, method, subject })))
}

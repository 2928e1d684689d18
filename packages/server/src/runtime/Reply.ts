/**
 * How a handler ended, as an answer: the one boundary between what our code does and what the wire says. Success is a
 * result, an `McpError` the error it stands for in the codes of the era; anything else is a bug, of which the peer hears
 * "Internal error" and the operator everything.
 *
 * That there is an answer at all is decided below, in `@effect-mcp/jsonrpc/InFlight`; that a tool failed is a result, made
 * in `features/Tools`.
 *
 * @since 0.1.0
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import { isLocalError } from "@effect-mcp/jsonrpc/LocalError"
import type { Params } from "@effect-mcp/jsonrpc/Message"
import type { CallError } from "@effect-mcp/jsonrpc/Outbound"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type { Era } from "@effect-mcp/protocol/Era"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"

/**
 * The answer to a handler's end. `say` puts a result into the words of the peer's revision.
 *
 * @since 0.1.0
 * @category conversions
 */
export const fromExit = (
  exit: Exit.Exit<unknown, unknown>,
  era: Era,
  say: (result: unknown) => Outcome.Outcome
): Outcome.Outcome => exit._tag === "Success" ? say(exit.value) : fromCause(exit.cause, era)

/**
 * The answer to a failure.
 *
 * @since 0.1.0
 * @category conversions
 */
export const fromCause = (cause: Cause.Cause<unknown>, era: Era): Outcome.Outcome => {
  // A handler that failed and then died in a finalizer has a bug that nobody may miss.
  const failures = Cause.isDie(cause) ? [] : [...Cause.failures(cause)]
  for (const failure of failures) {
    if (McpError.isMcpError(failure)) return { error: McpError.toWire(failure, era) }
    if (failure instanceof JsonRpcError.JsonRpcError) return { error: failure }
    if (isLocalError(failure)) return unanswered(failure, era)
  }
  return Outcome.died(cause)
}

/**
 * Whether a failure is an answer of its own, whatever the handler declares: it is for the calling program.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isProtocolError = (failure: unknown): failure is McpError.McpError | CallError =>
  McpError.isMcpError(failure) || failure instanceof JsonRpcError.JsonRpcError || isLocalError(failure)

/** Somebody was asked, and there was no answer. What is wrong with a pipe is for the operator: it may hold anything. */
const unanswered = (failure: LocalError, era: Era): Outcome.Outcome => {
  const say = (message: string) => McpError.toWire(new McpError.InternalError({ message }), era)
  switch (failure._tag) {
    case "TransportError":
      return failure.reason === "Decode"
        ? { error: say("The other side gave an answer that is not valid") }
        : { error: say("The other side could not be asked"), died: Cause.fail(failure) }
    case "ConnectionClosed":
      return { error: say("The other side has closed the connection"), died: Cause.fail(failure) }
    default:
      return { error: say(failure.message) }
  }
}

/**
 * The answer that says a result; "Internal error" when it is not one of the method's results.
 *
 * @since 0.1.0
 * @category conversions
 */
export const result = (
  value: unknown,
  method: { readonly name: string; readonly isResult: (result: unknown) => boolean }
): Outcome.Outcome =>
  method.isResult(value)
    ? { result: value as Params }
    : Outcome.died(Cause.die(new Error(`The handler of "${method.name}" returned something else than its result`)))

/**
 * A name that a peer made up, as an error may repeat it: no longer than a person would read.
 *
 * @since 0.1.0
 * @category conversions
 */
export const quotable = (name: string): string => name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name

const MAX_NAME = 128

/**
 * Decodes what a server has sent, for the modules of both eras, `MethodCalls` and `NotificationHub`. When a message had to be repaired,
 * decoding also gives the diagnostic that reports the repair to the application. `protocol/Method` says what is repaired.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import { INVALID_PARAMS } from "../../jsonrpc/JsonRpcError.js"
import type { TransportError } from "../../jsonrpc/LocalError.js"
import { Malformed } from "../../jsonrpc/Message.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Issue from "../../protocol/Issue.js"
import type { ParseIssue } from "../../protocol/McpError.js"
import type * as Method from "../../protocol/Method.js"
import { invalidResult } from "../ClientError.js"

/** Reports a diagnostic to the application. */
export type Report = (diagnostic: Diagnostic) => Effect.Effect<void>

export interface Decoded<out A> {
  readonly value: ReturnType<Method.Decode<A>>
  /** The diagnostic about what was repaired; `undefined` when nothing was. */
  readonly mended: Diagnostic | undefined
}

/** Decodes a value of a message of this method. */
export const decode = <A>(method: string, decoder: Method.Decode<A>, value: unknown): Decoded<A> => {
  let losses: Method.Losses | undefined
  const decoded = decoder(value, (found) => {
    losses = found
  })
  return { value: decoded, mended: losses === undefined ? undefined : Diagnostic.Mended({ method, ...losses }) }
}

/**
 * Decodes the parameters of a notification. `problem` says what was repaired, or why there is no value. The problem is reported to the
 * application, because a notification has no response that could tell the server.
 */
export const decodeParams = <A>(
  method: string,
  decoder: Method.Decode<A>,
  params: unknown
): { readonly value: A | undefined; readonly problem: Diagnostic | undefined } => {
  const { mended, value } = decode(method, decoder, params)
  return Either.isRight(value)
    ? { value: value.right, problem: mended }
    : { value: undefined, problem: invalidParams(method, value.left.issue) }
}

/** Makes the diagnostic about a notification whose parameters are not valid. */
export const invalidParams = (method: string, issue: ParseIssue): Diagnostic => {
  const { sentence } = Issue.explain(issue, { quotes: false })
  return Diagnostic.Malformed({ malformed: new Malformed("notification", INVALID_PARAMS, `"${method}": ${sentence}`) })
}

/** Decodes a value, and reports what was repaired. Fails with reason `Decode` when the value is not valid. */
export const decodeOrFail = <A>(
  method: string,
  decoder: Method.Decode<A>,
  value: unknown,
  report: Report
): Effect.Effect<A, TransportError> => {
  const { mended, value: decoded } = decode(method, decoder, value)
  const result = EffectInternals.fromEither(
    Either.mapLeft(decoded, ({ issue }) => invalidResult(`"${method}"`, issue))
  )
  return mended === undefined ? result : Effect.zipRight(report(mended), result)
}

/**
 * Sends calls again, with new ids, whose answers were lost: the server may have run them. It does so only where the
 * application allows it, and only for calls that may run twice: those that read, and those of tools that the server lists
 * as read-only or idempotent. The list is read after a loss, so that it is the newest.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#streamable-http
 */
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Params } from "@effect-mcp/jsonrpc/Message"
import type * as Tools from "@effect-mcp/protocol/Tools"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"
import { reconnect } from "../RemoteOptions.js"

export interface Options {
  /** How many times a call is sent again. */
  readonly maxRetries: number
  /** The name of the tool that is called; `undefined` when the call only reads. */
  readonly tool: string | undefined
  readonly tools: Stream.Stream<Tools.Tool, ClientError>
  /** How long the list may take. */
  readonly timeout: Duration.DurationInput
}

/**
 * Runs `send` again after each loss. When no attempt brings an answer, it fails with the first loss, because the server may
 * have run that attempt.
 */
export const run = (
  { maxRetries, timeout, tool, tools }: Options,
  send: Effect.Effect<Params, ClientError>
): Effect.Effect<Params, ClientError> =>
  maxRetries <= 0 ? send : Effect.suspend(() => {
    let loss: ClientError | undefined
    let mayRunTwice = tool === undefined ? true : undefined
    const listed = Effect.tap(
      Stream.runHead(Stream.filter(tools, ({ name }) => name === tool)),
      (found) => {
        mayRunTwice = Option.exists(found, isRepeatable)
      }
    )
    const attempt = Effect.suspend(() => {
      if (loss === undefined || mayRunTwice === true) return send
      const lost = Effect.fail(loss)
      return Effect.matchEffect(Effect.timeout(listed, timeout), {
        onFailure: () => lost,
        onSuccess: () => mayRunTwice ? send : lost
      })
    })
    return attempt.pipe(
      Effect.mapError((error) => {
        if (!isUnanswered(error)) return error
        if (loss === undefined && error.reason === "Read") loss = error
        return loss ?? error
      }),
      Effect.retry({
        schedule: reconnect,
        times: maxRetries,
        while: (error) => error === loss && mayRunTwice !== false
      })
    )
  })

const isRepeatable = ({ annotations }: Tools.Tool): boolean =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true

/** Whether this attempt brought no answer. The server has not run it where the reason is `Write`. */
const isUnanswered = (error: ClientError): error is TransportError =>
  error instanceof TransportError && (error.reason === "Read" || error.reason === "Write")

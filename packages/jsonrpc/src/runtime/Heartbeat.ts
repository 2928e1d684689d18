/**
 * Notices a peer that is gone though its transport is open: after some silence it sends pings, and fails when two in a
 * row bring nothing. Any message shows that the peer is there, also an error that answers a ping. A ping that the transport
 * cannot deliver brings nothing; where no channel carries requests, none is sent.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { TransportError } from "../LocalError.js"
import type { Outbound } from "../Outbound.js"

export interface Options {
  /** How long the peer may be silent before it gets a ping, and how long each ping waits for an answer. */
  readonly interval: Duration.DurationInput
  /** The method of a ping; `undefined` while none may be sent. */
  readonly method: () => string | undefined
}

/** How many pings in a row may bring nothing. */
const MISSES = 2

/** Watches a conversation; `received` counts the messages of the peer. Never succeeds. */
export const watch = (
  outbound: Pick<Outbound, "request">,
  received: () => number,
  { interval, method }: Options
): Effect.Effect<never, TransportError> => {
  /** Runs an effect; gives whether nothing came meanwhile, if the effect gives true. */
  const isSilent = (during: Effect.Effect<boolean>): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      const before = received()
      return Effect.map(during, (isOver) => isOver && received() === before)
    })

  /** Gives whether a ping could be sent and had no answer. Takes the interval at most. */
  const isUnanswered = (name: string): Effect.Effect<boolean> =>
    // The timeouts of calls may stand still, the total one does not.
    Effect.matchEffect(outbound.request(name, undefined, { timeout: interval, maxTotalTimeout: interval }), {
      onFailure: ({ _tag }) =>
        _tag === "TransportError" ? Effect.as(Effect.sleep(interval), true) : Effect.succeed(_tag === "RequestTimeout"),
      onSuccess: () => Effect.succeed(false)
    })

  const ping = (name: string, misses: number): Effect.Effect<void, TransportError> =>
    Effect.flatMap(isSilent(isUnanswered(name)), (silent) => silent ? missed(name, misses + 1) : Effect.void)

  const missed = (name: string, misses: number): Effect.Effect<void, TransportError> =>
    misses < MISSES ? ping(name, misses) : Effect.fail(
      new TransportError({
        reason: "Read",
        message: `The peer is gone: ${MISSES} pings had no answer, each within ${Duration.format(interval)}`
      })
    )

  return Effect.forever(Effect.flatMap(isSilent(Effect.as(Effect.sleep(interval), true)), (silent) => {
    const name = silent ? method() : undefined
    return name === undefined ? Effect.void : ping(name, 0)
  }))
}

/**
 * Computes the rest of a `timeout` and of a `maxTotalTimeout`. A function of a session (`Verbs`, `modern/ModernCalls`) needs this when it
 * sends other requests besides its call, such as a request for the list of tools. When progress or a question has made the call longer than
 * its `timeout`, the other requests have the whole `timeout` again. `RemoteTasks`, `ServerTools` and `modern/ToolHeaders` send such
 * requests.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { RequestTimeout } from "../../jsonrpc/LocalError.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { CallOptions } from "../ClientSession.js"

export interface TimeLeft {
  /** How many milliseconds are left for another request after the call was answered. */
  readonly after: (now: number) => number
  /** The options of the call after other requests were sent before it. Fails when these requests have used up the time. */
  readonly call: (now: number) => Effect.Effect<CallOptions | undefined, RequestTimeout>
}

/**
 * Computes the rest of the time for a function that began at `began`, in milliseconds since 1970. `timeout` is used when `options` has no
 * timeout. The time is computed only when it is needed.
 */
export const since = (
  began: number,
  method: string,
  options: CallOptions | undefined,
  timeout: Duration.DurationInput
): TimeLeft => {
  const limit = (): number => Duration.toMillis(options?.timeout ?? timeout)
  return {
    after: (now) => {
      const passed = now - began
      const millis = limit()
      return Math.min(passed < millis ? millis - passed : millis, totalOf(options) - passed)
    },
    call: (now) => {
      const passed = now - began
      if (passed === 0) return Effect.succeed(options)
      const [millis, total] = [limit(), totalOf(options)]
      return passed < Math.min(millis, total)
        ? Effect.succeed({
          ...options,
          timeout: millis - passed,
          maxTotalTimeout: total === Infinity ? options?.maxTotalTimeout : total - passed
        })
        : Effect.fail(new RequestTimeout({ method, millis: Math.min(millis, total) }))
    }
  }
}

const totalOf = (options: CallOptions | undefined): number =>
  options?.maxTotalTimeout === undefined ? Infinity : Duration.toMillis(options.maxTotalTimeout)

/**
 * Limits a function of several requests by its `maxTotalTimeout`. The first request has the same limit and ends one millisecond before, so
 * that it tells the server the reason.
 */
export const limited = <A, E, R>(
  method: string,
  options: CallOptions | undefined,
  verb: Effect.Effect<A, E, R>
): Effect.Effect<A, E | RequestTimeout, R> => {
  const millis = totalOf(options)
  return millis === Infinity
    ? verb
    : TimeLimit.call(verb, millis + 1, () => Effect.fail(new RequestTimeout({ method, millis })))
}

/**
 * The progress of calls that have become tasks at an upstream up to 2025-11-25: it arrives when the call has been answered, with the
 * token of the call. `Link` has one for its session; `Forward` passes the progress on.
 */
import type { Notification, RequestId } from "@effect-mcp/jsonrpc/Message"
import * as Progress from "@effect-mcp/jsonrpc/Progress"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"

/** How much progress waits for a slow client, before the oldest is dropped. */
const MAX_WAITING = 256

export interface TaskProgress {
  readonly receive: (notification: Notification) => void
  /** Runs a call, and reports the progress that arrives with the token that the call gives. All of it comes before the result. */
  readonly reporting: <A, E>(
    report: (progress: Progress.Progress) => Effect.Effect<void>,
    call: (listen: (token: RequestId) => void) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E>
}

export const make = (): TaskProgress => {
  const listeners = new Map<unknown, (progress: Progress.Progress) => void>()
  return {
    receive: ({ method, params }) => {
      const listener = method === Progress.METHOD ? listeners.get(Progress.token(params)) : undefined
      const progress = listener === undefined ? undefined : Progress.fromParams(params)
      if (progress !== undefined) listener?.(progress)
    },
    reporting: (report, call) =>
      Effect.scoped(Effect.gen(function*() {
        const arrived = yield* Mailbox.make<Progress.Progress>({ capacity: MAX_WAITING, strategy: "sliding" })
        const tokens: Array<RequestId> = []
        yield* Effect.addFinalizer(() => Effect.sync(() => tokens.forEach((token) => listeners.delete(token))))
        const reported = yield* Effect.forkScoped(Stream.runForEach(Mailbox.toStream(arrived), report))
        const value = yield* call((token) => {
          tokens.push(token)
          listeners.set(token, (progress) => void arrived.unsafeOffer(progress))
        })
        yield* arrived.end
        yield* Fiber.join(reported)
        return value
      }))
  }
}

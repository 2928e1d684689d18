/**
 * Passes the log messages of one session with the upstream on, in their order, to the client that they are for when they
 * arrive. While a client reads slowly, a limited number waits; later ones are dropped.
 */
import type { Notification } from "@effect-mcp/jsonrpc/Message"
import { LoggingMessage } from "@effect-mcp/protocol/Logging"
import * as SchemaCheck from "@effect-mcp/protocol/unstable/SchemaCheck"
import type { ServerSessionService } from "@effect-mcp/server/ServerSession"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

export interface Logs {
  readonly receive: (notification: Notification) => void
  /** Whether no message waits. */
  readonly isIdle: () => boolean
  /** Waits until the messages that have arrived are sent. */
  readonly flush: Effect.Effect<void>
}

/** How many messages wait for clients. */
export const MAX_WAITING = 256

export const make = (
  target: () => ServerSessionService | undefined
): Effect.Effect<Logs, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Effect.Effect<void>>()
    let waiting = 0
    yield* Effect.forkScoped(Effect.interruptible(Effect.forever(Effect.flatten(queue.take))))
    return {
      receive: ({ method, params }) => {
        if (method !== "notifications/message" || waiting >= MAX_WAITING || !isMessage(params)) return
        const session = target()
        if (session === undefined) return
        const { data, level, logger } = params as LoggingMessage
        waiting++
        queue.unsafeOffer(Effect.ensuring(session.log(level, data, logger), Effect.sync(() => waiting--)))
      },
      isIdle: () => waiting === 0,
      flush: Effect.flatMap(Deferred.make<void>(), (done) => {
        queue.unsafeOffer(Deferred.succeed(done, undefined))
        return Deferred.await(done)
      })
    }
  })

const isMessage = SchemaCheck.compile(LoggingMessage)
